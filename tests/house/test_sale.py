"""What a bidder has seen of a sale: a view that grows, that nobody copies and nobody can change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pytest

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Drawn, DrawnOpenly, PaidSealed, Tried
from harbor._core.log.events import Lot
from harbor._core.log.log import Log
from harbor._games.english.events import ItemUnsold
from harbor._games.english.rules import English, ValuedLot
from harbor._house.auctioneer import Sale

NAMES = ("Ann", "Ben")


def a_sale() -> Sale:
    items = (ValuedLot(Lot("Vase", Decimal(100)), Decimal(200)),)
    return Sale(English(items, dict.fromkeys(NAMES, Decimal(1000))), NAMES, Log(), Random(7), acts="open")


def test_what_is_seen_grows_as_the_sale_goes_on_and_what_was_taken_of_it_does_not():
    sale = a_sale()
    sale.settle({})
    seen = sale.seen_by("Ann")
    before = tuple(seen)
    sale.record(Acted("Ben", "Vase", Bid(Decimal(100))))
    assert sale.seen_by("Ann") is seen
    assert tuple(seen) == (*before, Acted("Ben", "Vase", Bid(Decimal(100))))


def test_what_is_seen_keeps_its_order_whenever_it_is_looked_at():
    looked, late = a_sale(), a_sale()
    happened = [
        Acted("Ben", "Vase", Bid(Decimal(100))),
        Tried("Ann", "Vase", 1, 1, "mine"),
        Tried("Ben", "Vase", 1, 1, "theirs"),
        ItemUnsold("Vase"),
        Tried("Ann", "Vase", 1, 2, "mine again"),
    ]
    for event in happened:
        looked.record(event)
        late.record(event)
        looked.seen_by("Ann")
    mine = [event for event in happened if event != happened[2]]
    assert list(looked.seen_by("Ann")) == list(late.seen_by("Ann")) == mine


@dataclass(frozen=True)
class Drawing(English):
    """Rules that draw twice at each settlement, and trade in silence."""

    def settle(self, state, actions, chance):
        who = chance.pick("who is first", NAMES)
        share = chance.random()
        events = super().settle(state, actions, chance)
        return [*events, PaidSealed((who,), who, HOUSE, "Vase", Decimal(str(share)))]


@pytest.mark.parametrize("draws", ["open", "sealed"])
def test_each_draw_is_an_event_before_what_follows_from_it_and_public_only_where_the_game_says_so(draws):
    items = (ValuedLot(Lot("Vase", Decimal(100)), Decimal(200)),)
    sale = Sale(Drawing(items, dict.fromkeys(NAMES, Decimal(1000))), NAMES, Log(), Random(7), draws=draws)
    sale.settle({})
    kind = DrawnOpenly if draws == "open" else Drawn
    events, same = [entry.event for entry in sale.log.entries], Random(7)
    first, share = same.choice(NAMES), same.random()
    assert events[:2] == [kind("who is first", NAMES, first), kind("a share", ("0 to 1",), repr(share))]
    assert not any(isinstance(event, DrawnOpenly | Drawn) for event in events[2:])
    for name in NAMES:
        drawn = [event for event in sale.seen_by(name) if isinstance(event, DrawnOpenly | Drawn)]
        assert drawn == (events[:2] if draws == "open" else [])


def test_what_some_seats_share_is_seen_by_these_in_its_place():
    items = (ValuedLot(Lot("Vase", Decimal(100)), Decimal(200)),)
    names = ("Ann", "Ben", "Cho")
    sale = Sale(English(items, dict.fromkeys(names, Decimal(1000))), names, Log(), Random(7))
    trade = PaidSealed(("Ann", "Cho"), "Ann", "Cho", "Vase", Decimal(5))
    before, after = ItemUnsold("Vase"), Acted("Ben", "Vase", Bid(Decimal(100)))
    for event in (before, trade, after):
        sale.record(event)
    assert {name: list(sale.seen_by(name)) for name in names} == {
        "Ann": [before, trade, after],
        "Ben": [before, after],
        "Cho": [before, trade, after],
    }


@pytest.mark.parametrize("seats", [(), ("Ann", "Ann"), ("Ann", HOUSE), ("Ann", "Zed")])
def test_what_is_told_to_other_seats_than_those_of_bidders_is_refused_before_it_is_written(seats):
    sale = Sale(English((), dict.fromkeys(NAMES, Decimal(1000))), NAMES, Log(), Random(7))
    with pytest.raises(ConfigError, match=r"rules tell PaidSealed to .*; name bidders, each once, and not the house: "):
        sale.record(PaidSealed(seats, "Ann", HOUSE, "Vase", Decimal(5)))
    assert sale.log.entries == []


@pytest.mark.parametrize("acts", ["open", "sealed"])
def test_an_act_is_seen_by_all_in_an_open_game_and_else_by_its_bidder_alone(acts):
    items = (ValuedLot(Lot("Vase", Decimal(100)), Decimal(200)),)
    sale = Sale(English(items, dict.fromkeys(NAMES, Decimal(1000))), NAMES, Log(), Random(7), acts)
    sale.settle({})
    sale.act(sale.asks(), {"Ann": Bid(Decimal(150)), "Ben": Withdraw("failed bids", Decimal(5_000))})
    seen = {name: [event for event in sale.seen_by(name) if isinstance(event, Acted | ActedSealed)] for name in NAMES}
    if acts == "open":
        told = [Acted("Ann", "Vase", Bid(Decimal(150))), Acted("Ben", "Vase", Withdraw("failed bids"))]
        assert seen == dict.fromkeys(NAMES, told)
    else:
        assert seen == {
            "Ann": [ActedSealed("Ann", "Vase", Bid(Decimal(150)))],
            "Ben": [ActedSealed("Ben", "Vase", Withdraw("failed bids"))],
        }


def test_what_is_seen_is_a_sequence_to_read_only():
    sale = a_sale()
    sale.settle({})
    seen, events = sale.seen_by("Ann"), [entry.event for entry in sale.log.entries]
    assert isinstance(seen, Sequence)
    assert (len(seen), seen[0], seen[-1], seen[1:]) == (len(events), events[0], events[-1], events[1:])
    assert (list(seen), list(reversed(seen))) == (events, events[::-1])
    seen[1:].clear()
    with pytest.raises(TypeError):
        seen[0] = events[1]
    assert list(seen) == events
