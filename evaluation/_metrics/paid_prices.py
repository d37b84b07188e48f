"""Prices and highest bids, place by place, in any auction: of items, or of the runs of a session."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from harbor._core.acts import Acted, ActedSealed
from harbor._core.asks import Bid
from harbor._core.events import LotClosed
from harbor._core.log_lines import Entry
from harbor._core.outcomes import Paid, PaidSealed
from harbor.evaluation._metrics.measurement import Measurement, metric


@metric("price", "dollars", "skewed", of=LotClosed, place="item or run", least=0, no_data="nothing was sold for money")
def prices(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that the winner paid for the item, or in the run, at place `at`, and the highest bid.

    `about` says which: "price" or "highest bid"; the latter only in sales whose winners do not pay their bids. What was
    not sold, or for nothing, has neither. Source: Chen et al. 2023, sec. 4.3; EconArena, A.2.
    """
    bids: dict[str, list[Decimal]] = {}
    paid: dict[str, Decimal] = {}
    for _, _, event in entries:
        match event:
            case Acted(item=item, act=Bid(amount=bid)) | ActedSealed(item=item, act=Bid(amount=bid)):
                bids.setdefault(item, []).append(bid)
            case (
                Paid(payee="", item=item, amount=price, fee=False)
                | PaidSealed(payee="", item=item, amount=price, fee=False)
            ) if price:
                paid[item] = price
                bids.setdefault(item, []).append(price)
    found = {"price": paid} | {"highest bid": {item: max(bids[item]) for item in paid}}
    closed = dict.fromkeys(entry.event.item for entry in entries if isinstance(entry.event, LotClosed))
    return [
        Measurement(name, float(amounts[item]), "", about, at)
        for about, amounts in found.items()
        for at, item in enumerate(closed, start=1)
        if item in amounts and (about == "price" or amounts != paid)
    ]
