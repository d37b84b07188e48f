"""A budget limits the cost of the model calls in one run, including the calls that agents make themselves."""

from __future__ import annotations

import asyncio
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

from pydantic import ValidationError

from harbor._config.models import ModelSettings
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import ModelCalled
from harbor._models.prices import with_price
from harbor._models.replies.replay import RawCall

CHARACTERS_PER_TOKEN = 3
"""Assumed for a call that reports no tokens. Most models have more, so the cost is rather overestimated."""
FIRST_TOKENS = 5_000
"""Tokens that the first call of a run is assumed to read, and to write. Most calls use fewer."""
MARGIN = 2
"""The next call is assumed to cost at most this many times the dearest call so far."""


def check_limit(dollars: float) -> None:
    """Refuse a limit that can't be kept.

    Raises:
        ConfigError: the limit is not a finite amount above 0.
    """
    if not 0 < dollars < math.inf:
        raise ConfigError(f"a limit of {dollars} dollars can't be kept; give an amount above 0, such as 5")


def check_prices(models: Mapping[str, ModelSettings], table: str = "models") -> None:
    """Refuse a limit in dollars if a model has no known price; `table` is the TOML table of the model settings.

    Raises:
        ConfigError: a model has no known price; the message names the model.
    """
    for name, settings in models.items():
        if settings.use != "simulated" and None in (settings.input_price, settings.output_price):
            quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
            raise ConfigError(
                f"the price of model {name!r} is unknown, so no limit in dollars can be kept; give input_price and"
                f" output_price, in dollars per million tokens, under [{table}.{quoted}] of a TOML file or with --set"
                f" models.{name}.input_price=DOLLARS and output_price alike, or drop --max-cost"
            )


def cost_of(call: RawCall, models: Mapping[str, ModelSettings]) -> float:
    """Return the cost of a call in dollars, including its probes and lost requests."""
    return _answer_cost(call, models) + sum(one.cost_dollars or 0.0 for one in (call.probes, call.lost))


def _answer_cost(call: RawCall, models: Mapping[str, ModelSettings]) -> float:
    """Return the cost of an answer in dollars. An answer that reports no cost is charged by its length."""
    if call.cost_dollars is not None:
        return call.cost_dollars
    settings = models.get(call.fallback or call.model, ModelSettings())
    read, written = sum(map(len, call.prompt)) / CHARACTERS_PER_TOKEN, len(call.reply) / CHARACTERS_PER_TOKEN
    return _price(settings, read, written)


def first_cost(models: Mapping[str, ModelSettings]) -> float:
    """Return the assumed cost of a call in dollars before any cost is known. Most calls cost less."""
    return max((_price(one, FIRST_TOKENS, FIRST_TOKENS) for one in models.values()), default=0.0)


def _price(settings: ModelSettings, read: float, written: float) -> float:
    return (read * (settings.input_price or 0.0) + written * (settings.output_price or 0.0)) / 1_000_000


