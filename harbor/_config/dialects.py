"""How the settings of a model are named by the package of its provider."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from harbor._config.models import ModelSettings
from harbor._core.errors import ConfigError
from harbor._core.redaction import named_secret

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
"""What a server of one's own gets in place of a key: a provider's key is for that provider's address alone."""
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
"""What most packages call a setting."""
OWN_NAMES: Mapping[str, Mapping[str, str]] = {
    "ollama": {"max_tokens": "num_predict", "effort": "reasoning"},
    "google_genai": {"headers": "additional_headers"},
    "azure_openai": {"base_url": "azure_endpoint"},
}
ONE_TRY: Mapping[str, Mapping[str, Any]] = {"google_genai": {"max_retries": 1}, "ollama": {}}
"""How the retries of a provider's package are switched off, where it is not `max_retries=0`."""

STREAMS_COUNTED = ("openai", "azure_openai")
"""The providers whose streams tell of tokens only if they are asked to."""
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
"""What Azure needs: the names under which its package looks for it, what it is, and the setting."""


def _check_azure(settings: ModelSettings) -> None:
    """Say what a model at Azure lacks, with the lines to write; its package names one thing at a time, and no remedy.

    Raises:
        ConfigError: something is missing.
    """
    given = {*settings.extra, *(name for name, value in os.environ.items() if value)}
    if settings.base_url is not None:
        given.add("azure_endpoint")
        given -= {"AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"}  # which never go to a server that settings name
    if settings.api_key_env is not None or NAMES["key"] in settings.extra:
        given.add("azure_ad_token")
    missing = [f"{what} ({line})" for names, what, line in AZURE if given.isdisjoint(names)]
    if missing:
        raise ConfigError(
            f"model {settings.use!r} lacks {', '.join(missing)}; write that in its table, where use is"
            ' "azure_openai:" with the name of your deployment'
        )


def named_in(provider: str, setting: str, settings: ModelSettings) -> str:
    """Give what a provider's package calls a setting of a model."""
    if setting == "reasoning":
        setting = "effort" if isinstance(settings.reasoning, str) else "budget"
        if provider == "anthropic" and setting == "budget":
            return "thinking"
    return {**NAMES, **OWN_NAMES.get(provider, {})}.get(setting, setting)


def in_dialect(provider: str, settings: ModelSettings) -> dict[str, Any]:
    """Give what a chat model of this provider is made with; what is not set is left out.

    Raises:
        ConfigError: the environment variable with the key is not set, or Azure lacks what it needs.
    """
    if provider == "azure_openai":
        _check_azure(settings)
    wanted = _wanted(settings)
    if provider == "anthropic" and "budget" in wanted:
        wanted["thinking"] = {"type": "enabled", "budget_tokens": wanted.pop("budget")}
    if provider == "ollama":  # it has one place for all that concerns HTTP
        headers = dict(wanted.pop("headers", {}))
        if (key := wanted.pop("key", NO_KEY)) != NO_KEY:
            headers["Authorization"] = f"Bearer {key}"
        wanted |= {"client_kwargs": {"headers": headers}} if headers else {}
    names = {**NAMES, **OWN_NAMES.get(provider, {})}
    return {
        **ONE_TRY.get(provider, {"max_retries": 0}),
        # else a server of one's own is not asked for the tokens that a stream has cost
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
    """Give the key; None: the provider's package reads it from its own environment variable."""
    if not settings.key_variables:
        return None if settings.base_url is None else NO_KEY
    return named_secret(settings.key_variables[0], "api_key_env")


def unknown_to(chat: Any, given: Mapping[str, Any]) -> list[str]:
    """Name what was given to a chat model that has no such field: its class passes it over in silence."""
    fields = type(chat).model_fields
    known = {*fields, *(field.alias for field in fields.values())}
    return [name for name in given if name not in known]
