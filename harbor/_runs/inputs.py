"""The inputs of a run that are no settings: objects that the caller passes, such as chat models and agents."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.basics.errors import ConfigError, Unanswered
from harbor._core.basics.feedback import SIMULATED, block, seen_with, table
from harbor._core.basics.loops import run_kept
from harbor._core.basics.numbers import counted, dollars
from harbor._core.basics.redaction import known_secrets_of
from harbor._core.log.acts import Tried
from harbor._core.log.events import ModelCalled, ThoughtFailed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.players import AGENT
from harbor._doors.agent import Agent, complaint
from harbor._house.people import Person
from harbor.evaluation._metrics.summary import Summary, summarise

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from harbor._models.batch.lane import BatchGame
    from harbor._models.budget import RunBudget
    from harbor._models.governor.terms import Governor
    from harbor._models.replies.cache import ReplyCache


class Given(TypedDict, total=False):
    """The keyword arguments of `run`, `arun`, `stream`, `run_series` and `resume`.

    `models` are chat models by the names that bidders use. `agents` are agents, and `people` are `Person` objects, by
    the names of the bidders that they play. An agent is a plain or async function that takes one turn, a LangChain
    Runnable, an AutoGen chat agent, or an `Agent`.

    `max_cost` limits the cost of the run's model calls, in dollars; calls before a resumption count too. `cache` keeps
    the replies of hosted models, so that no reply is paid for twice (left out: replies are not kept). If `max_cost` or
    `cache` is left out when a run is resumed, the value from before applies.
    """

    models: Mapping[str, BaseChatModel]
    agents: Mapping[str, Any]
    people: Mapping[str, Person]
    max_cost: float | None
    cache: ReplyCache | None


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The inputs of a run that are no settings: chat models by the names that bidders use, agents and people by bidder.

    `max_cost` limits the cost of model calls, in dollars. `budget` enforces that limit; it is made from `max_cost`
    unless a caller that starts several runs passes a common one. `governor` decides when a call may start (None: the
    governor of this process). `age` is the rank of the game among others: calls of the game with the lowest age start
    first. `cache` keeps the replies of hosted models (None: they are not kept). With `batch`, calls of hosted models
    wait for calls of other games and are sent together with them.
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
        """Refuse inputs that no bidder uses or that have the wrong type.

        Raises:
            ConfigError: an input is refused; the message names it.
        """
        if self.cache is not None:
            from harbor._models.replies.cache import ReplyCache

            if not isinstance(self.cache, ReplyCache):
                raise ConfigError(f"run(cache=...) gives {self.cache!r}; give a ReplyCache, such as ReplyCache()")
        _check("people", self.people, Person, [bidder.name for bidder in config.bidders if bidder.person])
        if self.models:  # import a framework only if an input needs it
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
    """Return the names of the models that bidders use, and of their fallbacks."""
    own = dict.fromkeys(bidder.model for bidder in config.bidders if bidder.uses_model)
    others = [config.models[name].fallback for name in own if name in config.models]
    return list(dict.fromkeys([*own, *filter(None, others)]))


def people_of(config: AuctionConfig) -> dict[str, Person]:
    """Return a person for every seat that needs one, for checks in which nobody plays."""
    return {bidder.name: Person() for bidder in config.bidders if bidder.person}


def agents_of(config: AuctionConfig) -> dict[str, object]:
    """Return an agent for every seat that needs one from the caller, for checks in which nobody plays."""
    return {bidder.name: len for bidder in config.bidders if bidder.agent is True}


def anybody_remembers(config: AuctionConfig) -> bool:
    """Return whether any bidder uses a store of memories."""
    return any(bidder.remembers for bidder in config.bidders)


def _check(what: str, given: Mapping[str, Any], kind: type, wanted: Collection[str]) -> None:
    for name, value in given.items():
        if name not in wanted:
            raise ConfigError(f"run({what}=...) gives {name!r}, which no bidder uses; {_remedy(wanted)}")
        if not isinstance(value, kind):
            raise ConfigError(f"run({what}=...) gives {value!r} for {name!r}; give an object of {kind.__name__}")


def _remedy(wanted: Collection[str]) -> str:
    return f"give one of {sorted(wanted)}" if wanted else "drop it, as none needs to be given"


T = TypeVar("T")
Listener = Callable[[Entry], None]
LONGEST_REASON = 300
"""The greatest number of characters that are shown of the reason why replies could not be used."""


@dataclass(frozen=True)
class Result:
    """A finished auction: the entries of its log, and the folder of the run (None: the run was kept in memory only).

    >>> house = Item(name="Loft", start=100, true_value=120)
    >>> result = Auction(items=(house,), bidders=(Bidder("Ann", rule="truthful"),)).run()
    >>> result.standings[0].spent, result.folder
    (Decimal('100'), None)
    """

    log: tuple[Entry, ...]
    folder: Path | None

    @property
    def standings(self) -> Sequence[Any]:
        """The results of the bidders, best first; each result is a dataclass whose fields depend on the game."""
        return self.metrics().standings

    def metrics(self) -> Summary:
        """Return the summary of the auction: the standings, the result of each item, model calls and failures."""
        return summarise(self.log)

    def _repr_html_(self) -> str:
        """Return the standings as HTML for a notebook."""
        summary = self.metrics()
        rows = [asdict(row) for row in summary.standings]
        heads = list(rows[0]) if rows else []
        cells = [[cell_of(row[name]) for name in heads] for row in rows]
        standings = table([name.replace("_", " ") for name in heads], cells)
        notes = (SIMULATED if summary.simulated else "", summary.unheeded)
        return block(f"Standings of {summary.run}", notes, standings, seen_with(self.folder))


def cell_of(value: object) -> str:
    """Return a number or a name of a standing as text."""
    if isinstance(value, Decimal):
        return dollars(value)
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def answered(result: Result) -> Result:
    """Return the result of a run unchanged, unless a model gave no usable answer in the run.

    Raises:
        Unanswered: all model calls have failed, or none of the answers of one model could be used.
    """
    made = [call for call in of_type(result.log, ModelCalled) if call.purpose != AGENT]
    if made and all(call.outcome == "failed" for call in made):
        raise Unanswered(f"no model has answered any of {len(made)} calls; calls.jsonl of the run says why")
    for model in dict.fromkeys(call.model for call in made):
        outcomes = Counter(call.outcome for call in made if call.model == model)
        if not outcomes["ok"] and (unusable := outcomes["unreadable"] + outcomes["refused"]):
            bidders = {call.bidder for call in made if call.model == model}
            refused = f" ({outcomes['refused']} refused)" if outcomes["refused"] else ""
            raise Unanswered(
                f"none of {counted(unusable, 'answer')} of model {model!r} could be used{refused}, so what its bidders"
                f" did is no play of it; most often: {_most_often(result.log, bidders)}; calls.jsonl has its replies;"
                " give its bidders another model, in a new run"
            )
    return result


def _most_often(log: Sequence[Entry], bidders: set[str]) -> str:
    """Return the most frequent reason why replies could not be used."""
    bids = [one.reason for one in of_type(log, Tried) if one.bidder in bidders]
    thoughts = [one.detail for one in of_type(log, ThoughtFailed) if one.bidder in bidders]
    reasons = Counter(bids or thoughts).most_common(1)
    return reasons[0][0][:LONGEST_REASON] if reasons else "no reason is told"


def finish(work: Coroutine[Any, Any, T], refusal: str, remedy: str) -> T:
    """Run a coroutine to its end, outside any event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_kept(work)
    work.close()
    raise ConfigError(f"{refusal} in a running event loop, as in a notebook; use: {remedy}")
