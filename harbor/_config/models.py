"""Settings of a model: its name, its server, the way it is asked, and the names that its provider's package uses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.redaction import SECRET_NAME, named_secret, redact, secret_variable
from harbor._core.settings import Number, Rate, Seconds, Settings

MayBeLeftOut = Literal["temperature", "seed", "reasoning", "max_tokens"]
"""A setting without which a model answers too."""
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
"""Pattern for the name of an environment variable."""


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
    """Check the name of a variable, or a list of names. Pydantic would explain only the first of two refused types."""
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
    """Yield every text in a table, at any depth, with its name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)
    elif isinstance(value, str):
        yield name, value


class Simulated(Settings):
    """Settings of the built-in model: how it plays, and how often it makes mistakes on purpose.

    >>> Simulated(policy="minimum").limit_share
    Decimal('0.9')

    Attributes:
        policy: How the model bids: "judge" weighs the profit from an item, the budget, and how the item suits the
            bidder's persona; "minimum" bids the least legal amount until that amount is above a limit.
        limit_share: The limit of the policy "minimum", as a share of the bidder's estimate of the item.
        level: Number of steps of reasoning about other players in the beauty contest.
        latency_seconds: Time that the model waits before each reply, in seconds.
        unreadable_rate: The share of replies that can't be read.
        low_bid_rate: The share of bids that are too low. A bidder that sets one limit per item never bids too low.
        over_budget_rate: The share of bids above the budget. A bidder that sets one limit per item never bids above it.
        wrong_sum_rate: The share of replies about beliefs in which the bidder miscounts its own money.
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
"""Name of a model that was given as an object."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
UrlWithoutKey = Annotated[str, AfterValidator(_without_key)]
"""Address of a server. It may hold no key, because it is written to files."""
Variable = Annotated[str, Field(pattern=VARIABLE), AfterValidator(secret_variable)]
"""Name of an environment variable; from then on Harbor hides the variable's value everywhere."""
Variables = Annotated[str | tuple[str, ...], BeforeValidator(_variables)]
"""The name of such a variable, or of several."""
ReplyForm = Literal["tool", "json", "text", "words"]
"""Form of a reply: a tool call, JSON by a schema, JSON in plain text, or the protocol's own words."""


