"""What a log begins with: the ground truth, for the analyst, and what each bidder brings, for itself."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from harbor._config.auction import AuctionConfig, Bidder, Item, Persona
from harbor._core.events import BidderLabelled, BidderSeated, CatalogShown, Event, ItemLabelled
from harbor._core.money import to_cents
from harbor.personas._catalog import traits


def opening_events(
    config: AuctionConfig, personas: Mapping[str, Persona], catalog: Mapping[str, Persona], players: Mapping[str, str]
) -> list[Event]:
    """Write them down; `catalog` holds the personas that rivals are profiled over, `players` what plays each bidder."""
    items = config.items if isinstance(config.items, tuple) else ()
    events: list[Event] = [ItemLabelled(item.name, item.true_value, item.persona or "") for item in items]
    events += [BidderLabelled(bidder.name, bidder.persona, players[bidder.name]) for bidder in config.bidders]
    for bidder in config.bidders:
        events.append(_seated(bidder, items, config, personas, catalog))
        if bidder.theory_of_mind != "none":
            events.append(CatalogShown(bidder.name, {key: persona.text for key, persona in catalog.items()}))
    return events


def _seated(
    bidder: Bidder,
    items: tuple[Item, ...],
    config: AuctionConfig,
    personas: Mapping[str, Persona],
    catalog: Mapping[str, Persona],
) -> BidderSeated:
    estimates = {item.name: to_cents(item.true_value * (1 + bidder.overestimate)) for item in items}
    texts = {personas[key].text: share for key, share in bidder.persona.items()}
    rivals = _told(bidder, config, catalog) if bidder.theory_of_mind == "true" else {}
    budget = bidder.budget if items else Decimal(0)  # in the other games the rules say what there is
    return BidderSeated(bidder.name, budget, estimates, texts, bidder.objective, rivals)


def _told(bidder: Bidder, config: AuctionConfig, catalog: Mapping[str, Persona]) -> dict[str, dict[str, float]]:
    """Give the true personas of a bidder's rivals as profiles.

    Of a rival without any, or with one that the catalog does not hold, there is nothing true to tell.
    """
    return {
        rival.name: traits.profile(traits.truth(rival.persona, catalog))
        for rival in config.bidders
        if rival.name != bidder.name and rival.persona and all(key in catalog for key in rival.persona)
    }
