"""Presets with short games."""

from __future__ import annotations

from decimal import Decimal

from harbor._config.auction import AuctionConfig


def brief(config: AuctionConfig) -> AuctionConfig:
    """Return a short game of a preset with all its bidders and rules, and a second round in which secrets may leak.

    Prices rise in large steps, as every step asks all bidders.
    """
    rules, items = config.rules, config.items
    few = {"days": 4, "runs": 2, "increment_share": Decimal("0.3"), "step_share": Decimal("0.3")}
    rules = rules.model_copy(update={key: value for key, value in few.items() if hasattr(rules, key)})
    if config.rules.game != "english":
        return config.model_copy(update={"rules": rules})
    items = items[:2] if isinstance(items, tuple) else items.model_copy(update={"count": 2, "matched": None})
    series = config.series and config.series.model_copy(update={"auctions": 2})
    return config.model_copy(update={"rules": rules, "items": items, "series": series})
