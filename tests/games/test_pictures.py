"""What is drawn of each game: as much as happened, no more than its viewer knows, and never the end of a page."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate
from pathlib import Path

import pytest

from harbor._core.log.acts import Acted, Signal
from harbor._core.log.log_entries import Entry, is_seen_by
from harbor._core.plugins.finding import find
from harbor._games.board import GuardedBoard, Mark, Picture, PlainBoard
from harbor._games.english_private.rules import PriceRaised
from harbor._games.sessions.measures import past_runs
from harbor._games.sessions.private_games import ItemAllotted
from harbor._games.sessions.session import RunOpened
from harbor._games.water.play import past_days
from harbor._games.water.rules import DayClosed, DayOpened
from harbor._view.chunks import Marks, pictures_drawn
from harbor.events import BidderSeated, BidderWithdrew, ItemOpened, ItemSold, ItemUnsold, PriceLowered, RoundClosed
from harbor.games import Bid, Withdraw, of_type
from support.held_games import GAMES, auction, played
from support.third_price import THIRD, ThirdClosed

LOGS = {game: played(game) for game in GAMES}
DERIVED = {"budget", "profit", "theory", "need served", "out", "starting price", "price", "target"}
"""Roles whose numbers are sums, or of another place in the log; other tests compute them."""


def drawn(game, entries, make=None):
    """All marks of a game's board, with the numbers of their events."""
    board, found = GuardedBoard(game, make or find("game", game).board), []
    for entry in entries:
        board.note(entry.event)
        found += [(entry.seq, mark) for mark in board.marks(entry.event)]
    assert board.complaint == ""
    return found


def counted(game, entries):
    return Counter((mark.picture, mark.role) for _, mark in drawn(game, entries))


def seen_by(name, entries):
    return [entry for entry in entries if is_seen_by(name, entry.event)]


def names_in(entries):
    return [entry.bidder for entry in of_type(entries, BidderSeated)]


def acts_in(entries, kind):
    return [one for one in of_type(entries, Acted) if isinstance(one.act, kind)]


def results_in(entries):
    return [one for past in past_runs(entry.event for entry in entries) for one in past.results]


def numbers_in(value):
    match value:
        case Decimal() | int() | float():
            return {value}
        case dict():
            return {one for inner in value.values() for one in numbers_in(inner)}
        case tuple() | list():
            return {one for inner in value for one in numbers_in(inner)}
        case _ if hasattr(value, "__dataclass_fields__"):
            return {one for name in value.__dataclass_fields__ for one in numbers_in(getattr(value, name))}
        case _:
            return set()


def test_a_sale_has_a_mark_for_each_bid_exit_round_and_item():
    entries = LOGS["english"]
    marks, count = counted("english", entries), lambda *kinds: sum(len(of_type(entries, kind)) for kind in kinds)
    assert marks["bids", "bid"] == len(acts_in(entries, Bid)) > 0
    assert marks["bids", "out"] == count(BidderWithdrew) + len(acts_in(entries, Withdraw)) > 0
    assert marks["bids", "price"] == count(RoundClosed) > 0
    assert marks["items", "price"] == marks["items", "profit"] == count(ItemSold) > 0
    assert marks["items", "worth"] == count(ItemSold, ItemUnsold)
    assert marks["bids", "estimate"] == count(ItemOpened) * count(BidderSeated)
    assert marks["money", "budget"] == (count(ItemSold) + 1) * count(BidderSeated)


def marks_of(*events):
    return [mark for _, mark in drawn("english", [Entry(seq, 0.0, one) for seq, one in enumerate(events)])]


def test_an_item_that_nobody_buys_is_drawn_with_the_last_price_that_was_asked():
    dear, cheap, step = Decimal(900), Decimal(450), Decimal(45)
    marks = marks_of(ItemOpened("Lot A", dear, step), PriceLowered("Lot A", cheap, step), ItemUnsold("Lot A"))
    assert [mark.y for mark in marks if mark.picture == "bids"] == [dear, cheap]
    [item] = [mark[1:] for mark in marks if mark.picture == "items"]
    assert item == ("unsold", "starting price", "point", cheap, "Lot A", None, "")


