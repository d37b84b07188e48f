"""Prices and highest bids, place by place, in any auction: of items, or of the runs of a session."""

from __future__ import annotations

from collections.abc import Sequence

from harbor._core.events import LotClosed
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.outcomes import outcomes
from harbor.evaluation._metrics.acts import bids
from harbor.evaluation._metrics.measurement import Measurement, metric

NO_PRICE = "nothing was sold as one unit to one bidder for money"


@metric("price", "dollars", "skewed", of=LotClosed, place="item or run", least=0, no_data=NO_PRICE)
def prices(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that whoever got the item paid for it, or in the run, at place `at`, and the highest bid.

    `about` says which: "price" or "highest bid"; the latter only in sales whose winners do not pay their bids. What was
    not sold, or for nothing, or in several units, has neither. Source: Chen et al. 2023, sec. 4.3;
    EconArena, A.2.
    """
    told = outcomes(entries)
    holders, closed = told.holders(), dict.fromkeys(event.item for event in of_type(entries, LotClosed))
    paid = {
        item: price
        for mine in told.accounts.values()
        for item, price in mine.paid.items()
        if price and mine.units.get(item) == 1 and len(holders[item]) == 1
    }
    highest = dict(paid)
    for bid in bids(entries):
        if bid.item in highest:
            highest[bid.item] = max(highest[bid.item], bid.amount)
    return [
        Measurement(name, float(amounts[item]), "", about, at)
        for about, amounts in {"price": paid, "highest bid": highest}.items()
        for at, item in enumerate(closed, start=1)
        if item in amounts and (about == "price" or amounts != paid)
    ]
