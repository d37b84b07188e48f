"""Games of an experiment share people, agents and memories; settings that games can't share or state are refused."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.basics.errors import ConfigError, unknown
from harbor._doors.agent import is_chat_agent
from harbor._doors.door import Door
from harbor._house.people import Person
from harbor._models.replies.cache import is_cached
from harbor._runs.inputs import Listener, anybody_remembers
from harbor._runs.resolve import models_of
from harbor.evaluation._experiments.trials import Trial
from harbor.memory._store.place import is_url

if TYPE_CHECKING:
    from harbor.evaluation._running.options import ExperimentOptions

R = TypeVar("R")


class Host(Protocol):
    """Asks the person who plays a bidder during the game that `begin` runs.

    `begin` takes the listener of the game's log, and the person by its bidder's name.
    """

    def __call__(self, bidder: Bidder, begin: Callable[[Listener, Mapping[str, Person]], Awaitable[R]]) -> Awaitable[R]:
        """Run the game; EOFError: the person no longer answers, and the game can be resumed."""
        ...


def check_shared(
    planned: Sequence[Trial], options: ExperimentOptions, host: Host | None, agents: Mapping[str, Any]
) -> None:
    """Refuse games that can't run with these options and the people, agents and memories that they share.

    Raises:
        ConfigError: the message names the bidder, and the arm.
    """
    _check_people(planned, options.executor, options.lane, host)
    _check_agents(planned, options.executor, agents)
    _check_memories(planned, options.executor)


def _check_people(planned: Iterable[Trial], executor: str, lane: str, host: Host | None) -> None:
    """Refuse games with a person that nothing could ask.

    Raises:
        ConfigError: the message names the bidder, and the arm.
    """
    for trial in planned:
        if (person := trial.person) is None:
            continue
        who = f"bidder {person.name!r} of arm {trial.arm!r} is played by a person"
        if executor != "asyncio":
            raise ConfigError(f"{who}, whom the workers of executor {executor!r} can't ask; take executor 'asyncio'")
        if lane == "batch":
            raise ConfigError(f"{who}, who can't wait for a batch of calls; take lane 'live'")
        if host is None:
            raise ConfigError(f"{who}, and there is neither a terminal nor a pipe to ask it; run this at a terminal")


def _check_agents(planned: Iterable[Trial], executor: str, agents: Mapping[str, Any]) -> None:
    """Refuse games with an agent that is missing, or that other processes or games could not have.

    Raises:
        ConfigError: the message names the bidder, and the arm.
    """
    seats = [(bidder, trial.arm) for trial in planned for bidder in trial.config.bidders]
    names = dict.fromkeys(bidder.name for bidder, _ in seats)
    if names and (strange := next((name for name in agents if name not in names), "")):
        raise ConfigError(f"agents: {unknown('bidder', strange, names)}")
    for bidder, arm in ((bidder, arm) for bidder, arm in seats if bidder.agent is True):
        who, given = f"bidder {bidder.name!r} of arm {arm!r} is played by an agent of yours", agents.get(bidder.name)
        if given is None:
            raise ConfigError(f"{who}; give it as agents=... in Python, or name it as 'package.module:NAME'")
        if executor != "asyncio":
            raise ConfigError(
                f"{who}, which the workers of executor {executor!r} do not have; name it as 'package.module:NAME', or"
                " take executor 'asyncio'"
            )
        if is_chat_agent(given) or isinstance(given, Door):
            raise ConfigError(f"{who}, and its games would share it; give an Agent, whose make gives one for each game")


def _check_memories(planned: Iterable[Trial], executor: str) -> None:
    """Refuse games that can't share a store of memories, or would recall other games' memories.

    Raises:
        ConfigError: the message names the arm.
    """
    for trial in planned:
        memory = trial.config.memory
        if memory.store is None or not anybody_remembers(trial.config):
            continue
        if executor != "asyncio" and not is_url(memory.store):
            raise ConfigError(
                f"the games of arm {trial.arm!r} share the memory in {memory.store!r}, which the workers of executor"
                f" {executor!r} can't open at the same time; take executor 'asyncio', or run `chroma run --path"
                f" {shlex.quote(memory.store)}` and give its address as memory.store"
            )
        if memory.carry_over is True and not memory.frozen:
            raise ConfigError(
                f"the games of arm {trial.arm!r} share the memory in {memory.store!r}, so each would recall those that"
                ' happened to end before it; write memory.carry_over = "series" (or false), or memory.frozen = true'
            )


def given_to(config: AuctionConfig, agents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the agents that have a seat in a game."""
    return {bidder.name: agents[bidder.name] for bidder in config.bidders if bidder.agent is True}


def check_stated(first: Iterable[Trial]) -> None:
    """Refuse a new experiment that states a setting which a model of its first trials does not accept.

    This is known from the answers of the model, or from the package or the profile of its provider.

    Raises:
        ConfigError: it states one; the message names the model and the remedy.
    """
    models = {(name, one.model_dump_json()): one for trial in first for name, one in models_of(trial.config).items()}
    for (name, _), settings in models.items():
        if not settings.must_take or not is_cached(settings):
            continue
        from harbor._models.calls.forms import (
            Forms,  # imported here: games of scripts need no LangChain
            remedy_of,
        )
        from harbor._models.connections import known_to
        from harbor._models.providers import open_keyless

        chat = open_keyless(name, settings, 0)
        free = Forms(chat, settings.model_copy(update={"must_take": ()}), known_to(chat, settings))
        unable = {"temperature"} if (chat.profile or {}).get("temperature") is False else set()
        if refused := sorted({*free.not_taken, *unable}.intersection(settings.must_take)):
            raise ConfigError(f"model {name!r} ({settings.use}): {remedy_of(name, refused[0])}")