def test_the_budgets_and_profits_that_are_drawn_are_those_of_the_log():
    entries, spent = LOGS["english"], Counter()
    last = {(mark.picture, mark.series): mark.y for _, mark in drawn("english", entries) if mark.kind == "line"}
    for sale in of_type(entries, ItemSold):
        spent[sale.winner] += sale.price
    for seat in of_type(entries, BidderSeated):
        assert last["money", seat.bidder] == seat.budget - spent[seat.bidder]
    profits = {name: last["profits", name] for name in names_in(entries)}
    assert {one.bidder: one.profit for one in auction("english").run().standings} == profits


@pytest.mark.parametrize("game", ["first-price", "second-price", "english-private"])
def test_a_session_has_a_point_for_each_bid_at_the_value_of_its_bidder_and_a_price_for_each_item_sold(game):
    entries = LOGS[game]
    values = {(one.bidder, item): value for one in of_type(entries, Signal) for item, value in one.values.items()}
    bids = [one for one in results_in(entries) if one.action is not None]
    points = [mark for _, mark in drawn(game, entries) if (mark.picture, mark.role) == ("values", "bid")]
    due = [(one.bidder, values[one.bidder, one.item], one.action) for one in bids]
    assert [(one.series, one.x, one.y) for one in points] == due
    prices = [mark.y for _, mark in drawn(game, entries) if mark.picture == "price"]
    assert prices == [one.price for one in of_type(entries, ItemAllotted) if one.winners] != []


def test_theory_is_drawn_where_a_bid_in_equilibrium_is_a_function_of_the_value():
    told = played("first-price", distribution={"kind": "uniform", "low": 0, "high": 100}, assets=100)
    unsolved = played("first-price", ("random",), draw="once")
    truthful = [(game, LOGS[game], 1) for game in ("second-price", "english-private")]
    for game, entries, factor in (*truthful, ("first-price", told, Decimal("0.67"))):
        line = [mark for _, mark in drawn(game, entries) if mark.series == "theory"]
        assert line
        assert all(abs(mark.y - mark.x * factor) < mark.x * Decimal("0.01") + 1 for mark in line)
    assert not [mark for _, mark in drawn("first-price", unsolved) if mark.series == "theory"]


def test_what_a_run_brought_is_cumulated():
    for game in ("second-price", "beauty"):
        entries = LOGS[game]
        start = next(iter(getattr(entry.event, "assets", None) for entry in entries if hasattr(entry.event, "runs")))
        for name in names_in(entries):
            brought = [one.assets - start for one in results_in(entries) if one.bidder == name]
            assert len(brought) == 2
            lines = [mark for _, mark in drawn(game, entries) if (mark.picture, mark.series) == ("earned", name)]
            assert [mark.y for mark in lines] == list(accumulate(brought))


def test_a_clock_has_a_price_for_each_round_and_shows_who_left_when():
    entries = LOGS["english-private"]
    marks = counted("english-private", entries)
    assert marks["bids", "price"] == len(of_type(entries, PriceRaised)) + len(of_type(entries, RunOpened))
    assert marks["bids", "out"] == len(acts_in(entries, Withdraw)) > 0
    assert marks["bids", "bid"] == len(acts_in(entries, Bid)) > 0
    assert marks["bids", "worth"] == len(of_type(entries, Signal))


def test_a_contest_has_each_number_once_and_each_target():
    marks = counted("beauty", LOGS["beauty"])
    picked = [one for one in results_in(LOGS["beauty"]) if one.action is not None]
    assert (marks["picks", "number"], marks["picks", "target"]) == (len(picked), 2)


def test_the_water_game_has_each_bid_health_balance_and_supply():
    entries = LOGS["water"]
    days, marks = of_type(entries, DayClosed), counted("water", entries)
    bids = [bid for day in past_days(entry.event for entry in entries) for bid in day.bids.values()]
    assert marks["offers", "bid"] == sum(bid is not None for bid in bids) > 0
    assert marks["health", "health"] == marks["money", "balance"] == sum(len(day.statuses) for day in days)
    assert marks["water", "supply"] == len(of_type(entries, DayOpened))
    assert marks["water", "need served"] == sum(len(day.served) for day in days) > 0


