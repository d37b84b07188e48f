"""From the design to its games: what is varied is applied, slots are filled, seeds are derived.

Everything that chance decides hangs on the repeat alone, so that games of the same repeat share items, order, seats,
personas and seed in all arms and conditions: they are paired by common random numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from harbor.config import AuctionConfig, check
from harbor.errors import ConfigError, unknown
from harbor.evaluation.experiments.cells import check_cells
from harbor.evaluation.experiments.design import SLOT, Experiment, Order, Variation
from harbor.personas.catalog import houses, personas
from harbor.seeding import derive, stream

SEEDS = 2**32


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
        ConfigError: the settings of an arm are refused, two arms are equal, or a bidder is named whom none has.
    """
    wanted = _repeats(experiment, repeats)
    found = [
        game(experiment, arm, condition, repeat)
        for repeat in range(1, max(wanted.values()) + 1)
        for arm in experiment.arms
        for condition in experiment.conditions
        if repeat <= wanted[arm.name, condition.name]
    ]
    check_cells(experiment, {(one.arm, one.condition): one.config for one in found if one.repeat == 1})
    return found


def games_in_all(experiment: Experiment, repeats: int | None = None) -> int:
    """Count the games of an experiment without resolving them."""
    return sum(_repeats(experiment, repeats).values())


def _repeats(experiment: Experiment, repeats: int | None) -> dict[tuple[str, str], int]:
    """Say how often each arm is repeated under each condition: where both have repeats of their own, the fewer."""
    if repeats is not None and repeats < 1:
        raise ConfigError(f"repeats {repeats}: ask for one or more")
    own = {
        (arm.name, condition.name): [one for one in (arm.repeats, condition.repeats) if one]
        for arm in experiment.arms
        for condition in experiment.conditions
    }
    return {cell: repeats or min(fewer, default=experiment.repeats) for cell, fewer in own.items()}


def game(experiment: Experiment, arm: Variation, condition: Variation, repeat: int) -> Game:
    """Resolve one game.

    Raises:
        ConfigError: its settings are refused.
    """
    where = f"experiment {experiment.name!r}, arm {arm.name!r}, condition {condition.name!r}"
    try:
        values = _values(experiment, arm, condition, repeat)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return Game(arm.name, condition.name, repeat, check(AuctionConfig, values, where))


def _values(experiment: Experiment, arm: Variation, condition: Variation, repeat: int) -> dict[str, Any]:
    values = deepcopy(experiment.auction)
    for variation in (condition, arm):
        values = _merged(values, variation.auction)
    seed = derive(experiment.seed, "repeat", str(repeat)) % SEEDS
    pool = experiment.personas or tuple(personas())
    rotation = stream(experiment.seed, "personas").sample(pool, len(pool))
    bidders = [_filled(bidder, experiment, rotation, repeat) for bidder in values.get("bidders", [])]
    shift = (repeat - 1) % len(bidders) if experiment.rotate_seats and bidders else 0
    items = _items(values.pop("items", None), seed, bidders, rotation, repeat)
    if isinstance(items, list):
        items = _ordered(items, arm.order or condition.order or experiment.order, seed)
    return {
        **values,
        "name": f"{experiment.name} {arm.name} {condition.name} {repeat}",
        "seed": seed,
        "bidders": bidders[shift:] + bidders[:shift],
        "models": _models(values.get("models", {}), bidders, experiment),
        **({} if items is None else {"items": items}),
    }


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Apply changes: tables are merged, bidders by name, all else is replaced."""
    merged = dict(values)
    for key, change in changes.items():
        if key == "bidders":
            merged[key] = _bidders(values.get(key, []), change)
        elif key != "items" and isinstance(change, Mapping) and isinstance(values.get(key), Mapping):
            merged[key] = _merged(values[key], change)
        else:
            merged[key] = deepcopy(change)
    return merged


def _bidders(bidders: list[dict[str, Any]], change: Any) -> Any:
    """Change bidders by a table, keep those that a list names, or replace them by a list of others."""
    by_table = isinstance(change, Mapping)
    if not by_table and not (change and all(isinstance(one, str) for one in change)):
        return deepcopy(change)
    known = [bidder.get("name", "") for bidder in bidders]
    for name in change:
        if name not in known and not (by_table and name == "*"):
            raise ConfigError(unknown("bidder", name, known))
    if not by_table:
        return [deepcopy(bidder) for bidder in bidders if bidder.get("name") in change]
    return [{**bidder, **change.get("*", {}), **change.get(bidder.get("name"), {})} for bidder in bidders]


def _filled(bidder: Mapping[str, Any], experiment: Experiment, rotation: list[str], repeat: int) -> dict[str, Any]:
    """Put personas and models in a bidder's slots."""
    filled = dict(bidder)
    slots = filled.get("persona", [])
    slots = [slots] if isinstance(slots, str) else slots
    if isinstance(slots, list):
        filled["persona"] = [_persona(slot, rotation, repeat) for slot in slots]
    model = str(filled.get("model", "simulated"))
    if SLOT.fullmatch(model):
        filled["model"] = experiment.models[int(model[1:]) - 1]
    return filled


def _persona(slot: str, rotation: list[str], repeat: int) -> str:
    """Give the persona of a slot: each repeat moves every slot on by one, so that each persona is in each in turn."""
    if not SLOT.fullmatch(slot):
        return slot
    number = int(slot[1:])
    if number > len(rotation):
        raise ConfigError(f"slot {slot!r} has no persona, as the pool holds {len(rotation)}; add to personas")
    return rotation[(number + repeat - 2) % len(rotation)]


def _models(own: Mapping[str, Any], bidders: list[dict[str, Any]], experiment: Experiment) -> dict[str, Any]:
    """Give the settings of the models that are used; one that the experiment does not describe is used as it is."""
    used = sorted({bidder.get("model", "simulated") for bidder in bidders})
    found = {name: {"temperature": experiment.temperature, **own.get(name, {"use": name})} for name in used}
    prices = {use: price.model_dump() for use, price in experiment.prices.items()}
    return {name: {**prices.get(settings.get("use", "simulated"), {}), **settings} for name, settings in found.items()}


def _items(
    items: Any, seed: int, bidders: list[dict[str, Any]], rotation: list[str], repeat: int
) -> list[dict[str, Any]] | Any:
    """Draw houses whose matches are given by slot, and so the same for all arms, or by bidder."""
    if not (isinstance(items, Mapping) and isinstance(items.get("matched"), Mapping)):
        return items
    held = {bidder.get("name"): bidder["persona"] for bidder in bidders if isinstance(bidder.get("persona"), list)}
    matched: Counter[str] = Counter()
    for whose, count in items["matched"].items():
        mix = held[whose] if whose in held else [_persona(whose, rotation, repeat)]
        matched.update({persona: len(range(place, count, len(mix))) for place, persona in enumerate(mix)})
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
