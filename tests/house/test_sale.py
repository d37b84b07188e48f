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


def a_sale(names=NAMES, rules=English, acts="open", draws="open") -> Sale:
    items = (ValuedLot(Lot("Vase", Decimal(100)), Decimal(200)),)
    return Sale(rules(items, dict.fromkeys(names, Decimal(1000))), names, Log(), Random(7), acts, draws)


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
    sale = a_sale(rules=Drawing, draws=draws)
    sale.settle({})
    kind = DrawnOpenly if draws == "open" else Drawn
    events, same = [entry.event for entry in sale.log.entries], Random(7)
    first, share = same.choice(NAMES), same.random()
    assert events[:2] == [kind("who is first", NAMES, first), kind("a share", ("0 to 1",), repr(share))]
    assert not any(isinstance(event, DrawnOpenly | Drawn) for event in events[2:])
    for name in NAMES:
        drawn = [event for event in sale.seen_by(name) if isinstance(event, DrawnOpenly | Drawn)]
        assert drawn == (events[:2] if draws == "open" else [])


@pytest.mark.parametrize("seats", [(), ("Ann", "Ann"), ("Ann", HOUSE), ("Ann", "Zed")])
def test_what_is_told_to_other_seats_than_those_of_bidders_is_refused_before_it_is_written(seats):
    sale = a_sale()
    with pytest.raises(ConfigError, match=r"rules tell PaidSealed to .*; name bidders, each once, and not the house: "):
        sale.record(PaidSealed(seats, "Ann", HOUSE, "Vase", Decimal(5)))
    assert sale.log.entries == []


@pytest.mark.parametrize("acts", ["open", "sealed"])
def test_an_act_is_seen_by_all_in_an_open_game_and_else_by_its_bidder_alone(acts):
    sale = a_sale(acts=acts)
    sale.settle({})
    sale.act(sale.asks(), {"Ann": Bid(Decimal(150)), "Ben": Withdraw("failed bids", Decimal(5_000))})
    seen = {name: [event for event in sale.seen_by(name) if isinstance(event, Acted | ActedSealed)] for name in NAMES}
    told = {"Ann": Bid(Decimal(150)), "Ben": Withdraw("failed bids")}
    if acts == "open":
        assert seen["Ann"] == seen["Ben"] == [Acted(name, "Vase", act) for name, act in told.items()]
    else:
        assert seen == {name: [ActedSealed(name, "Vase", act)] for name, act in told.items()}


def test_what_is_seen_is_a_sequence_that_grows_to_read_only():
    sale = a_sale()
    seen = sale.seen_by("Ann")
    sale.settle({})
    events = [entry.event for entry in sale.log.entries]
    assert sale.seen_by("Ann") is seen
    assert isinstance(seen, Sequence)
    assert (len(seen), seen[0], seen[-1], seen[1:]) == (len(events), events[0], events[-1], events[1:])
    assert (list(seen), list(reversed(seen))) == (events, events[::-1])
    seen[1:].clear()
    with pytest.raises(TypeError):
        seen[0] = events[1]
    assert list(seen) == events


def test_what_is_seen_of_private_and_shared_events_stands_in_its_place_whenever_it_is_looked_at():
    names = ("Ann", "Ben", "Cho")
    looked, late = a_sale(names), a_sale(names)
    mine, theirs = (Tried(name, "Vase", 1, 1, "so") for name in ("Ann", "Ben"))
    trade = PaidSealed(("Ann", "Cho"), "Ann", "Cho", "Vase", Decimal(5))
    bid, unsold = Acted("Ben", "Vase", Bid(Decimal(100))), ItemUnsold("Vase")
    for event in (bid, mine, theirs, trade, unsold):
        looked.record(event)
        late.record(event)
        looked.seen_by("Ann")
    for sale in (looked, late):
        seen = [list(sale.seen_by(name)) for name in names]
        assert seen == [[bid, mine, trade, unsold], [bid, theirs, unsold], [bid, trade, unsold]]