@pytest.mark.parametrize("game", GAMES)
def test_every_number_that_is_drawn_for_a_viewer_stands_in_the_events_that_it_has_seen(game):
    for name in names_in(LOGS[game]):
        own = seen_by(name, LOGS[game])
        for seq, mark in drawn(game, own):
            known = set().union(*(numbers_in(entry.event) for entry in own if entry.seq <= seq))
            if mark.role not in DERIVED:
                assert mark.y in known
            if mark.picture == "values":
                assert mark.x in known


@pytest.mark.parametrize("game", GAMES)
def test_what_is_drawn_for_a_seat_is_the_same_whatever_the_others_have_and_think(game):
    """On the page of all, the marks with the bit of a seat are those of that seat's events alone."""
    entries, known = LOGS[game], find("game", game)
    viewers = ["", *names_in(entries)]

    def rows(entries, viewers, name):
        boards, marks = {viewer: GuardedBoard(game, known.board) for viewer in viewers}, Marks(known, viewers)
        for entry in entries:
            seeing = {one: boards[one] for one in viewers if not one or is_seen_by(one, entry.event)}
            for board in seeing.values():
                board.note(entry.event)
            told = marks.of(entry.seq, entry.event, seeing)
            yield from (row[:-1] for row in told if row[-1] >> viewers.index(name) & 1)

    for name in viewers[1:]:
        assert Counter(rows(entries, viewers, name)) == Counter(rows(seen_by(name, entries), [name], name))


def board_of_the_guide():
    """Run the example of the guide."""
    page = Path(__file__).parents[2] / "docs" / "using" / "extensions.md"
    given = {}
    exec(page.read_text().split("```python\n")[1].split("```")[0], given)
    return given["PriceBoard"]


def test_a_game_of_a_stranger_has_pictures_by_its_board_alone_as_the_guide_shows():
    game = replace(THIRD, board=board_of_the_guide())
    assert next(row[0] for row in pictures_drawn(game)) == "prices"
    closed, board = ThirdClosed("run 1", "Ann", Decimal(7)), GuardedBoard("third-price", game.board)
    board.note(closed)
    assert Marks(game, [""]).of(9, closed, {"": board}) == [(9, 0, "", "Ann", "price", "bar", "run 1", 7, None, 1)]


PRICES = (Picture("prices", "Price by run", x="run", y="price"),)


def draws(*marks, pictures=PRICES):
    return type("Draws", (PlainBoard,), {"pictures": pictures, "marks": lambda *_: marks})


GOOD = Mark("prices", "Ann", "price", "bar", 1)
BROKEN = {
    "that raises": type("Raises", (PlainBoard,), {"pictures": (), "marks": lambda *_: 1 / 0}),
    "that gives no marks": draws("Ann bids 7"), "of another picture": draws(GOOD._replace(picture="other")),
    "of no kind": draws(GOOD._replace(kind="cake")), "at no number": draws(GOOD._replace(y=Decimal("NaN"))),
    "at a number without end": draws(GOOD._replace(x=float("inf"))), "at a truth": draws(GOOD._replace(y=True)),
    "at a number too large": draws(GOOD._replace(high=Decimal("1E+400"))),
    "of a series that is no text": draws(GOOD._replace(series=1)), "with pictures": draws(GOOD, pictures=7),
}  # fmt: skip


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
def test_a_board_that_draws_what_cannot_be_drawn_costs_its_pictures_and_the_bids_are_drawn(make):
    board, bid = GuardedBoard("mine", make), Acted("Ann", "lot", Bid(Decimal(5)))
    board.note(bid)
    assert board.marks(bid) == [Mark("bids", "Ann", "bid", "point", 5, 1)]
    assert "mine" in board.complaint
    assert "\n" not in board.complaint
    assert pictures_drawn(replace(THIRD, board=make))


def test_of_a_board_that_lacks_pictures_or_marks_the_bids_are_drawn():
    bare = {"note": lambda *_: None, "shown": PlainBoard().shown}
    for more in ({"pictures": ()}, {"marks": lambda *_: ()}):
        board = GuardedBoard("mine", type("Bare", (), bare | more))
        assert len(board.marks(Acted("Ann", "lot", Bid(Decimal(5))))) == 1
        assert board.complaint == ""
