"""Runs a resolved auction: makes a sale and a log, and returns a result. A limit in dollars pauses the run.

Auctions of scripted policies alone need no event loop and import no framework. A paused run can be resumed with more
money.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Container, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from harbor._config.auction import AuctionConfig
from harbor._config.models import ModelSettings
from harbor._core.basics.errors import ConfigError, LimitReached
from harbor._core.basics.numbers import cost_in_words
from harbor._core.files.layout import CALLS, CALLS_DAMAGED, EVENTS, EVENTS_CUT
from harbor._core.log.events import NO_REQUESTS
from harbor._core.log.log import Log
from harbor._core.log.players import AGENT
from harbor._core.plugins.finding import found
from harbor._doors.agent import agent_of
from harbor._house.auctioneer import Sale, auction_loop
from harbor._house.plain import carry, never_waits
from harbor._models.budget import RunBudget, check_limit, check_prices, cost_of, first_cost
from harbor._models.providers import open_chats, open_keyless
from harbor._models.replies.cache import is_cached
from harbor._models.replies.replay import CallKey, RawCall, ReplayCache
from harbor._runs.folder import RunFolder, run_name
from harbor._runs.inputs import Listener, Result, RunInputs, answered, anybody_remembers
from harbor._runs.manifest import options_of
from harbor._runs.opening import opened_sale, rehearse, warn_of_idle_profiles
from harbor._runs.raw_calls import content_of, recorded_calls
from harbor._runs.resolve import ResolvedAuction, models_of, resolve

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.store.base import BaseStore

T = TypeVar("T")
_IS_CALL = b'"type":"model_called"'
"""Bytes in each line of a log that tells of a model call; searching for them is faster than parsing."""


def paid_for(path: Path, models: Mapping[str, ModelSettings]) -> float:
    """Return the cost of all calls recorded below a folder, in dollars.

    Unreadable calls are rather overestimated. A call that only the log has costs the amount in the log. A damaged line
    costs as much as the dearest call beside it.
    """
    folders = {file.parent for name in (CALLS, EVENTS) for file in path.rglob(name)}
    return sum(_paid_in(folder, models) for folder in folders)


def _paid_in(folder: Path, models: Mapping[str, ModelSettings]) -> float:
    found = recorded_calls(folder / CALLS)
    told = _told(folder / EVENTS) | _told(folder / EVENTS_CUT)
    costs = [cost_of(call, models) for call in _with_lost_once(found.calls, told)]
    dearest = max(costs, default=0.0) or first_cost(models)
    lost = [told[key] for key in told.keys() - {call.key for call in found.calls}]
    damaged = b"\n".join(line for _, line in found.damaged) + b"\n" + content_of(folder / CALLS_DAMAGED)
    hidden = max(0, found.hidden_in(damaged) - len(lost))
    return sum(costs) + sum(dearest if cost is None else cost for cost in lost) + hidden * dearest


def _with_lost_once(calls: Sequence[RawCall], told: Container[CallKey]) -> Iterator[RawCall]:
    """Yield the calls, but count lost requests once: a call that was cut short and made anew has them twice."""
    last = {call.question: number for number, call in enumerate(calls)}
    for number, call in enumerate(calls):
        taken_over = call.outcome == "failed" and call.key not in told and number < last[call.question]
        yield replace(call, probes=NO_REQUESTS, lost=NO_REQUESTS) if taken_over else call


def _told(log: Path) -> dict[CallKey, float | None]:
    """Return the cost of the bidders' calls in a log, as far as the log can be read; None: the cost is unknown."""
    costs = {}
    for line in content_of(log).split(b"\n"):
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            if _IS_CALL in line and (told := json.loads(line))["purpose"] != AGENT:
                beside = sum(told.get(kind, {}).get("cost_dollars") or 0.0 for kind in ("probes", "lost"))
                cost = told["cost_dollars"]
                key = told["bidder"], told["purpose"], told["attempt"], told["began"]
                costs[key] = None if cost is None else float(cost) + beside
    return costs


