"""Prices and highest bids, place by place, in any auction: of items, or of the runs of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial

from harbor._core.events import BidPlaced, ItemSold, LotClosed
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.sessions.session import RunSettled, SessionOpened
from harbor.evaluation._metrics.measurement import Measurement, measured, metric

_metric = partial(metric, unit="dollars", interval="skewed", of=LotClosed, place="item or run", least=0)


@_metric("price of an item or a run, by its place", no_data="nothing was sold at a price")
def price(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that the winner paid for the item, or in the run, at place `at`; none where nobody won.

    Source: Chen et al. 2023, sec. 4.3; EconArena, A.2.
    """
    paid = {sale.item: sale.price for sale in of_type(entries, ItemSold)}
    return _by_place(name, entries, {one.item: one.paid for one in _settled(entries) if one.won} | paid)


@_metric("highest bid on an item or in a run, by its place", no_data="nobody has bid")
def highest_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars of the highest bid on the item, or in the run, at place `at`; none where nobody bid.

    Where winners pay their bids it is the `price`; where they pay the second highest, it shows what they would have
    paid. Source: as `price`.
    """
    highest: dict[str, Decimal] = {}
    bids = [(one.item, one.amount) for one in of_type(entries, BidPlaced)]
    sealed = [(one.item, one.action) for one in _settled(entries) if one.action is not None]
    for item, amount in (*bids, *sealed):
        highest[item] = max(amount, highest.get(item, amount))
    return _by_place(name, entries, highest)


def _settled(entries: Sequence[Entry]) -> list[RunSettled]:
    """List the results of runs in which there is money to bid with: the numbers of other sessions are no dollars."""
    return of_type(entries, RunSettled) if any(one.assets for one in of_type(entries, SessionOpened)) else []


def _by_place(name: str, entries: Sequence[Entry], amounts: Mapping[str, Decimal]) -> list[Measurement]:
    over = enumerate(dict.fromkeys(end.item for end in of_type(entries, LotClosed)), start=1)
    return [measured(name, amounts[item], at=place) for place, item in over if item in amounts]
