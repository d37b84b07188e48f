"""The rules of an auction of bundles, made from its log, which may hold public events alone."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from bundle_auction.rules import BundleRules, Bundles, BundlesOpened
from harbor.events import BidderSeated, Event, Signal

NO_LIMIT = Decimal(10**12)


def from_public(rules: BundleRules, events: Sequence[Event]) -> Bundles:
    """Make the rules of the opened auction. A public log yields rules without values and without a limit on bids."""
    opened = next(event for event in events if isinstance(event, BundlesOpened))
    told = {event.bidder: event.values for event in events if isinstance(event, Signal)}
    budgets = {event.bidder: event.budget for event in events if isinstance(event, BidderSeated)}
    names = opened.bidders
    return Bundles(
        rules, {name: told.get(name, {}) for name in names}, {name: budgets.get(name, NO_LIMIT) for name in names}
    )
