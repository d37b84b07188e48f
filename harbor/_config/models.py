"""The settings of a model: which one, where it is, how it is asked, and how much of it may be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from harbor._core.redaction import SECRET_NAME, redact, secret_variable
from harbor._core.settings import Number, Rate, Seconds, Settings

MayBeLeftOut = Literal["temperature", "seed", "reasoning", "max_tokens"]
"""A setting without which a model answers too."""
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
"""What the name of an environment variable looks like."""


def _without_key(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("is no address of a server; write one such as http://localhost:8000/v1")
    if parts.username or parts.password or any(SECRET_NAME.search(name) for name, _ in parse_qsl(parts.query)):
        raise ValueError("has a key or a password in it, which would be written to files; put the key in api_key_env")
    return url


def _without_secrets(values: dict[str, Any]) -> dict[str, Any]:
    for name, value in _texts(values):
        if SECRET_NAME.search(name) or redact(value) != value:
            raise ValueError(f"has {name!r}, whose value would be written to files; put the key in api_key_env")
    return values


def _variables(given: Any) -> Any:
    """Check the name of a variable or a list of names here, as of two types that are refused the first is explained."""
    if given is None:
        return None
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise ValueError("must be the name of an environment variable, or a list of such names")
    if not all(re.fullmatch(VARIABLE, name) for name in names):
        raise ValueError(f"must match the pattern {VARIABLE}: it is the name of a variable, and no key")
    if len(set(names)) < len(names):
        raise ValueError("names a variable twice; give every variable once")
    for name in names:
        secret_variable(name)
    return given if isinstance(given, str) else tuple(names)


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Give every text in a table, at any depth, with its name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)
    elif isinstance(value, str):
        yield name, value


class Simulated(Settings):
    """How the built-in model plays, and which mistakes it makes.

    Attributes:
        policy: "judge" (weighs fit, profit and budget) or "minimum" (raises by the minimum while below
            `limit_share` of its estimate).
        limit_share: How far "minimum" goes, as a share of its estimate.
        level: How many steps of reasoning about others it takes in the beauty contest.
        latency_seconds: How long it waits before each reply.
        unreadable_rate: The share of replies that can't be read.
        low_bid_rate: The share of bids that are too low; a limit is never.
        over_budget_rate: The share of bids above the budget; a bid by limit never is.
        wrong_sum_rate: The share of beliefs with a wrong sum.
    """

    policy: Literal["judge", "minimum"] = "judge"
    limit_share: Annotated[Number, Field(gt=0, le=10)] = Decimal("0.9")
    level: int = Field(2, ge=0, le=100)
    latency_seconds: Seconds = 0.0
    unreadable_rate: Rate = 0.0
    low_bid_rate: Rate = 0.0
    over_budget_rate: Rate = 0.0
    wrong_sum_rate: Rate = 0.0


BUILT_IN = "simulated"
"""The model that plays offline."""
GIVEN = "given"
"""What stands for the name of a model that was given as an object."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
UrlWithoutKey = Annotated[str, AfterValidator(_without_key)]
"""The address of a server, which may hold no key, as it is written to files."""
Variable = Annotated[str, Field(pattern=VARIABLE), AfterValidator(secret_variable)]
"""The name of an environment variable whose value is shown nowhere from now on."""
Variables = Annotated[str | tuple[str, ...], BeforeValidator(_variables)]
"""The name of such a variable, or of several."""
ReplyForm = Literal["tool", "json", "text", "words"]
"""How a model is asked for a reply: as a tool call, as JSON by a schema, as JSON in plain text, or in its own words."""


class ModelSettings(Settings):
    """A model under a name that you choose; `use` is "provider:model", an installed one such as "simulated", or code.

    Prices are in dollars per million tokens. Without them those of the price table hold; where it has none, the
    cost of a call is unknown.

    Attributes:
        use: What it is. A provider is one that LangChain knows; its package has to be installed. Code is
            "package.module:NAME", with a dot before the colon: a `Model`, or a function of settings and seed that
            makes a LangChain chat model.
        base_url: The address of another server.
        api_key_env: The environment variable with its key; without it, the one that the provider's package reads. A
            list of several makes a pool: calls are spread over its keys, and one that is refused is left out.
        fallback: The model that answers what this one can't: a name under `models`, or "provider:model".
        temperature: Left out of a call unless it is given.
        max_tokens: The most tokens of a reply; left out of a call unless it is given.
        timeout_seconds: A request that is not answered by then is made again (900); a model that was slower before has
            more. The second one of a call pauses the run.
        must_take: Settings such as "temperature" without which it may not be asked: a server that refuses one stops
            the run, where others are left out. An experiment names the temperature that its design states.
        headers: What is sent with each call; no keys.
        reasoning: An effort such as "low", or a budget in tokens; left out of a call unless it is given.
        seed: Left out of a call unless it is given.
        max_concurrent: How many calls the provider allows at once; without it, this is learned.
        requests_per_minute: How many calls the provider allows per minute; without it, this is learned.
        tokens_per_minute: How many tokens the provider allows per minute.
        extra: What is passed on to the provider's package as it is.
        reply: How it is asked for a reply of a shape: as a "tool" call, as "json" by a schema, or as "text"; "auto"
            finds out what the server can do.
        repairs: How often a reply that can't be used is asked for again.
        retry_seconds: How long what fails for the moment is tried again, before the run is paused. It is paused at
            once if the provider asks for a longer wait.
        input_price: Dollars per million tokens of input.
        cached_price: Dollars per million tokens of input that the provider had kept.
        output_price: Dollars per million tokens of output.
        simulated: How the built-in model plays.
    """

    use: str = BUILT_IN
    base_url: UrlWithoutKey | None = None
    api_key_env: Variables | None = None
    fallback: Annotated[str, Field(min_length=1)] | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1)
    timeout_seconds: Positive | None = None
    must_take: tuple[MayBeLeftOut, ...] = ()
    headers: Annotated[dict[str, str], AfterValidator(_without_secrets)] = Field(default_factory=dict)
    reasoning: Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=0)] | None = None
    seed: int | None = Field(None, ge=0)
    max_concurrent: int | None = Field(None, ge=1)
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    extra: Annotated[dict[str, Any], AfterValidator(_without_secrets)] = Field(default_factory=dict)
    reply: Literal["auto", "tool", "json", "text"] = "auto"
    repairs: int = Field(2, ge=0, le=10)
    retry_seconds: Seconds = 600.0
    input_price: Price | None = None
    cached_price: Price | None = None
    output_price: Price | None = None
    simulated: Simulated = Simulated()

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables with its keys; none, if the provider's package looks for one."""
        given = self.api_key_env
        return () if given is None else (given,) if isinstance(given, str) else given


def _used_by_name(models: Any) -> Any:
    """Let settings under the name of a model, such as "openai:gpt-4.1", be of that model unless they name another."""
    if not isinstance(models, dict):
        return models
    return {name: _used(name, settings) if ":" in str(name) else settings for name, settings in models.items()}


def _used(name: str, settings: Any) -> Any:
    if isinstance(settings, ModelSettings):
        return settings if "use" in settings.model_fields_set else settings.model_copy(update={"use": name})
    return {"use": name, **settings} if isinstance(settings, dict) else settings


Models = Annotated[dict[str, ModelSettings], BeforeValidator(_used_by_name)]
"""The settings of models by the names that bidders use."""
