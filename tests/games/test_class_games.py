"""The presets for a class: rivals who are not all rational, and nothing that gives the solution away."""

from __future__ import annotations

import pytest

from harbor import Auction
from harbor._cli.shared.files import load
from harbor._core.log.events import BidderLabelled, Event
from harbor._games.sessions.measures import past_runs
from harbor._games.sessions.session import SessionOpened


def played(preset: str, seed: int) -> list[Event]:
    return [entry.event for entry in Auction(**{**dict(load(preset)), "seed": seed}).run().log]


@pytest.mark.parametrize("preset", ["beauty", "second-price"])
def test_the_rivals_of_a_class_game_play_levels_and_nobody_is_told_that_they_are_rational(preset):
    config = load(preset)
    assert not config.rules.rational_rivals
    assert [bidder.rule for bidder in config.bidders] == [None, *["levels"] * (len(config.bidders) - 1)]
    assert not any("rational" in event.words for event in played(preset, 0) if isinstance(event, SessionOpened))


@pytest.mark.parametrize("preset", ["beauty", "second-price"])
def test_in_a_class_game_the_rivals_differ_from_each_other_and_from_seed_to_seed(preset):
    seated = set()
    for seed in range(6):
        labels = [event.player for event in played(preset, seed) if isinstance(event, BidderLabelled)]
        seated.add(tuple(labels[1:]))
    assert len(seated) > 2
    assert {level for labels in seated for level in labels} >= {"levels (level 0)", "levels (level 1)"}


def test_zero_is_not_what_wins_a_beauty_contest_among_levels():
    for seed in range(4):
        first = next(past_runs(played("beauty", seed))).results
        assert [one.bidder for one in first if one.won]
        assert all(one.action > 5 for one in first if one.won)