def calls_in(path: Path) -> Iterator[RawCall]:
    """Yield all calls recorded below a folder, as far as they can be read."""
    return (call for calls in path.rglob(CALLS) for call in recorded_calls(calls).calls)


def funded(
    config: AuctionConfig,
    inputs: RunInputs,
    folder: Path | None = None,
    settled: Mapping[str, ModelSettings] | None = None,
) -> RunInputs:
    """Return the inputs with a budget, if they have a limit; earlier payments of the run in `folder` count.

    `settled` are the models, if they are known already.

    Raises:
        ConfigError: the limit can't be kept.
    """
    if inputs.max_cost is None or inputs.budget is not None:
        return inputs
    check_limit(inputs.max_cost)
    models = models_of(config, inputs) if settled is None else settled
    check_prices(models)
    return replace(inputs, budget=RunBudget(inputs.max_cost, models, paid_for(folder, models) if folder else 0.0))


def check_left(budget: RunBudget | None) -> None:
    """Refuse to play if earlier sessions have used up the limit.

    Raises:
        LimitReached: it says how much they have spent.
    """
    if budget is not None and budget.used_up:
        raise LimitReached(f"the limit of {cost_in_words(budget.dollars)} is used up, as {_spent(budget)}")


async def within(budget: RunBudget | None, work: Coroutine[Any, Any, T]) -> T:
    """Wait for a run; without a budget nothing limits it.

    Raises:
        LimitReached: the budget is used up, and the run has stopped with no call under way.
    """
    if budget is None:
        return await work
    running = asyncio.ensure_future(work)
    budget.stop = running.cancel
    try:
        return await running
    except asyncio.CancelledError:
        waiting = asyncio.current_task()
        if waiting is None or waiting.cancelling() or not budget.used_up:
            raise
        raise LimitReached(f"the limit of {cost_in_words(budget.dollars)} is reached, as {_spent(budget)}") from None


def _spent(budget: RunBudget) -> str:
    return f"{cost_in_words(budget.spent)} are spent"


R_co = TypeVar("R_co", covariant=True)
TURNS_AT_ONCE = 50
"""Turns of scripts that are played before other work of the event loop, such as Ctrl-C, gets its turn."""


class Startable(Protocol[R_co]):
    """A checked run or series that is ready to start; `config` is kept in its folder."""

    config: AuctionConfig
    inputs: RunInputs

    def run(
        self, folder: RunFolder | None, listen: Listener | None, store: BaseStore | None = None
    ) -> Coroutine[Any, Any, R_co]:
        """Run to the end, from the beginning or from the point of interruption."""
        ...


async def start(run: Startable[R_co], out: Path | None = None, listen: Listener | None = None) -> R_co:
    """Begin a run in a new folder, or in memory.

    Raises:
        RunFolderError: the folder exists or can't be made.
        MemoryStoreError: the store of the memories can't be opened.
        RunPaused: a provider can't be reached, or the run has reached its limit of cost.
    """
    async with _named_memories(run.config) as store:
        if out is None:
            return await within(run.inputs.budget, run.run(None, listen, store))
        with closing(RunFolder.make(out, run.config, options=options_of(run.inputs))) as folder:
            return await within(run.inputs.budget, run.run(folder, listen, store))


def _named_memories(config: AuctionConfig) -> AbstractAsyncContextManager[BaseStore | None]:
    """Open the store that the settings name, if any. This comes before the run's folder, because opening may fail."""
    if config.memory.store is None or not anybody_remembers(config):
        return nullcontext()
    from harbor._runs.memories import memories

    return memories(config, None)


