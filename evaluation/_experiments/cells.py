"""Checks on the cells of an experiment (one arm under one condition each) before any trial is run."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from harbor._config.auction import AuctionConfig
from harbor._core.errors import ConfigError, unknown
from harbor._runs.inputs import RunInputs, agents_of, people_of
from harbor._runs.resolve import resolve
from harbor.evaluation._experiments.design import EVERYONE, Experiment, named_places

Cells = Mapping[tuple[str, str], AuctionConfig]
"""The settings of the first trial of each arm under each condition."""


def check_cells(experiment: Experiment, cells: Cells) -> None:
    """Refuse what would otherwise fail, or prove meaningless, only after trials had been run.

    So a mistake costs one line that names the arm and the condition, and no model calls.

    Raises:
        ConfigError: the rules refuse the settings of a cell, two arms or conditions are equal, or differ in the way
            of bidding though neither names it, or a comparison or a published number names a bidder that does not
            bid there.
    """
    for (arm, condition), config in cells.items():
        try:
            _refuse_several_people(config)
            resolve(config, RunInputs(agents=agents_of(config), people=people_of(config)))
        except ConfigError as error:
            raise ConfigError(
                f"experiment {experiment.name!r}, arm {arm!r}, condition {condition!r}: {error}"
            ) from error
    _refuse_equals(experiment, cells)
    _refuse_two_causes(cells)
    _refuse_strangers(experiment, cells)


def _refuse_several_people(config: AuctionConfig) -> None:
    """Refuse two people in one game: at one terminal each would read what only the other may know."""
    if len(people := list(people_of(config))) > 1:
        raise ConfigError(
            f"bidders {people[0]!r} and {people[1]!r} are played by people, and a game of an experiment asks one; have"
            " others play the rest"
        )


def _refuse_equals(experiment: Experiment, cells: Cells) -> None:
    """Refuse two arms that are equal under every condition: they would be one arm, counted twice; so for conditions."""
    plain = {cell: config.model_copy(update={"name": ""}) for cell, config in cells.items()}
    arms, conditions = ([one.name for one in some] for some in (experiment.arms, experiment.conditions))
    by_arm = {arm: [plain[arm, condition] for condition in conditions] for arm in arms}
    by_condition = {condition: [plain[arm, condition] for arm in arms] for condition in conditions}
    for kind, settings in (("arms", by_arm), ("conditions", by_condition)):
        for one, other in combinations(settings, 2):
            if settings[one] == settings[other]:
                raise ConfigError(f"{kind} {one!r} and {other!r} are equal; change one of them, or leave one out")


def _refuse_two_causes(cells: Cells) -> None:
    """Refuse cells of which one is by limit and one by call only as that is usual with their other settings.

    A setting that is compared, such as a strategy, would bring a second cause with it.
    """
    usual: dict[str, tuple[str, str, str]] = {}
    for (arm, condition), config in cells.items():
        for bidder in config.bidders:
            if not bidder.uses_model or "bidding" in bidder.model_fields_set:
                continue
            other, before, way = usual.setdefault(bidder.name, (arm, condition, bidder.bidding))
            if way != bidder.bidding:
                two = f"arms {other!r} and {arm!r}" if other != arm else f"conditions {before!r} and {condition!r}"
                raise ConfigError(
                    f"{two} differ in bidding, too: without it bidder {bidder.name!r} goes by {way} in the first and by"
                    f" {bidder.bidding} in the second; name it for all, such as bidding = 'call'"
                )


def _refuse_strangers(experiment: Experiment, cells: Cells) -> None:
    """Refuse a named bidder that does not bid in every cell in which it is looked for."""
    for (arm, condition), config in cells.items():
        known = [bidder.name for bidder in config.bidders]
        for place in named_places(experiment):
            looked_for = (place.arm or arm) == arm and (place.condition or condition) == condition
            if looked_for and place.bidder not in ("", EVERYONE, *known):
                raise ConfigError(f"{unknown('bidder', place.bidder, known)} (in arm {arm!r}, condition {condition!r})")
