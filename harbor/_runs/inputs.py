"""What a caller gives a run beside the settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from harbor._config.auction import AuctionConfig
from harbor._core.errors import ConfigError
from harbor._core.redaction import known_secrets_of
from harbor._house.people import Person

if TYPE_CHECKING:
    from autogen_agentchat.base import ChatAgent
    from langchain_core.language_models import BaseChatModel

    from harbor._models.batch.lane import BatchGame
    from harbor._models.budget import RunBudget
    from harbor._models.cache import ReplyCache
    from harbor._models.governor.terms import Governor


class Given(TypedDict, total=False):
    """What `run` and its kin take by name: chat models by the name that bidders use, agents and people by bidder.

    `max_cost` is what the calls of the models may cost, in dollars; earlier sessions count.
    `cache` keeps the replies of hosted models, so that none is bought twice (left out: nothing is kept).
    """

    models: Mapping[str, BaseChatModel]
    agents: Mapping[str, ChatAgent]
    people: Mapping[str, Person]
    max_cost: float | None
    cache: ReplyCache | None


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Chat models by the name that bidders use; AutoGen agents and people by bidder; what calls may cost, in dollars.

    `budget` keeps the limit; it is made of `max_cost` unless a caller that has several runs gives it. `governor` lets
    calls start (None: that of this process); `age` is that of the game, and the lowest goes first. `cache` keeps
    replies of hosted models (None: nothing is kept). With `batch`, calls of hosted models wait to go out with those of
    other games.
    """

    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    agents: Mapping[str, ChatAgent] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    max_cost: float | None = None
    budget: RunBudget | None = None
    governor: Governor | None = None
    age: tuple[int, ...] = ()
    cache: ReplyCache | None = None
    batch: BatchGame | None = None

    def check(self, config: AuctionConfig) -> None:
        """Refuse what no bidder uses, and what has the wrong type.

        Raises:
            ConfigError: it names the thing.
        """
        if self.cache is not None:
            from harbor._models.cache import ReplyCache

            if not isinstance(self.cache, ReplyCache):
                raise ConfigError(f"run(cache=...) gives {self.cache!r}; give a ReplyCache, such as ReplyCache()")
        _check("people", self.people, Person, [bidder.name for bidder in config.bidders if bidder.person])
        if self.models:  # the frameworks are imported only where something of theirs is given
            from langchain_core.language_models import BaseChatModel

            _check("models", self.models, BaseChatModel, models_in_use(config))
            for chat in self.models.values():
                known_secrets_of(chat)
        if self.agents:
            from autogen_agentchat.base import ChatAgent

            _check("agents", self.agents, ChatAgent, [bidder.name for bidder in config.bidders if bidder.agent is True])


def models_in_use(config: AuctionConfig) -> list[str]:
    """Name the models that bidders use."""
    return list(dict.fromkeys(bidder.model for bidder in config.bidders if bidder.uses_model))


def anybody_remembers(config: AuctionConfig) -> bool:
    """Say whether any bidder has a use for a store of memories."""
    return any(bidder.remembers for bidder in config.bidders)


def _check(what: str, given: Mapping[str, Any], kind: type, wanted: Collection[str]) -> None:
    for name, value in given.items():
        if name not in wanted:
            raise ConfigError(f"run({what}=...) gives {name!r}, which no bidder uses; give one of {sorted(wanted)}")
        if not isinstance(value, kind):
            raise ConfigError(f"run({what}=...) gives {value!r} for {name!r}; give an object of {kind.__name__}")