class Run:
    """An auction that is ready to start: settings are resolved, models are made, and the embedding is there.

    `scripted` says whether scripted policies alone play the auction.

    Raises:
        ConfigError: a setting is refused.
    """

    def __init__(self, config: AuctionConfig, inputs: RunInputs) -> None:
        if config.series is not None:
            raise ConfigError("the config is of a series of auctions; run it with: harbor.run_series(config)")
        auction = resolve(config, inputs)
        self.inputs = funded(config, inputs, settled=auction.models)
        self.auction = replace(auction, inputs=self.inputs)
        game = found("game", config.rules.game)
        rehearse(game, self.auction)
        warn_of_idle_profiles(game.value, self.auction)
        self.config = self.auction.config
        self.scripted = all(never_waits(bidder.policy) for bidder in self.auction.bidders)
        self.chats = {
            name: {"": _of_this_run(inputs.models[name])}
            if name in inputs.models
            else _open(name, settings, self.auction)
            for name, settings in self.auction.models.items()
        }
        seated = [bidder for bidder in config.bidders if bidder.agent]
        self.agents = {bidder.name: agent_of(bidder, inputs.agents.get(bidder.name)) for bidder in seated}
        if anybody_remembers(config):
            from harbor.memory._store.embedding import as_embedding

            as_embedding(config.memory.embedding)
        for item in self.auction.items:
            if item.true_value < item.start:
                warnings.warn(f"item {item.name!r} is worth less than its starting price", stacklevel=4)

    async def run(
        self,
        folder: RunFolder | None,
        listen: Listener | None,
        store: BaseStore | None = None,
        name: str = "",
        series: str = "",
    ) -> Result:
        """Run the auction from the beginning or, in a reopened folder, from the point of interruption.

        Memories go in `store`, or in the one that the settings name. `name` is that of the run (default: that of its
        folder), and `series` that of its series with its token.
        """
        with self._opened(folder, listen, name) as sale:
            if self.scripted:
                for turn in self._turns(sale, folder):
                    if turn % TURNS_AT_ONCE == 0:
                        await asyncio.sleep(0)
            else:
                from harbor._runs.seating import hold_in_room

                await hold_in_room(self.auction, self.chats, self.agents, sale, folder, store, series)
            return answered(Result(tuple(sale.log.entries), folder.path if folder else None))

    def play(self, out: Path | None, listen: Listener | None) -> Result:
        """Run a `scripted` auction in a new folder or in memory, without an event loop.

        Raises:
            RunFolderError: the folder exists or can't be made.
        """
        kept = options_of(self.inputs)
        in_folder = closing(RunFolder.make(out, self.config, options=kept)) if out else nullcontext()
        with in_folder as folder, self._opened(folder, listen) as sale:
            for _ in self._turns(sale, folder):
                pass
            return Result(tuple(sale.log.entries), out)

    @contextmanager
    def _opened(self, folder: RunFolder | None, listen: Listener | None, name: str = "") -> Iterator[Sale[Any]]:
        """Open the log and write the labels and each bidder's private facts; close it at the end."""
        with closing(folder.open_log() if folder else Log()) as log:
            if listen is not None:
                log.listen(listen)
            name = name or (folder.path.name if folder else run_name(self.config.name))
            yield opened_sale(self.auction, log, name, token_hex(4))

    def _turns(self, sale: Sale[Any], folder: RunFolder | None) -> Iterator[int]:
        """Play the turns of scripts, and yield their numbers."""
        policies = {bidder.settings.name: bidder.policy for bidder in self.auction.bidders if bidder.policy is not None}
        loop, replay = auction_loop(sale, (), self.config.rules.reasks), folder.replay if folder else ReplayCache()
        patience = {bidder.name: bidder.timeout_seconds for bidder in self.config.bidders}
        return carry(loop, sale, policies, patience, replay.turn)


def _open(name: str, settings: ModelSettings, auction: ResolvedAuction) -> dict[str, BaseChatModel]:
    """Open a hosted model with each of its keys; without a key, open it only for replies that are kept."""
    seed, cache = auction.config.seed, auction.inputs.cache
    try:
        return open_chats(name, settings, seed)
    except ConfigError as error:
        if cache is None or not is_cached(settings) or cache.is_empty:
            raise
        chat = open_keyless(name, settings, seed)
        warnings.warn(f"{error}; without it nothing is played but replies that are kept", stacklevel=5)
        return {"": chat}


def _of_this_run(chat: BaseChatModel) -> BaseChatModel:
    """Return the caller's model, or a copy if the model will share connections of this run."""
    from harbor._models.connections import shares_connections

    return chat.model_copy() if shares_connections(chat) else chat
