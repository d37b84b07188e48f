"""What a bidder has seen of a sale: a view that grows, that nobody copies and nobody can change."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from random import Random

import pytest

from harbor._core.acts import Acted, Tried
from harbor._core.asks import Bid
from harbor._core.events import ItemUnsold, Lot
from harbor._core.log import Log
from harbor._games.english.rules import English, ValuedLot
from harbor._house.sale import Sale

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
