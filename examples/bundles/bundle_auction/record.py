"""How a log of the auction of bundles is checked: its values, and the bids that were sealed."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from bundle_auction.rules import BundleRules, Bundles, BundlesAllotted, BundleSealed, BundlesOpened, ValuesDrawn
from harbor.events import BidderSeated, Event
from harbor.games import Action, Ask, AuctionConfig, BundleBid, Record, Withdraw

NO_LIMIT = Decimal(10**12)


def rules(events: Sequence[Event], settings: AuctionConfig | None) -> Bundles:
    """Give the rules that a log tells; in a public log, without values, and with budgets that nothing is above."""
    opened = next(event for event in events if isinstance(event, BundlesOpened))
    options = BundleRules(items=opened.items, synergy=opened.synergy)
    drawn = {event.bidder: event.values for event in events if isinstance(event, ValuesDrawn)}
    budgets = {event.bidder: event.budget for event in events if isinstance(event, BidderSeated)}
    names = tuple(budgets) or opened.bidders
    chosen = BundleRules.model_validate(settings.rules) if settings else options
    return Bundles(
        chosen, {name: drawn.get(name, {}) for name in names}, {name: budgets.get(name, NO_LIMIT) for name in names}
    )


def actions(asks: Sequence[Ask], events: Sequence[Event]) -> dict[str, Action]:
    """Give the sealed bids; in a public log, those that won."""
    over = [event for event in events if isinstance(event, BundlesAllotted)]
    bids = {name: BundleBid(won, one.paid[name]) for one in over for name, won in one.won.items()}
    bids |= {event.bidder: BundleBid(event.items, event.amount) for event in events if isinstance(event, BundleSealed)}
    return {ask.bidder: bids.get(ask.bidder, Withdraw()) for ask in asks} if over else dict(bids)


def unchecked(events: Sequence[Event], settings: AuctionConfig | None) -> tuple[str, ...]:
    """Say what is taken as told."""
    said = [] if settings else ["items and synergy are taken as the opening tells them"]
    if not any(isinstance(event, ValuesDrawn) for event in events):
        said.append("bids that lost are private: that no other bids bring more is not checked")
    return tuple(said)


RECORD = Record(rules=rules, actions=actions, unchecked=unchecked)
