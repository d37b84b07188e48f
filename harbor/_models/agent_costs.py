"""What the calls of models cost that agents of any make tell of, and how the budget of a run pays for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

from pydantic import ValidationError

from harbor._config.models import ModelSettings
from harbor._core.events import ModelCalled
from harbor._models.budget import RunBudget
from harbor._models.prices import with_price
from harbor._models.replies.replay import RawCall

_MILLION = 1_000_000


class AgentCosts:
    """The account of one agent: prices what it tells of, keeps it, and charges it to the budget of the run.

    An agent makes its calls itself, so a turn of its is admitted as one call is, and its cost is known afterwards. So a
    limit may be exceeded by all that one turn of an agent costs.

    Args:
        models: the settings that the user has given for models, by name.
        budget: that of the run; None: nothing limits it.
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
        """Give the dollars of a call by its tokens; None: the price of the model is unknown."""
        if model not in self._priced:
            self._priced[model] = self._settings(model)
        settings = self._priced[model]
        if settings is None or settings.input_price is None or settings.output_price is None:
            return None
        return (read * settings.input_price + written * settings.output_price) / _MILLION

    def charge(self, calls: Sequence[ModelCalled]) -> None:
        """Pay for the calls of a turn that was admitted and has ended, and keep them; one of unknown cost is told of.

        Raises:
            RunFolderError: they can't be kept.
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
