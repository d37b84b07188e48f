"""A table gives the price of a model, and its passport or settings give the length of its thoughts.

The table ships with the package genai-prices. Nothing is fetched over the network.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from importlib.metadata import version
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harbor._config.models import ModelSettings
from harbor._core.basics.errors import ConfigError
from harbor._models.replies.cache import is_cached

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

PACKAGE = "genai-prices"  # the package with the table
_SAMPLE_TOKENS = 1_000
"""Tokens of the sample call that is priced. Some models cost more per token for long prompts."""
_MILLION = 1_000_000  # prices are dollars per million tokens


_IN_THE_TABLE = {
    "anthropic_bedrock": "aws",
    "azure_ai": "azure",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "bedrock_mantle_anthropic": "aws",
    "bedrock_mantle_openai": "aws",
    "google_anthropic_vertex": "google",
    "google_genai": "google",
    "google_vertexai": "google",
    "mistralai": "mistral",
    "xai": "x-ai",
}
"""LangChain's names of providers, and the table's names where they differ."""


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a model in dollars per million tokens; `source` names their origin.

    `cached_price` is the price of input from the provider's cache.
    """

    input_price: float
    cached_price: float
    output_price: float
    source: str


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The table of prices.

    The package gives the table no date. `date` is the day of its newest price change up to today, so the table is at
    least as new.
    """

    package: str
    version: str
    date: str


BUILT_IN = Price(0.0, 0.0, 0.0, "built-in")
LOCAL = Price(0.0, 0.0, 0.0, "runs on your machine: nobody charges per token")


def price_of(settings: ModelSettings) -> Price | None:
    """Return today's price of a model; None if the table lacks it, because nothing is guessed.

    The price is for a short prompt, without batch discounts. A model with a `base_url` has the price of the provider at
    that address. Ollama on this machine costs nothing; another server here may pass calls on to a provider.
    """
    provider, _, name = settings.use.partition(":")
    if settings.use == "simulated":
        return BUILT_IN
    if provider == "ollama" and (settings.base_url is None or _is_here(settings.base_url)):
        return LOCAL
    if not name or "." in provider:  # the user's code
        return None
    return _listed(_IN_THE_TABLE.get(provider, provider), name, settings.base_url)


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _listed(provider: str, name: str, url: str | None) -> Price | None:
    from genai_prices import Usage

    plain = Usage(input_tokens=_SAMPLE_TOKENS, output_tokens=_SAMPLE_TOKENS)
    reread = Usage(input_tokens=_SAMPLE_TOKENS, cache_read_tokens=_SAMPLE_TOKENS)
    now = datetime.now(UTC)
    try:
        found, cached = (_snapshot().calc(used, name, None if url else provider, url, now) for used in (plain, reread))
    except (LookupError, ValueError):
        return None
    if url is None and found.provider.id != provider:  # the table matches "azure_openai" as "openai"
        return None
    if found.total_price != found.input_price + found.output_price:  # the provider also charges per request
        return None
    per_million = _MILLION // _SAMPLE_TOKENS
    return Price(
        input_price=float(found.input_price * per_million),
        cached_price=float(cached.input_price * per_million),
        output_price=float(found.output_price * per_million),
        source=f"{found.provider.id} {found.model.id}",
    )


@cache
def price_table() -> PriceTable:
    """Return the table of prices that is in use."""
    today = datetime.now(UTC).date()
    return PriceTable(PACKAGE, version(PACKAGE), max(day for day in _changes() if day <= today).isoformat())


@cache
def _snapshot() -> DataSnapshot:
    """Return the table that ships with the package, even if a program has updated it over the network."""
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
    """Fill in missing prices from the table; the cached price is filled in only together with the input price."""
    wanted: tuple[str, ...] = ("input_price", "cached_price") if settings.input_price is None else ()
    wanted += ("output_price",) if settings.output_price is None else ()
    price = price_of(settings) if wanted else None
    return settings.model_copy(update={name: getattr(price, name) for name in wanted}) if price else settings


@dataclass(frozen=True, slots=True)
class Thoughts:
    """The thinking tokens of a model per call, and the basis of the number; `words` is empty if it does not think."""

    per_call: float = 0.0
    words: str = ""


def thoughts_of(settings: ModelSettings) -> Thoughts:
    """Return the expected thoughts of a model. Unknown thoughts are reported in `words`, but not counted."""
    if not is_cached(settings):
        return Thoughts()
    from harbor._models.connections import known_to  # here, because offline play needs no provider's package
    from harbor._models.providers import open_keyless

    try:
        chat = open_keyless(settings.use, settings, 0)
    except ConfigError:  # its package is not installed, so nothing is known
        return Thoughts()
    known = known_to(chat, settings).passport
    if (learned := known.reasoning_per_call) is not None:
        words = f"{learned:,.0f} tokens per call, as in {known.calls:,} calls before" if learned else ""
        return Thoughts(learned, words)
    if isinstance(settings.reasoning, int):
        words = f"up to {settings.reasoning:,} tokens per call, by its settings" if settings.reasoning else ""
        return Thoughts(settings.reasoning, words)
    if (chat.profile or {}).get("reasoning_output"):
        return Thoughts(words="not counted, as nothing is known of them before its first calls")
    return Thoughts()
