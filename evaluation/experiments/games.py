"""From the design to its games: what is varied is applied, slots are filled, seeds are derived.

Everything that chance decides hangs on the repeat alone, so that games of the same repeat share items, order, seats,
personas and seed in all arms and conditions: they are paired by common random numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from harbor.config import AuctionConfig, check
from harbor.errors import ConfigError
from harbor.evaluation.experiments.design import Experiment, Order, Variation
from harbor.personas.catalog import houses, personas
from harbor.seeding import derive, stream

SEEDS = 2**32
_SLOT = re.compile(r"@([1-9][0-9]?)")


@dataclass(frozen=True, slots=True)
class Game:
    """One game of an experiment, its unit of statistics: an auction, a session, a water game or a series."""

    arm: str
    condition: str
    repeat: int
    config: AuctionConfig

    @property
    def path(self) -> str:
        """Where it stands in the folder of the experiment: ``arm/condition/0001``."""
        return f"{self.arm}/{self.condition}/{self.repeat:04}"


def games(experiment: Experiment, repeats: int | None = None) -> list[Game]:
    """List the games of an experiment, repeat by repeat, so that what is interrupted is balanced as far as it came.

    Args:
        experiment: the design.
        repeats: how many of each arm under each condition; what the design says by default.

    Raises:
        ConfigError: the settings of an arm are refused, or two arms are equal.
    """
    cells = [(arm, condition) for arm in experiment.arms for condition in experiment.conditions]
    wanted = {
        (arm.name, condition.name): repeats or arm.repeats or condition.repeats or experiment.repeats
        for arm, condition in cells
    }
    found = [
        game(experiment, arm, condition, repeat)
        for repeat in range(1, max(wanted.values()) + 1)
        for arm, condition in cells
        if repeat <= wanted[arm.name, condition.name]
    ]
    _refuse_equal_arms(experiment, found)
    return found


def game(experiment: Experiment, arm: Variation, condition: Variation, repeat: int) -> Game:
    """Resolve one game.

    Raises:
        ConfigError: its settings are refused.
    """
    values = deepcopy(experiment.auction)
    for variation in (condition, arm):
        values = _merged(values, variation.auction)
    seed = derive(experiment.seed, "repeat", str(repeat)) % SEEDS
    pool = experiment.personas or tuple(personas())
    rotation = stream(experiment.seed, "personas").sample(pool, len(pool))
    bidders = [_filled(bidder, experiment, rotation, repeat) for bidder in values.get("bidders", [])]
    shift = (repeat - 1) % len(bidders) if experiment.rotate_seats and bidders else 0
    values["bidders"] = bidders[shift:] + bidders[:shift]
    values["items"] = _items(values.get("items"), seed, rotation, repeat)
    order = arm.order or condition.order or experiment.order
    if isinstance(values["items"], list):
        values["items"] = _ordered(values["items"], order, seed)
    else:
        values.pop("items")
    values["models"] = _models(values.get("models", {}), bidders, experiment)
    named = {"name": f"{experiment.name} {arm.name} {condition.name} {repeat}", "seed": seed}
    where = f"experiment {experiment.name!r}, arm {arm.name!r}, condition {condition.name!r}"
    return Game(arm.name, condition.name, repeat, check(AuctionConfig, values | named, where))


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Apply changes: tables are merged, bidders by name, all else is replaced."""
    merged = dict(values)
    for key, change in changes.items():
        if key == "bidders" and isinstance(change, Mapping):
            merged[key] = [_changed(bidder, change) for bidder in values.get(key, [])]
            strangers = set(change) - {"*"} - {bidder.get("name") for bidder in merged[key]}
            if strangers:
                raise ConfigError(f"a variation changes bidder {min(strangers)!r}, whom the experiment lacks; name one")
        elif key != "items" and isinstance(change, Mapping) and isinstance(values.get(key), Mapping):
            merged[key] = _merged(values[key], change)
        else:
            merged[key] = deepcopy(change)
    return merged


def _changed(bidder: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {**bidder, **changes.get("*", {}), **changes.get(bidder.get("name", ""), {})}


def _filled(bidder: Mapping[str, Any], experiment: Experiment, rotation: list[str], repeat: int) -> dict[str, Any]:
    """Put personas and models in a bidder's slots."""
    filled = dict(bidder)
    slots = filled.get("persona", [])
    slots = [slots] if isinstance(slots, str) else slots
    if isinstance(slots, list):
        filled["persona"] = [_persona(slot, rotation, repeat) for slot in slots]
    slot = _SLOT.fullmatch(str(filled.get("model", "")))
    if slot:
        filled["model"] = experiment.models[(int(slot[1]) - 1) % len(experiment.models)]
    return filled


def _models(own: Mapping[str, Any], bidders: list[dict[str, Any]], experiment: Experiment) -> dict[str, Any]:
    """Give every model in use its settings; one that names no price gets that of the experiment, if it has one."""
    used = {bidder.get("model", "simulated") for bidder in bidders} - set(own)
    models = {**own, **{name: {"use": name, "temperature": experiment.temperature} for name in sorted(used)}}
    prices = {use: price.model_dump() for use, price in experiment.prices.items()}
    return {
        name: prices.get(settings.get("use", "simulated"), {}) | settings if isinstance(settings, Mapping) else settings
        for name, settings in models.items()
    }


def _persona(slot: str, rotation: list[str], repeat: int) -> str:
    """Give the persona of a slot: each repeat moves every slot on by one, so that each persona is in each in turn."""
    found = _SLOT.fullmatch(slot)
    return rotation[(int(found[1]) + repeat - 2) % len(rotation)] if found else slot


def _items(items: Any, seed: int, rotation: list[str], repeat: int) -> Any:
    """Draw houses whose matches are given by slot: the same for all arms, whoever has which persona."""
    if not (isinstance(items, Mapping) and isinstance(items.get("matched"), Mapping)):
        return items
    matched = {_persona(slot, rotation, repeat): count for slot, count in items["matched"].items()}
    return [item.model_dump() for item in houses(items.get("count", 10), seed, matched)]


def _ordered(items: list[dict[str, Any]], order: Order, seed: int) -> list[dict[str, Any]]:
    if order == "random":
        return stream(seed, "order").sample(items, len(items))
    if order in ("ascending", "descending"):
        return sorted(items, key=lambda item: item["start"], reverse=order == "descending")
    if isinstance(order, tuple):
        by_name = {item["name"]: item for item in items}
        if set(order) != set(by_name) or len(order) != len(items):
            raise ConfigError(f"order {list(order)!r} is not one of all items; name each of {sorted(by_name)} once")
        return [by_name[name] for name in order]
    return items


def _refuse_equal_arms(experiment: Experiment, found: list[Game]) -> None:
    """Two arms with equal settings under every condition would be one arm, counted twice."""
    first = {(one.arm, one.condition): one.config.model_copy(update={"name": ""}) for one in found if one.repeat == 1}
    arms = {
        arm.name: [first[arm.name, condition.name] for condition in experiment.conditions] for arm in experiment.arms
    }
    names = list(arms)
    for place, name in enumerate(names):
        for other in names[:place]:
            if arms[name] == arms[other]:
                raise ConfigError(f"arms {other!r} and {name!r} are equal; change one of them, or leave one out")
