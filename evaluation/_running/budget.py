"""What an experiment may cost: each trial gets a budget before it starts, and makes no call beyond it.

Money is reserved before it is spent, so no executor can overdraw the limit by more than one call per trial.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from harbor._config.auction import ModelSettings
from harbor._core.errors import ConfigError
from harbor._core.layout import CALLS
from harbor._models.providers import settings_of
from harbor._models.replay import RawCall
from harbor._runs.folder import read_calls
from harbor._runs.inputs import models_in_use
from harbor.evaluation._experiments.trials import Trial

CHARACTERS_PER_TOKEN = 3
"""For a call that reports no tokens: fewer than with most models, so that its cost is rather overestimated."""
FIRST_TOKENS = 5_000
"""Tokens that the first call of a trial is assumed to read, and to write: more than most calls do."""
MARGIN = 2
"""The next call is assumed to cost at most this many times the dearest call so far."""
ROOM = 1.5
"""A trial is stopped once it costs this many times the dearest so far; it resumes by replay, which is free."""
NOTHING = 1e-6
"""No trial is started with less than this many dollars: rounding errors of sums stay below it."""


def check_prices(planned: Iterable[Trial]) -> None:
    """Refuse a limit in dollars where nobody knows what a call costs.

    Raises:
        ConfigError: it names the model.
    """
    for name, settings in (found for trial in planned for found in _settings(trial).items()):
        if settings.use != "simulated" and None in (settings.input_price, settings.output_price):
            raise ConfigError(
                f"the price of model {name!r} is unknown, so no limit in dollars can be kept; give input_price and"
                f" output_price, in dollars per million tokens, under [auction.models.{json.dumps(name)}] of an"
                " experiment's TOML file, or drop --max-cost"
            )


def _settings(trial: Trial) -> dict[str, ModelSettings]:
    return {name: settings_of(name, trial.config.models) for name in models_in_use(trial.config)}


def cost_of(call: RawCall, models: Mapping[str, ModelSettings]) -> float:
    """Give the cost of a call in dollars; a failed call, which reports no tokens, is charged by its length."""
    if call.cost_dollars is not None:
        return call.cost_dollars
    settings = models.get(call.model, ModelSettings())
    read, written = sum(map(len, call.prompt)) / CHARACTERS_PER_TOKEN, len(call.reply) / CHARACTERS_PER_TOKEN
    return _price(settings, read, written)


def _price(settings: ModelSettings, read: float, written: float) -> float:
    return (read * (settings.input_price or 0.0) + written * (settings.output_price or 0.0)) / 1_000_000


def paid_for(path: Path, models: Mapping[str, ModelSettings]) -> float:
    """Add up the cost of all calls recorded below a folder, in dollars.

    Raises:
        LogError: a line is not a model call; it says which.
    """
    return sum(cost_of(call, models) for calls in path.rglob(CALLS) for call in read_calls(calls))


class ExperimentBudget:
    """The budget of an experiment: its limit, the cost of each trial so far, and the amounts reserved for running ones.

    The cost of a trial is unknown before it ends; the dearest trial so far is the estimate. The first trial runs alone,
    and after n finished trials at most n + 1 run at once. So if trials turn out dearer than the first, few are under
    way, and the money finishes those. For example, $40 and trials of $11.50 finish three trials, whatever `jobs` is.

    Args:
        limit: in dollars; None: no limit.
        paid: the cost of each trial so far, in dollars, by its path.
    """

    def __init__(self, limit: float | None = None, paid: Mapping[str, float] | None = None) -> None:
        self._limit = limit
        self._paid = dict(paid or {})
        self._reserved: dict[str, float] = {}

    @property
    def left(self) -> float:
        """What is neither spent nor reserved, in dollars."""
        if self._limit is None:
            return math.inf
        bound = {trial: max(dollars, self._reserved.get(trial, 0.0)) for trial, dollars in self._paid.items()}
        return self._limit - sum(bound.values())

    def may_start(self, trial: Trial, running: int, finished: int) -> bool:
        """Tell whether a trial may start beside `running` others: what is left must cover the dearest trial so far."""
        if self._limit is None:
            return True
        needed = self._dearest - self._paid.get(trial.path, 0.0)
        return running <= finished and self.left >= max(needed, NOTHING)

    def reserve(self, trial: Trial) -> float | None:
        """Reserve more for a trial than the dearest so far has cost; returns the total cost at which it is stopped."""
        if self._limit is None:
            return None
        paid = self._paid.setdefault(trial.path, 0.0)
        # While no trial has cost anything, half: if this one costs nothing either, others can run beside the next.
        wanted = ROOM * self._dearest - paid if self._dearest else self.left / 2
        self._reserved[trial.path] = paid + min(self.left, wanted)
        return self._reserved[trial.path]

    @property
    def _dearest(self) -> float:
        return max(self._paid.values(), default=0.0)

    def settle(self, trial: Trial, paid: float) -> None:
        """Record the total cost of a trial that has ended or stopped, and release the rest of its reservation."""
        self._reserved.pop(trial.path, None)
        self._paid[trial.path] = paid


class TrialBudget:
    """The budget of one trial: it admits and charges calls, and stops the trial when it is used up.

    Bidders think concurrently, so several calls may be under way, and the cost of each is known only afterwards. While
    what is left covers all of them at `MARGIN` times the dearest call so far (before the first: `FIRST_TOKENS` read and
    written), calls are admitted at once; otherwise they wait for each other. So the budget is overdrawn by one call at
    most, unless a call costs more than that. The trial is stopped only when no
    call is under way, since a call that is cut off is paid for without its reply.
    """

    def __init__(self, dollars: float, models: Mapping[str, ModelSettings]) -> None:
        self.spent = 0.0
        self.stop: Callable[[], object] = lambda: None
        self._dollars = dollars
        self._models = models
        self._under_way = 0
        self._dearest = max((_price(one, FIRST_TOKENS, FIRST_TOKENS) for one in models.values()), default=0.0)
        self._known = False
        self._over = asyncio.Event()

    @property
    def used_up(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self._dollars

    async def admit(self) -> None:
        """Wait until there is money for a call; if there never will be, stop the trial."""
        while not self._affordable():
            if not self._under_way:
                self.stop()
            await self._over.wait()
        self._under_way += 1

    def charge(self, call: RawCall) -> None:
        """Pay for a call that has ended, and wake those that wait."""
        cost = cost_of(call, self._models)
        self.spent += cost
        self._dearest = max(cost, self._dearest) if self._known else cost  # the first cost replaces the assumed one
        self._known = True
        self._under_way -= 1
        over, self._over = self._over, asyncio.Event()  # a new one, as whoever looks again may have to wait again
        over.set()

    def _affordable(self) -> bool:
        if self.used_up or not self._under_way:
            return not self.used_up
        return self._dollars - self.spent >= (self._under_way + 1) * MARGIN * self._dearest