class ModelSettings(Settings):
    """The settings of a model, which bidders use by a name that you choose.

    Prices are in dollars per million tokens. Without prices in these settings, Harbor takes the prices in its own
    table; if this table lacks the model, the cost of the model's calls is unknown.

    >>> ModelSettings(use="openai:gpt-4.1").reply
    'auto'

    Attributes:
        use: The model: "provider:model", the name of an installed model such as "simulated", or code. LangChain has to
            know the provider, and the provider's package has to be installed. Code is "package.module:NAME", with a dot
            before the colon: a `Model`, or a function that takes settings and a seed and makes a LangChain chat model.
        base_url: The address of the server, if it is not the provider's usual one.
        api_key_env: Name of the environment variable that holds the key; without this setting, the provider's package
            looks for a variable of its own. A list of names makes a pool of keys: calls are spread over the keys, and a
            key that the provider refuses is no longer used.
        fallback: The model that answers if this one can't: a name under `models`, or "provider:model".
        temperature: The temperature of sampling; without this setting, calls do not name one.
        max_tokens: The most tokens of a reply; without this setting, calls do not name a limit.
        timeout_seconds: Time for one request, in seconds. The default is 900, and more for a model that was slower
            before. A request that takes longer is made again; if the new request takes too long as well, the run
            pauses.
        must_take: Names of settings, such as "temperature", without which the model must not be asked. If a server
            refuses a setting named here, the run stops; any other refused setting is left out of calls. In an
            experiment whose settings give a temperature, the default is "temperature".
        headers: HTTP headers of each call; they must not hold keys.
        reasoning: The effort of reasoning, such as "low", or a budget for it in tokens; without this setting, calls do
            not name one.
        seed: The seed that is sent to the provider; without this setting, calls do not name one.
        max_concurrent: Most calls that the provider allows at once; without this setting, Harbor learns the number.
        requests_per_minute: Most calls that the provider allows per minute; without this setting, Harbor learns the
            number.
        tokens_per_minute: Most tokens that the provider allows per minute.
        extra: Settings that are passed to the provider's package unchanged.
        reply: The form in which the model is asked to reply: "tool" (a tool call), "json" (JSON by a schema) or "text"
            (JSON in plain text). "auto" tries which of these forms the server supports.
        repairs: Number of times that the model is asked again if its reply can't be used.
        retry_seconds: Longest time in seconds for which a call is retried after a temporary failure; after this time,
            the run pauses. If the provider asks for a longer wait, the run pauses at once.
        input_price: Price of input, in dollars per million tokens.
        cached_price: Price of input that the provider already had in its cache, in dollars per million tokens.
        output_price: Price of output, in dollars per million tokens.
        simulated: Settings of the built-in model.
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
        """Names of the environment variables that hold the keys; empty if `api_key_env` is not set."""
        given = self.api_key_env
        return () if given is None else (given,) if isinstance(given, str) else given


def _used_by_name(models: Any) -> Any:
    """Fill in `use` from the name of a model, such as "openai:gpt-4.1", in settings without `use`."""
    if not isinstance(models, dict):
        return models
    return {name: _used(name, settings) if ":" in str(name) else settings for name, settings in models.items()}


def _used(name: str, settings: Any) -> Any:
    if isinstance(settings, ModelSettings):
        return settings if "use" in settings.model_fields_set else settings.model_copy(update={"use": name})
    return {"use": name, **settings} if isinstance(settings, dict) else settings


Models = Annotated[dict[str, ModelSettings], BeforeValidator(_used_by_name)]
"""The settings of models by the names that bidders use."""


PROVIDERS: Mapping[str, str] = {
    "anthropic": "langchain-anthropic",
    "anthropic_bedrock": "langchain-aws",
    "azure_ai": "langchain-azure-ai",
    "azure_openai": "langchain-openai",
    "baseten": "langchain-baseten",
    "bedrock": "langchain-aws",
    "bedrock_converse": "langchain-aws",
    "bedrock_mantle_anthropic": "langchain-aws",
    "bedrock_mantle_openai": "langchain-aws",
    "cohere": "langchain-cohere",
    "deepseek": "langchain-deepseek",
    "fireworks": "langchain-fireworks",
    "google_anthropic_vertex": "langchain-google-vertexai",
    "google_genai": "langchain-google-genai",
    "google_vertexai": "langchain-google-vertexai",
    "groq": "langchain-groq",
    "huggingface": "langchain-huggingface",
    "ibm": "langchain-ibm",
    "langsmith": "langchain-openai",
    "litellm": "langchain-litellm",
    "meta": "langchain-meta",
    "mistralai": "langchain-mistralai",
    "nvidia": "langchain-nvidia-ai-endpoints",
    "ollama": "langchain-ollama",
    "openai": "langchain-openai",
    "openrouter": "langchain-openrouter",
    "perplexity": "langchain-perplexity",
    "together": "langchain-together",
    "upstage": "langchain-upstage",
    "xai": "langchain-xai",
}
"""The providers that LangChain's `init_chat_model` knows, and the package of each."""

NO_KEY = "none"
"""Stand-in for a key at a server of the user's own: a provider's key goes to that provider's address alone."""
NAMES = {
    "base_url": "base_url",
    "key": "api_key",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "headers": "default_headers",
    "seed": "seed",
    "effort": "reasoning_effort",
    "budget": "thinking_budget",
}
"""The names that most packages use for a setting."""
OWN_NAMES: Mapping[str, Mapping[str, str]] = {
    "ollama": {"max_tokens": "num_predict", "effort": "reasoning"},
    "google_genai": {"headers": "additional_headers"},
    "azure_openai": {"base_url": "azure_endpoint"},
}
"""The names that some packages use instead."""
ONE_TRY: Mapping[str, Mapping[str, Any]] = {"google_genai": {"max_retries": 1}, "ollama": {}}
"""Arguments that switch off the retries of a provider's package, for packages without `max_retries=0`."""

