"""What is for sale: the items that settings list, or the houses that they ask a sample of."""

from __future__ import annotations

from harbor._config.auction import AuctionConfig, Houses, Item
from harbor._core.errors import ConfigError
from harbor._core.finding import find
from harbor.personas._catalog.catalog import houses


def with_items(config: AuctionConfig) -> AuctionConfig:
    """Put the items that are for sale in the settings: so they stand in the folder of a run."""
    items = resolve_items(config)
    return config.model_copy(update={"items": items}) if items else config


def resolve_items(config: AuctionConfig) -> tuple[Item, ...]:
    """Give the items for sale, sampling houses where the settings ask for a sample; a game that uses none has none.

    Raises:
        ConfigError: the catalog has fewer houses than demanded.
    """
    if "items" not in find("game", config.rules.game).uses:
        return ()
    if not isinstance(config.items, Houses):
        return config.items
    matched = None
    if config.items.matched is not None:
        matched = {key: config.items.matched for bidder in config.bidders for key in bidder.persona}
        for own in config.personas:
            if own.id in matched:
                raise ConfigError(
                    f"no house of the catalog matches your persona {own.id!r}; drop matched, or list items"
                )
    return houses(config.items.count, config.seed, matched)
