"""What a caller gives a run beside the settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.errors import ConfigError
from harbor._core.redaction import known_secrets_of
from harbor._doors.agent import Agent
from harbor._doors.makes import complaint
from harbor._house.people import Person

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from harbor._models.batch.lane import BatchGame
    from harbor._models.budget import RunBudget
    from harbor._models.governor.terms import Governor
    from harbor._models.replies.cache import ReplyCache


class Given(TypedDict, total=False):
    """What `run` and its kin take by name: chat models by the name that bidders use, agents and people by bidder.

    An agent is a plain or async function of one turn, a LangChain Runnable, an AutoGen chat agent, or an `Agent`.

    `max_cost` is what the calls of the models may cost, in dollars; earlier sessions count.
    `cache` keeps the replies of hosted models, so that none is bought twice (left out: nothing is kept). A run that is
    resumed has the `max_cost` and `cache` that it was begun with, if they are left out.
    """

    models: Mapping[str, BaseChatModel]
    agents: Mapping[str, Any]
    people: Mapping[str, Person]
    max_cost: float | None
    cache: ReplyCache | None


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Chat models by the name that bidders use; agents of any make and people by bidder.

    `max_cost` is what calls may cost, in dollars. `budget` keeps that limit; it is made of `max_cost` unless a caller
    that has several runs gives it. `governor` lets calls start (None: that of this process); `age` is that of the game,
    and the lowest goes first. `cache` keeps replies of hosted models (None: nothing is kept). With `batch`, calls of
    hosted models wait to go out with those of other games.
    """

    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    agents: Mapping[str, Any] = field(default_factory=dict)
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
            from harbor._models.replies.cache import ReplyCache

            if not isinstance(self.cache, ReplyCache):
                raise ConfigError(f"run(cache=...) gives {self.cache!r}; give a ReplyCache, such as ReplyCache()")
        _check("people", self.people, Person, [bidder.name for bidder in config.bidders if bidder.person])
        if self.models:  # the frameworks are imported only where something of theirs is given
            from langchain_core.language_models import BaseChatModel

            _check("models", self.models, BaseChatModel, models_in_use(config))
            for chat in self.models.values():
                known_secrets_of(chat)
        self._check_agents(config.bidders)

    def _check_agents(self, bidders: Sequence[Bidder]) -> None:
        for name in [bidder.name for bidder in bidders if bidder.agent is not True and bidder.name in self.agents]:
            raise ConfigError(f"run(agents=...) gives {name!r} an agent; write Bidder({name!r}, agent=True) to have it")
        _check("agents", self.agents, object, [bidder.name for bidder in bidders if bidder.agent is True])
        for name, value in self.agents.items():
            if isinstance(value, str | Mapping):
                raise ConfigError(
                    f"run(agents=...): what is given for {name!r} is a setting; write Bidder({name!r}, agent=...)"
                    " with it"
                )
            if not isinstance(value, Agent) and (wrong := complaint(value)):
                raise ConfigError(f"run(agents=...): what is given for {name!r} {wrong}")


def models_in_use(config: AuctionConfig) -> list[str]:
    """Name the models that bidders use, and those that answer in their place."""
    own = dict.fromkeys(bidder.model for bidder in config.bidders if bidder.uses_model)
    others = [config.models[name].fallback for name in own if name in config.models]
    return list(dict.fromkeys([*own, *filter(None, others)]))


def people_of(config: AuctionConfig) -> dict[str, Person]:
    """Give a person for every seat that wants one, for checks in which nobody plays."""
    return {bidder.name: Person() for bidder in config.bidders if bidder.person}


def agents_of(config: AuctionConfig) -> dict[str, object]:
    """Give an agent for every seat that wants to be given one, for checks in which nobody plays."""
    return {bidder.name: len for bidder in config.bidders if bidder.agent is True}


def anybody_remembers(config: AuctionConfig) -> bool:
    """Say whether any bidder has a use for a store of memories."""
    return any(bidder.remembers for bidder in config.bidders)


def _check(what: str, given: Mapping[str, Any], kind: type, wanted: Collection[str]) -> None:
    for name, value in given.items():
        if name not in wanted:
            raise ConfigError(f"run({what}=...) gives {name!r}, which no bidder uses; {_remedy(wanted)}")
        if not isinstance(value, kind):
            raise ConfigError(f"run({what}=...) gives {value!r} for {name!r}; give an object of {kind.__name__}")


def _remedy(wanted: Collection[str]) -> str:
    return f"give one of {sorted(wanted)}" if wanted else "drop it, as none needs to be given"
