"""The models that can be named: a name becomes settings, and settings become a LangChain chat model.

LangChain is imported where a model is opened, so that a wrong name is refused without it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from harbor._config.auction import ModelSettings
from harbor._core.errors import ConfigError, unknown
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
    """Find the settings of a model named in `models`, or as "simulated" or "provider:name"; `given` names others.

    Raises:
        ConfigError: no such model; the message names the nearest.
    """
    settings = models.get(name) or ModelSettings(use=name)
    provider, _, model = settings.use.partition(":")
    if settings.use != "simulated" and (provider not in PROVIDERS or not model):
        names = {*models, *given, "simulated", *(f"{key}:MODEL" for key in PROVIDERS)}
        raise ConfigError(unknown("model", settings.use, names - {settings.use}))
    return settings


def open_chat(name: str, settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make the chat model of a name.

    Raises:
        ConfigError: its package is not installed, or it can't be made (a missing key, say).
    """
    if settings.use == "simulated":
        from harbor._models.simulated.chat_model import SimulatedChat

        return SimulatedChat(settings=settings.simulated, seed=derive(seed, "model", name))
    provider, _, model = settings.use.partition(":")
    module, kind = PROVIDERS[provider]
    try:
        chat = getattr(importlib.import_module(module), kind)
        made = chat(model=model, temperature=settings.temperature, **_retries(provider, settings))
    except ImportError as error:
        raise ConfigError(
            f"model {settings.use!r} needs {module}; run: pip install 'harbor-auctions[{provider}]'"
        ) from error
    except Exception as error:
        complaint = (redact(str(error)).splitlines() or [type(error).__name__])[0].rstrip(".; ")
        raise ConfigError(f"model {settings.use!r} can't be made: {complaint}; is its API key set?") from error
    return made  # type: ignore[no-any-return]


def _retries(provider: str, settings: ModelSettings) -> dict[str, int]:
    """Give the retries of a hosted model; a local one has no such setting."""
    return {} if provider == "ollama" else {"max_retries": settings.retries}
