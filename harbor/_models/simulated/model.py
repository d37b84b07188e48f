"""The built-in model as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._config.auction import ModelSettings
from harbor._models.model import Model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def make(settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make the chat model."""
    from harbor._models.simulated.chat_model import SimulatedChat  # LangChain comes with it

    return SimulatedChat(settings=settings.simulated, seed=seed)


SIMULATED = Model(name="simulated", description="the built-in model, which plays by arithmetic, offline", make=make)
