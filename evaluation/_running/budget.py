"""What an experiment may cost: money is promised to games, and a game that has used it up makes no further call."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from harbor._config.auction import ModelSettings
from harbor._core.errors import ConfigError
from harbor._models.client import settings_of
from harbor._models.replay import RawCall
from harbor._runs.folder import CALLS, read_calls
from harbor._runs.inputs import models_in_use
from harbor.evaluation._experiments.trials import Trial

CHARACTERS_PER_TOKEN = 3
"""Of a call whose tokens nobody tells: fewer than most models take, so that it is rather charged too much."""
FIRST_TOKENS = 5_000
"""What the first call of a game is taken to read and to write, until its cost is known: more than most do."""
MARGIN = 2
"""How many times the dearest call so far the next one may cost, for all that one expects."""
ROOM = 1.5
"""How many times the dearest game so far a game may cost before it is stopped, which only costs replaying it."""
NOTHING = 1e-6
"""Dollars that no game is begun for: sums of what calls cost are less off than that."""


def check_prices(held: Iterable[Trial]) -> None:
    """Refuse a limit in dollars where nobody knows what a call costs.

    Raises:
        ConfigError: it names the model.
    """
    for name, settings in (found for game in held for found in _settings(game).items()):
        if settings.use != "simulated" and None in (settings.input_price, settings.output_price):
            raise ConfigError(
                f"the price of model {name!r} is unknown, so no limit in dollars can be kept; give input_price and"
                f" output_price, in dollars per million tokens, under [auction.models.{json.dumps(name)}] of an"
                " experiment's TOML file, or drop --max-cost"
            )


def _settings(game: Trial) -> dict[str, ModelSettings]:
    return {name: settings_of(name, game.config.models) for name in models_in_use(game.config)}


def cost_of(call: RawCall, models: Mapping[str, ModelSettings]) -> float:
    """Give what a call cost, in dollars; one whose tokens nobody told, as it failed, is charged by its length."""
    if call.cost_dollars is not None:
        return call.cost_dollars
    settings = models.get(call.model, ModelSettings())
    read, written = sum(map(len, call.prompt)) / CHARACTERS_PER_TOKEN, len(call.reply) / CHARACTERS_PER_TOKEN
    return _price(settings, read, written)


def _price(settings: ModelSettings, read: float, written: float) -> float:
    return (read * (settings.input_price or 0.0) + written * (settings.output_price or 0.0)) / 1_000_000


def paid_for(path: Path, models: Mapping[str, ModelSettings]) -> float:
    """Add up what the calls that a folder of games holds have cost, in dollars.

    Raises:
        LogError: a line is not a model call; it says which.
    """
    return sum(cost_of(call, models) for calls in path.rglob(CALLS) for call in read_calls(calls))


class ExperimentBudget:
    """The money of an experiment: a limit, what each game has cost, and up to where those that are held may go.

    What a game costs is learned from the dearest so far. The first is held alone, and beside others no more than one
    more than have finished: so few are under way if games turn out dearer, and the money finishes some.

    Args:
        limit: in dollars; None: there is none.
        paid: what each game has cost so far, in dollars, by its path.
    """

    def __init__(self, limit: float | None = None, paid: Mapping[str, float] | None = None) -> None:
        self._limit = limit
        self._paid = dict(paid or {})
        self._reserved: dict[str, float] = {}

    @property
    def left(self) -> float:
        """What is neither spent nor promised, in dollars."""
        if self._limit is None:
            return math.inf
        bound = {game: max(dollars, self._reserved.get(game, 0.0)) for game, dollars in self._paid.items()}
        return self._limit - sum(bound.values())

    def may_start(self, game: Trial, running: int, finished: int) -> bool:
        """Say whether a game may be held beside so many others: what is left must cover what it may still need."""
        if self._limit is None:
            return True
        needed = self._dearest - self._paid.get(game.path, 0.0)
        return running <= finished and self.left >= max(needed, NOTHING)

    def reserve(self, game: Trial) -> float | None:
        """Promise a game more than the dearest so far has cost; returns what it may have cost in all by then."""
        if self._limit is None:
            return None
        paid = self._paid.setdefault(game.path, 0.0)
        # As long as no game has cost anything, half: if this one does not either, others can be held beside the next.
        wanted = ROOM * self._dearest - paid if self._dearest else self.left / 2
        self._reserved[game.path] = paid + min(self.left, wanted)
        return self._reserved[game.path]

    @property
    def _dearest(self) -> float:
        return max(self._paid.values(), default=0.0)

    def settle(self, game: Trial, paid: float) -> None:
        """Hear what a game has cost in all that is not held any more; what it did not need is free again."""
        self._reserved.pop(game.path, None)
        self._paid[game.path] = paid


class TrialBudget:
    """What one game may spend: it pays for its calls, and stops it when there is nothing left and no call under way.

    It is overdrawn by one call at most, unless one costs more than `MARGIN` times the dearest before (for the first:
    than `FIRST_TOKENS` read and written): when less is left, calls wait for each other.
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
        """Wait until there is money for a call; if there never will be, stop the game."""
        while not self._affordable():
            if not self._under_way:
                self.stop()
            await self._over.wait()
        self._under_way += 1

    def charge(self, call: RawCall) -> None:
        """Pay for a call that is over, and let those that wait look again."""
        cost = cost_of(call, self._models)
        self.spent += cost
        self._dearest = max(cost, self._dearest) if self._known else cost
        self._known = True
        self._under_way -= 1
        over, self._over = self._over, asyncio.Event()
        over.set()

    def _affordable(self) -> bool:
        if self.used_up or not self._under_way:
            return not self.used_up
        return self._dollars - self.spent >= (self._under_way + 1) * MARGIN * self._dearest