STREAMS_COUNTED = ("openai", "azure_openai")
"""The providers whose streams report tokens only on request."""
AZURE = (
    (
        ("azure_endpoint", "AZURE_OPENAI_ENDPOINT"),
        "the address of your resource",
        'base_url = "https://NAME.openai.azure.com"',
    ),
    (("api_version", "OPENAI_API_VERSION"), "the version of the API", 'extra = { api_version = "2024-10-21" }'),
    (
        ("azure_ad_token", "AZURE_OPENAI_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
        "the key",
        'api_key_env = "AZURE_OPENAI_API_KEY"',
    ),
)
"""The settings that Azure needs: the names under which its package looks for each, a description, and the TOML line."""


def _check_azure(settings: ModelSettings) -> None:
    """Refuse a model at Azure that lacks a setting, and name all missing ones; Azure's package names one at a time.

    Raises:
        ConfigError: something is missing.
    """
    given = {*settings.extra, *(name for name, value in os.environ.items() if value)}
    if settings.base_url is not None:
        given.add("azure_endpoint")
        given -= {"AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"}  # they never go to a server that settings name
    if settings.api_key_env is not None or NAMES["key"] in settings.extra:
        given.add("azure_ad_token")
    missing = [f"{what} ({line})" for names, what, line in AZURE if given.isdisjoint(names)]
    if missing:
        raise ConfigError(
            f"model {settings.use!r} lacks {', '.join(missing)}; write that in its table, where use is"
            ' "azure_openai:" with the name of your deployment'
        )


def named_in(provider: str, setting: str, settings: ModelSettings) -> str:
    """Return the name of a setting in a provider's package."""
    if setting == "reasoning":
        setting = "effort" if isinstance(settings.reasoning, str) else "budget"
        if provider == "anthropic" and setting == "budget":
            return "thinking"
    return {**NAMES, **OWN_NAMES.get(provider, {})}.get(setting, setting)


def in_dialect(provider: str, settings: ModelSettings) -> dict[str, Any]:
    """Return the arguments for a chat model of this provider, without the settings that are not set.

    Raises:
        ConfigError: the environment variable with the key is not set, or Azure lacks a setting.
    """
    if provider == "azure_openai":
        _check_azure(settings)
    wanted = _wanted(settings)
    if provider == "anthropic" and "budget" in wanted:
        wanted["thinking"] = {"type": "enabled", "budget_tokens": wanted.pop("budget")}
    if provider == "ollama":  # its package takes all HTTP settings in one argument
        headers = dict(wanted.pop("headers", {}))
        if (key := wanted.pop("key", NO_KEY)) != NO_KEY:
            headers["Authorization"] = f"Bearer {key}"
        wanted |= {"client_kwargs": {"headers": headers}} if headers else {}
    names = {**NAMES, **OWN_NAMES.get(provider, {})}
    return {
        **ONE_TRY.get(provider, {"max_retries": 0}),
        # without it, a server of the user's own would not report the tokens of a stream
        **({"stream_usage": True} if provider in STREAMS_COUNTED and settings.extra.get("streaming") else {}),
        **{names.get(name, name): value for name, value in wanted.items()},
        **settings.extra,
    }


def _wanted(settings: ModelSettings) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: value
        for name in ("base_url", "temperature", "max_tokens", "seed")
        if (value := getattr(settings, name)) is not None
    }
    if settings.headers:
        found["headers"] = dict(settings.headers)
    if settings.reasoning is not None:
        found["effort" if isinstance(settings.reasoning, str) else "budget"] = settings.reasoning
    if (key := _key(settings)) is not None:
        found["key"] = key
    return found


def _key(settings: ModelSettings) -> str | None:
    """Return the key; None: the provider's package reads the key from its own environment variable."""
    if not settings.key_variables:
        return None if settings.base_url is None else NO_KEY
    return named_secret(settings.key_variables[0], "api_key_env")


def unknown_to(chat: Any, given: Mapping[str, Any]) -> list[str]:
    """Return the names of arguments that a chat model has no field for; its class ignores them silently."""
    fields = type(chat).model_fields
    known = {*fields, *(field.alias for field in fields.values())}
    return [name for name in given if name not in known]
