"""What models cost, by the table that ships with the package genai-prices; a network is never asked."""

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
"""Of the sample call that is priced: short enough for the price of ordinary prompts, where long ones cost more."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in dollars per million tokens; `source` says who says so."""

    input_price: float
    output_price: float
    source: str


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Which table the prices come from.

    It carries no date of its own, so `date` is that of the newest change of a price that it knows and that has come
    into force: it is that new at least.
    """

    package: str
    version: str
    date: str


BUILT_IN = Price(0.0, 0.0, "built-in")
LOCAL = Price(0.0, 0.0, "runs on a machine of yours: nobody charges by the token")


def price_of(model: str) -> Price | None:
    """Give the price of a model named "simulated" or "provider:name", as of today; None if the table lacks it.

    It is that of a short prompt that no cache serves, without discounts for batches.
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
    """Take the table that ships with the package, even where a program updates it over the network."""
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers, from_auto_update=False)


def _changes() -> Iterable[date]:
    """List the days on which a price of the table began to hold."""
    for model in (model for provider in _snapshot().providers for model in provider.models):
        conditional = model.prices if isinstance(model.prices, list) else []
        for price in (*conditional, *(model.price_variants or ())):
            day = getattr(price.constraint, "start_date", None)
            if isinstance(day, date):
                yield day


def with_price(settings: ModelSettings) -> ModelSettings:
    """Fill in what a model costs where its settings don't say and the table does."""
    price = price_of(settings.use)
    if price is None:
        return settings
    known = {"input_price": price.input_price, "output_price": price.output_price}
    lacking = {field: amount for field, amount in known.items() if getattr(settings, field) is None}
    return settings.model_copy(update=lacking)
