"""Records of another implementation, taken through the rules of Harbor's games."""

from __future__ import annotations

import pytest

from harbor import Auction, Bidder, Item
from harbor._core.asking.asks import Bid
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import Acted
from harbor._core.log.events import BiddersAsked
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemSold, ItemUnsold
from harbor._games.sessions.measures import past_runs
from harbor._games.water.play import past_days
from harbor.testing import replay
from support.held_games import auction


def of_english(log):
    """Rows of a log of the ascending auction, as somebody else would write them."""
    acts = [one for one in of_type(log, Acted) if isinstance(one.act, Bid)]
    bids = {(one.item, one.round, one.bidder): one.act.amount for one in acts}
    for asked in of_type(log, BiddersAsked):
        for bidder in asked.bidders if asked.attempt == 1 else ():
            turn = (asked.item, asked.round, bidder)
            yield dict(zip(("item", "round", "bidder"), turn, strict=True), bid=bids.get(turn))
    for sold in of_type(log, ItemSold):
        yield {"item": sold.item, "winners": sold.winner, "price": float(sold.price)}
    for unsold in of_type(log, ItemUnsold):
        yield {"item": unsold.item, "winners": None}


@pytest.mark.parametrize("seed", range(2))
def test_records_of_the_same_rules_do_not_differ_also_where_the_lot_decided(seed):
    one = auction("english", ["minimum-raise"], seed=seed)
    rows = list(of_english(one.run().log))
    assert replay(one, rows) == []
    assert replay(one, reversed(rows)) == []
    sold = next(row for row in rows if row.get("price"))
    sold["price"] += 1
    [different] = replay(one, rows)
    assert (different.item, different.what, different.found) == (sold["item"], "price", str(sold["price"]))


def test_records_of_sealed_bids_and_of_the_water_game_are_rows_of_one_round():
    one = auction("second-price", ["random"], seed=2)
    runs = list(past_runs(entry.event for entry in one.run().log))
    bids = [{"item": run.closed.item, "bidder": name, "bid": bid} for run in runs for name, bid in run.shown.items()]
    ends = [{"item": run.closed.item, "winners": run.closed.winners, "price": run.closed.price} for run in runs]
    assert bids
    assert replay(one, [*bids, *ends]) == []
    assert replay(one, [*bids, *({**row, "winners": "Nobody"} for row in ends)])

    water = auction("water", ["random"], seed=2)
    days = list(past_days(entry.event for entry in water.run().log))
    rows = [{"item": day.closed.item, "bidder": name, "bid": bid} for day in days for name, bid in day.bids.items()]
    rows += [{"item": day.closed.item, "winners": day.closed.served} for day in days]
    assert replay(water, rows) == []


VASE = Auction(
    items=[Item(name="Vase", start=100, true_value=300)],
    bidders=[Bidder(name=name, rule="random", budget=500) for name in ("Ann", "Ben")],
)


def test_what_one_implementation_refuses_and_the_other_takes_is_told_by_attempt():
    tries = (("Ann", 1, 120), ("Ann", 2, 130), ("Ben", 1, 90))
    rows = [{"item": "Vase", "bidder": name, "attempt": attempt, "bid": bid} for name, attempt, bid in tries]
    assert [(one.what, one.expected, one.found) for one in replay(VASE, rows)] == [
        ("attempt 1 of Ann", "taken", "120 is refused"),
        ("attempt 1 of Ben", "refused: $90 is below the least bid of $100", "90 is taken"),
    ]
    [different] = replay(VASE, [{"item": "Vase", "bidder": "Ann", "bid": 120}])  # others were asked: there it ends
    assert different == ("Vase", 1, "bidders asked", "['Ann', 'Ben']", "['Ann']")


ROUNDS = ((1, "Ann", 120), (1, "Ben", 150), (2, "Ann", None))
SOLD = [{"item": "Vase", "round": number, "bidder": name, "bid": bid} for number, name, bid in ROUNDS]
SOLD += [{"item": "Vase", "winners": "Ben", "price": 150}]


def test_an_outcome_of_an_item_that_the_game_does_not_have_is_a_difference():
    assert replay(VASE, SOLD) == []
    [different] = replay(VASE, [*SOLD, {"item": "Jar", "winners": "Ann"}])
    assert different == ("Jar", 0, "item", "not in this game", "won by ['Ann']")


@pytest.mark.parametrize("empty", ["", float("nan")])
def test_empty_cells_of_a_table_are_left_out_and_numbers_may_be_words(empty):
    columns = ("item", "round", "attempt", "bidder", "bid", "winners", "price")
    table = [{name: empty if row.get(name) is None else row[name] for name in columns} for row in SOLD]
    assert replay(VASE, table) == []
    assert replay(VASE, [{name: str(value) for name, value in row.items() if value == value} for row in table]) == []
    table[-1]["price"] = 149.0
    assert [one.what for one in replay(VASE, table)] == ["price"]


@pytest.mark.parametrize(("row", "says"), [
    ({"item": "Vase", "bidder": "Ann", "sum": 3}, "record 1 has 'sum'"),
    ({"item": "Vase", "bidder": "Ann", "round": "one"}, "record 1 has 'one', which is no number"),
    ({"item": "Vase", "bidder": "Ann", "attempt": 0}, "record 1 has 0, which counts nothing"),
    ({"item": "Vase", "bidder": "Ann", "bid": "inf"}, "record 1 has 'inf', which is no number"),
    ({"item": "Vase", "bid": 3}, "record 1 has 'bid'; columns of a bid: attempt, bid, bidder"),
    ({"bidder": "Ann", "bid": 3}, "record 1 has no item"), ("item", "record 1 is 'item', which is no row"),
])  # fmt: skip
def test_a_row_that_makes_no_sense_is_refused_in_one_line(row, says):
    with pytest.raises(ConfigError, match=says):
        replay(VASE, [row])
