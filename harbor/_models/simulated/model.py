"""The built-in model as an extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._config.models import BUILT_IN, GIVEN, ModelSettings
from harbor._models.providers import Model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def make(settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make the built-in chat model."""
    from harbor._models.simulated.chat_model import SimulatedChat  # it imports LangChain, which is slow

    return SimulatedChat(settings=settings.simulated, seed=seed)


def use_of(chat: BaseChatModel) -> str:
    """Return the setting `use` for a chat model that was given as an object: "simulated" or "given"."""
    from harbor._models.simulated.chat_model import SimulatedChat

    return BUILT_IN if isinstance(chat, SimulatedChat) else GIVEN


SIMULATED = Model(name="simulated", description="the built-in model, which plays by arithmetic, offline", make=make)
