"""What the caller of a run gives beside the settings, checked before anything is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from autogen_agentchat.base import ChatAgent
from langchain_core.language_models import BaseChatModel

from harbor._config.auction import AuctionConfig, ModelSettings
from harbor._core.errors import ConfigError
from harbor._house.people import Person
from harbor._models.providers import open_chat, settings_of
from harbor._models.replay import CallBudget


@dataclass(frozen=True)
class RunInputs:
    """Chat models by the name that bidders use; AutoGen agents and people by bidder; who pays for the calls."""

    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    agents: Mapping[str, ChatAgent] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    budget: CallBudget | None = None

    def check(self, config: AuctionConfig) -> None:
        """Refuse what no bidder uses, and miss what a bidder needs.

        Raises:
            ConfigError: it names the thing.
        """
        _check("models", self.models, BaseChatModel, models_in_use(config))
        _check("agents", self.agents, ChatAgent, [bidder.name for bidder in config.bidders if bidder.agent])
        _check("people", self.people, Person, [bidder.name for bidder in config.bidders if bidder.person])
        for bidder in config.bidders:
            if bidder.person and bidder.name not in self.people:
                raise ConfigError(
                    f"bidder {bidder.name!r} is played by a person; use: harbor play, or give it to run(people=...)"
                )
            if bidder.agent and bidder.name not in self.agents:
                raise ConfigError(f"bidder {bidder.name!r} is played by an agent of yours; give it to run(agents=...)")
        for name in config.models.keys() - self.models.keys():
            settings_of(name, config.models)

    def open_models(self, config: AuctionConfig) -> dict[str, tuple[BaseChatModel, ModelSettings]]:
        """Give every chat model in use, with its settings.

        Raises:
            ConfigError: one can't be made.
        """
        return {name: self._model(name, config) for name in models_in_use(config)}

    def _model(self, name: str, config: AuctionConfig) -> tuple[BaseChatModel, ModelSettings]:
        if name in self.models:
            settings = config.models.get(name) or ModelSettings()
            return self.models[name], settings.model_copy(update={"use": "given"})
        settings = settings_of(name, config.models, self.models)
        return open_chat(name, settings, config.seed), settings


def models_in_use(config: AuctionConfig) -> list[str]:
    """Name the models of all bidders that have a mind."""
    return list(dict.fromkeys(bidder.model for bidder in config.bidders if bidder.uses_model))


def _check(what: str, given: Mapping[str, Any], kind: type, wanted: Collection[str]) -> None:
    for name, value in given.items():
        if name not in wanted:
            raise ConfigError(f"run({what}=...) gives {name!r}, which no bidder uses; give one of {sorted(wanted)}")
        if not isinstance(value, kind):
            raise ConfigError(f"run({what}=...) gives {value!r} for {name!r}; give an object of {kind.__name__}")
