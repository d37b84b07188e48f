"""What a game shows at a moment: texts in rows, no more than its viewer may see, and never the end of a page."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harbor._core.log.log_entries import is_seen_by
from harbor._core.plugins.finding import find
from harbor._games.board import GuardedBoard, PlainBoard, Shown, checked
from harbor._games.sessions.session import RunOpened
from harbor.events import BidderSeated, ItemSold, PublicEvent, SaleClosed, Tried
from harbor.games import dollars
from support.held_games import GAMES, played

LOGS = {}


def log_of(game):
    if game not in LOGS:
        LOGS[game] = played(game)
    return LOGS[game]


def seen_on_board(game, entries):
    board, frames = find("game", game).board(), []
    for entry in entries:
        board.note(entry.event)
        frames.append(checked(board.shown()))
    return frames


@pytest.mark.parametrize("game", GAMES)
def test_a_board_names_every_bidder_once_and_changes_with_the_game(game):
    entries = log_of(game)
    last = seen_on_board(game, entries)
    asked = {name for entry in entries for name in getattr(entry.event, "bidders", ())}
    assert sorted(row[0] for row in last[-1].rows) == sorted(asked)
    assert len(set(last)) > 10


@pytest.mark.parametrize("game", ["english-private", "first-price", "second-price", "beauty"])
def test_under_the_name_of_a_run_stands_nothing_that_belongs_to_another(game):
    entries, begun = log_of(game), 0
    for entry, frame in zip(entries, seen_on_board(game, entries), strict=True):
        if isinstance(entry.event, RunOpened | SaleClosed):
            begun += 1
            assert not {"value", "bid", "assets after it"} & set(frame.columns)
    assert begun > 2


@pytest.mark.parametrize("game", GAMES)
def test_a_board_of_a_seat_is_the_same_whatever_the_others_have_and_think(game):
    entries = log_of(game)
    name = next(entry.event.bidder for entry in entries if isinstance(entry.event, BidderSeated))
    own = [entry for entry in entries if is_seen_by(name, entry.event)]
    public = [entry for entry in own if isinstance(entry.event, PublicEvent)]
    mine = seen_on_board(game, own)[-1]
    for row, known in zip(mine.rows, seen_on_board(game, public)[-1].rows, strict=True):
        assert row[0] == name or set(row) <= {*known, ""}


def test_the_board_of_a_sale_shows_a_seat_its_own_budget_less_its_wins_and_of_others_what_they_spent():
    entries = log_of("english")
    names = [entry.event.bidder for entry in entries if isinstance(entry.event, BidderSeated)]
    for name in names:
        seen = [entry for entry in entries if is_seen_by(name, entry.event)]
        wins = [entry.event for entry in seen if isinstance(entry.event, ItemSold)]
        budget = next(entry.event.budget for entry in seen if isinstance(entry.event, BidderSeated))
        for row in seen_on_board("english", seen)[-1].rows:
            spent = sum((sale.price for sale in wins if sale.winner == row[0]), Decimal(0))
            assert row[3] == dollars(spent)
            assert row[4] == (dollars(budget - spent) if row[0] == name else "")


def test_why_a_bid_was_refused_is_on_the_board_of_its_bidder_alone():
    entries = log_of("english")
    number, failed = next((n, entry.event) for n, entry in enumerate(entries) if isinstance(entry.event, Tried))
    for name in {entry.event.bidder for entry in entries if isinstance(entry.event, BidderSeated)}:
        seen = [entry for entry in entries[: number + 1] if is_seen_by(name, entry.event)]
        shown = str(seen_on_board("english", seen)[-1])
        assert (failed.reason in shown) == (name == failed.bidder)


class Breaks(PlainBoard):
    def note(self, event):
        raise RuntimeError("no such key\nand more")


class Draws(PlainBoard):
    def shown(self):
        return Shown("x", "y", ("bidder",), (("Ann", "more"),))


@pytest.mark.parametrize("make", [Breaks, Draws, lambda: 1 / 0, lambda: None])
def test_a_board_that_fails_is_told_of_in_one_line_and_a_plain_one_takes_its_place(make):
    entries = log_of("english")
    board, plain = GuardedBoard("my-game", make), PlainBoard()
    for entry in entries:
        board.note(entry.event)
        plain.note(entry.event)
        assert board.shown() == plain.shown()
    assert "board" in board.complaint
    assert "\n" not in board.complaint
