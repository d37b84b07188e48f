"""The model of a bidder in somebody else's app."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from harbor._config.auction import Bidder
from harbor._config.models import ModelSettings
from harbor._core.errors import ConfigError
from harbor._models.calls.client import ModelClient
from harbor._models.calls.line import Line
from harbor._models.opened import OpenModel
from harbor._models.providers import open_chats, settings_of
from harbor._models.simulated.model import use_of
from harbor.graphs._context.context import form_of

AnyModel = str | ModelSettings | BaseChatModel | None
"""A name ("openai:gpt-5", "simulated"), settings, or a LangChain chat model; None: as the bidder's settings say."""


def client_of(bidder: Bidder, model: AnyModel, seed: int) -> ModelClient:
    """Open the model of a bidder.

    Raises:
        ConfigError: no model plays this bidder, there is no such model, or it can't be opened.
    """
    if not bidder.uses_model:
        raise ConfigError(f"bidder {bidder.name!r} has a player that is no model; drop its rule, agent or person")
    if isinstance(model, BaseChatModel):
        return ModelClient(bidder.name, bidder.model, model, ModelSettings(use=use_of(model)), reply=form_of(bidder))
    given = model if isinstance(model, ModelSettings) else ModelSettings(use=model or bidder.model)
    settings = settings_of(given.use, {given.use: given})
    if settings.fallback is not None:
        raise ConfigError(f"model {given.use!r} has a fallback, which a bidder in an app can't ask; drop it")
    opened = OpenModel.of(given.use, open_chats(given.use, settings, seed), settings, None)
    return ModelClient(bidder.name, given.use, opened.chat, settings, pool=opened.pool(Line), reply=form_of(bidder))
