"""The games of one draw in several arms: the first event that everyone sees and that differs, from their logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor import Auction, Bidder
from harbor._core.log.log import read_log
from harbor._view.arms import others_of
from harbor.events import PublicEvent

ITEMS = [{"name": name, "start": 1000, "true_value": 2000} for name in ("Lot A", "Lot B")]


def held(folder: Path, least: int) -> Path:
    """Hold a sale to rules; the more Ann may spend, the later she is out."""
    bidders = [Bidder("Ann", rule="minimum-raise", budget=least), Bidder("Ben", rule="minimum-raise", budget=3000)]
    Auction(items=ITEMS, bidders=bidders, seed=1).run(out=folder)
    return folder


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Two arms that play alike, one that does not, and one of another draw."""
    place = tmp_path_factory.mktemp("arms")
    rich, poor = held(place / "rich", 3000), held(place / "poor", 1300)
    return {
        ("one", "all", 1): rich,
        ("same", "all", 1): rich,
        ("poor", "all", 1): poor,
        ("poor", "all", 2): poor,
        ("lost", "all", 1): place / "nothing",
    }


@pytest.fixture(scope="module")
def others(games):
    return others_of(games, {game: f"{game[0]}.html" for game in games}, str.capitalize)


def test_a_game_names_those_of_its_draw_alone_and_none_that_can_not_be_read(others):
    assert [row[:2] for row in others["one", "all", 1]] == [("Same", "same.html"), ("Poor", "poor.html")]
    assert ("poor", "all", 2) not in others
    assert ("lost", "all", 1) not in others


def test_games_that_go_alike_have_no_event_that_differs(others):
    assert others["one", "all", 1][0][2:] == (None, None)


def test_the_first_public_event_that_differs_is_told_from_both_sides(others, games):
    (*_, here, there), (*_, its, own) = others["one", "all", 1][1], others["poor", "all", 1][0]
    assert (here, there) == (own, its)
    logs = [read_log(games[arm, "all", 1] / "events.jsonl").entries for arm in ("one", "poor")]
    public = [[entry for entry in log if isinstance(entry.event, PublicEvent)] for log in logs]
    first = next(at for at, (one, other) in enumerate(zip(*public, strict=False)) if one.event != other.event)
    assert (here[0], there[0]) == tuple(log[first].seq for log in public)
    assert here[1] != there[1]
