"""A run within a limit in dollars: where that is reached the run is paused, and more money resumes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Container, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from harbor._config.auction import AuctionConfig
from harbor._config.models import ModelSettings
from harbor._core.errors import LimitReached
from harbor._core.events import NO_REQUESTS
from harbor._core.layout import CALLS, CALLS_DAMAGED, EVENTS, EVENTS_CUT
from harbor._core.money import cost_in_words
from harbor._core.players import AGENT
from harbor._models.budget import RunBudget, check_limit, check_prices, cost_of, first_cost
from harbor._models.replies.replay import CallKey, RawCall
from harbor._runs.inputs import RunInputs
from harbor._runs.raw_calls import content_of, recorded_calls
from harbor._runs.resolve import models_of

T = TypeVar("T")
_IS_CALL = b'"type":"model_called"'


def paid_for(path: Path, models: Mapping[str, ModelSettings]) -> float:
    """Add up the cost of all calls recorded below a folder, in dollars.

    What can't be read is rather overestimated: a call that only the log tells of costs what that says, and a damaged
    line what the dearest call beside it cost.
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
    """Give calls, but the lost requests of one that was cut short only once: the same call, made anew, has them too."""
    last = {call.question: number for number, call in enumerate(calls)}
    for number, call in enumerate(calls):
        taken_over = call.outcome == "failed" and call.key not in told and number < last[call.question]
        yield replace(call, probes=NO_REQUESTS, lost=NO_REQUESTS) if taken_over else call


def _told(log: Path) -> dict[CallKey, float | None]:
    """Give the cost of the calls of bidders that a log tells of, as far as it can be read."""
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
    """Give all calls recorded below a folder, as far as they can be read."""
    return (call for calls in path.rglob(CALLS) for call in recorded_calls(calls).calls)


def funded(config: AuctionConfig, inputs: RunInputs, folder: Path | None = None) -> RunInputs:
    """Add the budget to what a caller gives with a limit; what a run has paid before, in its folder, counts.

    Raises:
        ConfigError: the limit can't be kept.
    """
    if inputs.max_cost is None or inputs.budget is not None:
        return inputs
    check_limit(inputs.max_cost)
    models = models_of(config, inputs)
    check_prices(models)
    return replace(inputs, budget=RunBudget(inputs.max_cost, models, paid_for(folder, models) if folder else 0.0))


def check_left(budget: RunBudget | None) -> None:
    """Refuse to play where earlier sessions have used the limit up.

    Raises:
        LimitReached: it says how much they have spent.
    """
    if budget is not None and budget.used_up:
        raise LimitReached(f"the limit of {cost_in_words(budget.dollars)} is used up, as {_spent(budget)}")


async def within(budget: RunBudget | None, work: Coroutine[Any, Any, T]) -> T:
    """Wait for a run; without a budget nothing limits it.

    Raises:
        LimitReached: the budget was used up, and the run has stopped when no call was under way.
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
