"""The models that can be named: a name becomes settings, and settings become a LangChain chat model.

LangChain is imported where a model is opened, so that a wrong name is refused without it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from harbor._config.auction import ModelSettings
from harbor._core.errors import ConfigError, UnknownName, unknown
from harbor._core.extensions import REFERENCE
from harbor._core.finding import asked, find, names
from harbor._core.redaction import redact
from harbor._core.seeding import derive

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

PROVIDERS = {
    "openai": ("langchain_openai", "ChatOpenAI"),
    "anthropic": ("langchain_anthropic", "ChatAnthropic"),
    "ollama": ("langchain_ollama", "ChatOllama"),
}
"""Where each provider's chat model lives; the extra of the same name installs it."""


def settings_of(name: str, models: Mapping[str, ModelSettings], given: Iterable[str] = ()) -> ModelSettings:
    """Find the settings of a model named in `models`, or directly; `given` names others.

    It is "provider:name", an installed one such as "simulated", or "package.module:NAME".

    Raises:
        ConfigError: no such model; the message names the nearest.
    """
    settings = models.get(name) or ModelSettings(use=name)
    provider, colon, model = settings.use.partition(":")
    if provider in PROVIDERS and model:
        return settings
    if not colon or "." in provider:  # "package.module:NAME" has a dot there, and a provider has none
        with suppress(UnknownName):
            asked("model", settings.use)
            return settings
    known = {*models, *given, *names("model"), *(f"{key}:MODEL" for key in PROVIDERS)}
    hint = " (code has a dot before its colon: 'package.module:NAME')" if REFERENCE.fullmatch(settings.use) else ""
    raise ConfigError(unknown("model", settings.use, known - {settings.use}) + hint)


def open_chat(name: str, settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make the chat model of a name.

    Raises:
        ConfigError: its package is not installed, or it can't be made (a missing key, say).
    """
    provider, _, model = settings.use.partition(":")
    if provider not in PROVIDERS:
        return _made(settings, derive(seed, "model", name))
    module, kind = PROVIDERS[provider]
    try:
        chat = getattr(importlib.import_module(module), kind)
        made = chat(model=model, **_given(provider, settings))
    except ImportError as error:
        raise ConfigError(
            f"model {settings.use!r} needs {module}; run: pip install 'harbor-auctions[{provider}]'"
        ) from error
    except Exception as error:
        raise ConfigError(f"model {settings.use!r} can't be made: {_why(error)}; is its API key set?") from error
    return made  # type: ignore[no-any-return]


def _made(settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make the chat model of a value."""
    from langchain_core.language_models import BaseChatModel

    value = find("model", settings.use)
    try:
        made: object = value.make(settings, seed)
    except Exception as error:  # a stranger's code may raise anything
        raise ConfigError(f"model {settings.use!r} can't be made: {_why(error)}; mend it") from error
    if not isinstance(made, BaseChatModel):
        raise ConfigError(f"model {settings.use!r} is a {type(made).__name__}; make a LangChain chat model")
    return made


def _why(error: Exception) -> str:
    return (redact(str(error)).splitlines() or [type(error).__name__])[0].rstrip(".; ")


def _given(provider: str, settings: ModelSettings) -> dict[str, float]:
    """Give the settings that are given; the SDK's own retries are off, as the client retries."""
    found = {} if settings.temperature is None else {"temperature": settings.temperature}
    return found if provider == "ollama" else {**found, "max_retries": 0}
