"""The legal acts of bidders in a log, each once, whether it was public, or became so later, or never."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from harbor._core.acts import Acted, ActedSealed
from harbor._core.asks import Bid
from harbor._core.log import of_type
from harbor._core.log_lines import Entry


class MadeBid(NamedTuple):
    """A legal bid: whose, on which item, in which round, in dollars or as a number."""

    bidder: str
    item: str
    round: int
    amount: Decimal


def acts(entries: Sequence[Entry]) -> Sequence[Acted | ActedSealed]:
    """List the legal acts; of a public log of a game with sealed acts, those that its rules disclosed."""
    return of_type(entries, ActedSealed) or of_type(entries, Acted)


def bids(entries: Sequence[Entry]) -> Iterator[MadeBid]:
    """Give the legal bids of amounts, in order."""
    for one in acts(entries):
        if isinstance(one.act, Bid):
            yield MadeBid(one.bidder, one.item, one.round, one.act.amount)
