"""A run within a limit in dollars: where that is reached the run is paused, and more money resumes it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from harbor._config.auction import AuctionConfig
from harbor._config.models import ModelSettings
from harbor._core.errors import LimitReached
from harbor._core.layout import CALLS
from harbor._core.money import cost_in_words
from harbor._models.budget import RunBudget, check_limit, check_prices, cost_of
from harbor._models.replay import RawCall
from harbor._runs.folder import read_calls
from harbor._runs.inputs import RunInputs
from harbor._runs.resolve import models_of

T = TypeVar("T")


def paid_for(path: Path, models: Mapping[str, ModelSettings]) -> float:
    """Add up the cost of all calls recorded below a folder, in dollars.

    Raises:
        LogError: a line is not a model call; it says which.
    """
    return sum(cost_of(call, models) for call in calls_in(path))


def calls_in(path: Path) -> Iterator[RawCall]:
    """Give all calls recorded below a folder.

    Raises:
        LogError: a line is not a model call; it says which.
    """
    return (call for calls in path.rglob(CALLS) for call in read_calls(calls))


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
        limit, spent = cost_in_words(budget.dollars), cost_in_words(budget.spent)
        raise LimitReached(f"the limit of {limit} is reached, as {spent} are spent") from None
