"""Checks on the cells of an experiment, an arm under a condition each, before any of their games is held."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from harbor._config.auction import AuctionConfig
from harbor._core.errors import ConfigError, unknown
from harbor._runs.resolve import resolve
from harbor.evaluation._experiments.design import EVERYONE, Experiment, named_places

Cells = Mapping[tuple[str, str], AuctionConfig]
"""The settings of the first game of each arm under each condition."""


def check_cells(experiment: Experiment, cells: Cells) -> None:
    """Refuse what would fail, or mean nothing, only after games had been held.

    Raises:
        ConfigError: a game refuses the settings of a cell, two arms or conditions are equal, or a bidder is compared
            or has a published number where nobody of that name bids.
    """
    for (arm, condition), config in cells.items():
        try:
            resolve(config)
        except ConfigError as error:
            raise ConfigError(
                f"experiment {experiment.name!r}, arm {arm!r}, condition {condition!r}: {error}"
            ) from error
    _refuse_equals(experiment, cells)
    _refuse_strangers(experiment, cells)


def _refuse_equals(experiment: Experiment, cells: Cells) -> None:
    """Two arms with equal settings under every condition would be one arm, counted twice; so would two conditions."""
    plain = {cell: config.model_copy(update={"name": ""}) for cell, config in cells.items()}
    arms, conditions = ([one.name for one in some] for some in (experiment.arms, experiment.conditions))
    by_arm = {arm: [plain[arm, condition] for condition in conditions] for arm in arms}
    by_condition = {condition: [plain[arm, condition] for arm in arms] for condition in conditions}
    for kind, settings in (("arms", by_arm), ("conditions", by_condition)):
        for one, other in combinations(settings, 2):
            if settings[one] == settings[other]:
                raise ConfigError(f"{kind} {one!r} and {other!r} are equal; change one of them, or leave one out")


def _refuse_strangers(experiment: Experiment, cells: Cells) -> None:
    """A bidder that is named must bid in every cell in which it is looked for."""
    for (arm, condition), config in cells.items():
        known = [bidder.name for bidder in config.bidders]
        if EVERYONE in known:
            raise ConfigError(f"a bidder is called {EVERYONE!r}, which is the mean of all bidders; name it otherwise")
        for place in named_places(experiment):
            looked_for = (place.arm or arm) == arm and (place.condition or condition) == condition
            if looked_for and place.bidder not in ("", EVERYONE, *known):
                raise ConfigError(f"{unknown('bidder', place.bidder, known)} (in arm {arm!r}, condition {condition!r})")
