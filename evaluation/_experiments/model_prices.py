"""The prices of models in a design, which stay those of the day on which its experiment began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from harbor._core.settings import Settings


class ModelPrice(Settings):
    """What a model costs, in dollars per million tokens.

    Attributes:
        input_price: Input.
        cached_price: Input that the provider had kept; without it, as other input.
        output_price: Output.
    """

    input_price: float = Field(ge=0, allow_inf_nan=False)
    cached_price: float | None = Field(None, ge=0, allow_inf_nan=False)
    output_price: float = Field(ge=0, allow_inf_nan=False)


def price_key(use: str, base_url: str | None) -> str:
    """Say under which key a design has the price of a model: the same model may cost more from another server."""
    return f"{use} at {base_url}" if base_url else use


def priced(settings: Mapping[str, Any], prices: Mapping[str, ModelPrice]) -> dict[str, Any]:
    """Add to a model's settings the prices that they lack; a cached price belongs to an input price."""
    listed = prices.get(price_key(str(settings.get("use")), settings.get("base_url")))
    own = {"cached_price"} if settings.get("input_price") is not None else set[str]()
    return (listed.model_dump(exclude=own) if listed else {}) | dict(settings)
