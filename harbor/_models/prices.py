"""What models cost, by the table that ships with the package genai-prices; nothing is fetched over the network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from harbor._config.auction import ModelSettings

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

PACKAGE = "genai-prices"
_SAMPLE_TOKENS = 1_000
"""The size of the sample call that is priced; some models cost more per token for long prompts."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in dollars per million tokens; `source` is where the price comes from."""

    input_price: float
    output_price: float
    source: str


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The table that prices come from.

    The package gives it no date. `date` is that of the newest price change in it that is in force by today, so the
    table is at least as new.
    """

    package: str
    version: str
    date: str


BUILT_IN = Price(0.0, 0.0, "built-in")
LOCAL = Price(0.0, 0.0, "runs on your machine: nobody charges per token")


def price_of(model: str) -> Price | None:
    """Give the price of a model named "simulated" or "provider:name", as of today; None if the table lacks it.

    The price is that of a short, uncached prompt, without batch discounts.
    """
    provider, _, name = model.partition(":")
    if model == "simulated":
        return BUILT_IN
    if provider == "ollama":
        return LOCAL
    return _listed(provider, name)


def _listed(provider: str, name: str) -> Price | None:
    from genai_prices import Usage

    sample = Usage(input_tokens=_SAMPLE_TOKENS, output_tokens=_SAMPLE_TOKENS)
    try:
        found = _snapshot().calc(sample, name, provider, None, datetime.now(UTC))
    except (LookupError, ValueError):
        return None
    per_million = _MILLION // _SAMPLE_TOKENS
    inward, outward = float(found.input_price * per_million), float(found.output_price * per_million)
    return Price(inward, outward, f"{found.provider.id} {found.model.id}")


@cache
def price_table() -> PriceTable:
    """Say which table the prices come from."""
    today = datetime.now(UTC).date()
    return PriceTable(PACKAGE, version(PACKAGE), max(day for day in _changes() if day <= today).isoformat())


@cache
def _snapshot() -> DataSnapshot:
    """Take the table that ships with the package, even if a program updates it over the network."""
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers, from_auto_update=False)


def _changes() -> Iterable[date]:
    """List the days on which a price in the table came into force."""
    for model in (model for provider in _snapshot().providers for model in provider.models):
        conditional = model.prices if isinstance(model.prices, list) else []
        for price in (*conditional, *(model.price_variants or ())):
            day = getattr(price.constraint, "start_date", None)
            if isinstance(day, date):
                yield day


def with_price(settings: ModelSettings) -> ModelSettings:
    """Fill in the prices that a model's settings lack and the table has."""
    price = price_of(settings.use)
    if price is None:
        return settings
    known = {"input_price": price.input_price, "output_price": price.output_price}
    lacking = {field: amount for field, amount in known.items() if getattr(settings, field) is None}
    return settings.model_copy(update=lacking)
