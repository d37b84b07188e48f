"""What is for sale: the items that settings list, or those of a catalogue that they ask a sample of."""

from __future__ import annotations

from harbor._config.auction import AuctionConfig, Houses, Item
from harbor._core.errors import ConfigError
from harbor._core.finding import find
from harbor.personas._catalog.catalogue import catalogue_of, with_own
from harbor.personas._catalog.sampling import sample


def with_items(config: AuctionConfig) -> AuctionConfig:
    """Put the items that are for sale in the settings: so they stand in the folder of a run."""
    items = resolve_items(config)
    return config.model_copy(update={"items": items}) if items else config


def resolve_items(config: AuctionConfig) -> tuple[Item, ...]:
    """Give the items for sale, sampled from the catalogue if the settings ask for it; a game that uses none has none.

    Raises:
        ConfigError: there are fewer items than demanded, or one of those to draw from is refused.
    """
    if "items" not in find("game", config.rules.game).uses:
        return ()
    if not isinstance(config.items, Houses):
        return config.items
    catalogue, matched = with_own(catalogue_of(config.catalogue), config.personas, config.items.of), None
    if config.items.matched is not None:
        matched = {key: config.items.matched for bidder in config.bidders for key in bidder.persona}
        for own in config.personas:
            if own.id in matched and not catalogue.suiting(own.id):
                raise ConfigError(
                    f"no item of the catalogue {catalogue.name!r} suits your persona {own.id!r}; drop matched, list"
                    f" items, or name items whose persona is {own.id!r} in items.of or in a catalogue"
                )
    return sample(catalogue, config.items.count, config.seed, matched)
