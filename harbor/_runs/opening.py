"""What a log begins with: the ground truth, for the analyst, and what each bidder brings, for itself."""

from __future__ import annotations

from harbor._core.events import BidderLabelled, BidderSeated, CatalogShown, Event, ItemLabelled
from harbor._runs.resolve import ResolvedAuction


def opening_events(auction: ResolvedAuction) -> list[Event]:
    """Give the events before the opening: labels of items and bidders, then what each bidder knows."""
    events: list[Event] = [ItemLabelled(item.name, item.true_value, item.persona or "") for item in auction.items]
    for bidder in auction.bidders:
        events.append(BidderLabelled(bidder.settings.name, bidder.settings.persona, bidder.player))
    for bidder in auction.bidders:
        name, objective = bidder.settings.name, bidder.settings.objective
        seated = BidderSeated(
            name,
            bidder.budget,
            dict(bidder.estimates),
            dict(bidder.personas),
            objective,
            {rival: dict(weights) for rival, weights in bidder.rivals.items()},
        )
        events.append(seated)
        if bidder.settings.theory_of_mind != "none":
            events.append(CatalogShown(name, {key: persona.text for key, persona in auction.catalog.items()}))
    return events