class RunBudget:
    """Admits and charges the calls of one run, and stops the run when the budget is used up.

    Bidders think concurrently, so several calls may be under way, and the cost of each is known only afterwards. A call
    is admitted at once if the rest of the budget covers it and all calls under way at `MARGIN` times the dearest call
    so far (before the first: `FIRST_TOKENS` read and written). Otherwise calls wait for each other. So at most one
    call, which goes alone, overdraws the budget, unless a call costs more than assumed. The run stops only when no call
    is under way, because a call that is cut off is paid for without its reply.

    Args:
        dollars: the limit.
        models: the settings by the name that bidders use.
        paid: dollars that earlier sessions of the run have paid.
    """

    def __init__(self, dollars: float, models: Mapping[str, ModelSettings], paid: float = 0.0) -> None:
        self.dollars = dollars
        self.spent = paid
        self.stop: Callable[[], object] = lambda: None
        self._models = models
        self._under_way = 0
        self._dearest = first_cost(models)
        self._known = False
        self._over = asyncio.Event()

    @property
    def used_up(self) -> bool:
        """Say whether no money is left."""
        return self.spent >= self.dollars

    async def admit(self) -> None:
        """Wait until there is money for a call; stop the run if there never will be."""
        while not self._affordable():
            if not self._under_way:
                self.stop()
            await self._over.wait()
        self._under_way += 1

    def charge(self, call: RawCall) -> None:
        """Pay for a call that has ended. A failed call does not change the assumed cost of later calls."""
        if call.outcome != "failed":
            cost = _answer_cost(call, self._models)
            self._dearest = max(cost, self._dearest) if self._known else cost  # the first replaces the assumed one
            self._known = True
        self._end(cost_of(call, self._models))

    def end(self, dollars: float) -> None:
        """Pay these dollars for an admitted turn that has ended."""
        self._dearest = max(dollars, self._dearest)
        self._end(dollars)

    def _end(self, dollars: float) -> None:
        """Pay these dollars, and wake the waiting calls."""
        self.spent += dollars
        self._under_way -= 1
        over, self._over = self._over, asyncio.Event()  # a new event, because a woken call may have to wait again
        over.set()

    def _affordable(self) -> bool:
        if self.used_up or not self._under_way:
            return not self.used_up
        return self.dollars - self.spent >= (self._under_way + 1) * MARGIN * self._dearest


_MILLION = 1_000_000  # prices are dollars per million tokens


class AgentCosts:
    """Prices the calls that one agent reports, records them, and charges them to the budget of the run.

    An agent makes its calls itself. So the budget admits a whole turn like one call, and learns its cost afterwards.
    The limit may be exceeded by the cost of one whole turn.

    Args:
        models: the settings that the user has given for models, by name.
        budget: the budget of the run; None if there is no limit.
        keep: records a call, so that it counts when the run is resumed.
    """

    def __init__(
        self,
        models: Mapping[str, ModelSettings],
        budget: RunBudget | None = None,
        keep: Callable[[RawCall], None] = lambda _: None,
    ) -> None:
        self._models = models
        self._keep = keep
        self._unpriced = set[str]()
        self._priced: dict[str, ModelSettings | None] = {}
        self.budget = budget

    def price(self, model: str, read: int, written: int) -> float | None:
        """Return the dollars of a call from its tokens; None if the price of the model is unknown."""
        if model not in self._priced:
            self._priced[model] = self._settings(model)
        settings = self._priced[model]
        if settings is None or settings.input_price is None or settings.output_price is None:
            return None
        return (read * settings.input_price + written * settings.output_price) / _MILLION

    def charge(self, calls: Sequence[ModelCalled]) -> None:
        """Pay for the calls of an admitted turn that has ended, and record them; warn once per model without a price.

        Raises:
            RunFolderError: the calls can't be recorded.
        """
        if self.budget is not None:
            self.budget.end(sum(call.cost_dollars or 0.0 for call in calls))
        for call in calls:
            self._keep(_raw(call))
            if call.cost_dollars is None and self.budget is not None and call.model not in self._unpriced:
                self._unpriced.add(call.model)
                warnings.warn(_unknown(call), stacklevel=2)

    def _settings(self, model: str) -> ModelSettings | None:
        """Find the settings of a model by the user's name for it, or else by "provider:model"."""
        try:
            return with_price(self._models.get(model) or ModelSettings(use=model))
        except ValidationError:
            return None


def _raw(call: ModelCalled) -> RawCall:
    told = {field.name: getattr(call, field.name) for field in fields(call)}
    return RawCall(version=told.pop("prompt"), prompt=[], reply="", error="", **told)


def _unknown(call: ModelCalled) -> str:
    return (
        f"bidder {call.bidder!r} tells of calls of model {call.model!r}, whose price is unknown, so they do not count"
        f" towards the limit; give input_price and output_price under [models.'{call.model}']"
    )
