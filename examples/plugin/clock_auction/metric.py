"""A metric: the fall of the price before a bidder buys."""

from __future__ import annotations

from collections.abc import Sequence

from clock_auction.rules import DutchOpened, FlowerSold, PriceCalled
from harbor.evaluation import Measurement, by_bidder, metric
from harbor.games import Entry, of_type


@metric("price paid over the first price called", "share", of=DutchOpened, no_data="nothing was sold", api=1)
def patience(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Return a bidder's mean ratio of the price that it paid to the first price called, over the items it bought."""
    first = {called.item: called.price for called in of_type(entries, PriceCalled) if called.round == 1}
    bidders = next(iter(of_type(entries, DutchOpened))).bidders
    shares = {
        bidder: [sold.price / first[sold.item] for sold in of_type(entries, FlowerSold) if sold.winner == bidder]
        for bidder in bidders
    }
    means = {bidder: sum(found) / len(found) if found else None for bidder, found in shares.items()}
    return by_bidder(name, means, missing="it bought nothing")
