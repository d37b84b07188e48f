"""From the design to its games: what is varied is applied, slots are filled, seeds are derived.

Everything that chance decides hangs on the repeat and never on the arm or condition: games of the same repeat share
their seed, and whatever of items, order, seats and personas their arms and conditions do not themselves vary. So they
are paired by common random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, Field

from harbor._config.auction import AuctionConfig, check
from harbor._core.errors import ConfigError, unknown
from harbor._core.seeding import derive, stream
from harbor._core.settings import Settings
from harbor.evaluation._experiments.cells import check_cells
from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._experiments.sales import MatchedHouses, listed, matched_sale
from harbor.evaluation._experiments.slots import SLOT, named, number
from harbor.personas._catalog.catalog import personas

SEEDS = 2**32


@dataclass(frozen=True, slots=True)
class Trial:
    """One game of an experiment, its unit of statistics: an auction, a session, a water game or a series."""

    arm: str
    condition: str
    repeat: int
    config: AuctionConfig

    @property
    def path(self) -> str:
        """Where it stands in the folder of the experiment: ``arm/condition/0001``."""
        return f"{self.arm}/{self.condition}/{self.repeat:04}"


def trials(experiment: Experiment, repeats: int | None = None) -> list[Trial]:
    """List the games of an experiment, repeat by repeat, so that what is interrupted is balanced as far as it came.

    Args:
        experiment: the design.
        repeats: how many of each arm under each condition; what the design says by default.

    Raises:
        ConfigError: the settings of an arm are refused, two arms are equal, or a bidder is named whom none has.
    """
    wanted = _repeats(experiment, repeats)
    found = [
        trial(experiment, arm, condition, repeat)
        for repeat in range(1, max(wanted.values()) + 1)
        for arm in experiment.arms
        for condition in experiment.conditions
        if repeat <= wanted[arm.name, condition.name]
    ]
    check_cells(experiment, {(one.arm, one.condition): one.config for one in found if one.repeat == 1})
    return found


def trial_count(experiment: Experiment, repeats: int | None = None) -> int:
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


class PartialTrial(Settings):
    """The settings of a game before its slots are filled; what is not named here is as in an auction."""

    model_config = ConfigDict(frozen=True, extra="allow")

    bidders: list[dict[str, Any]] = Field(default_factory=list)
    models: dict[str, dict[str, Any]] = Field(default_factory=dict)


def trial(experiment: Experiment, arm: Variation, condition: Variation, repeat: int) -> Trial:
    """Resolve one game.

    Raises:
        ConfigError: its settings are refused.
    """
    where = f"experiment {experiment.name!r}, arm {arm.name!r}, condition {condition.name!r}"
    seed = derive(experiment.seed, "repeat", str(repeat)) % SEEDS
    try:
        common = check(PartialTrial, experiment.auction, "auction").model_dump()
        settings = _merged(_merged(common, condition.auction), arm.auction)
        values = _filled(check(PartialTrial, settings, "auction"), experiment, seed, repeat)
        called = {"name": f"{experiment.name} {arm.name} {condition.name} {repeat}", "seed": seed}
        order = arm.order or condition.order or experiment.order
        config = listed(check(AuctionConfig, values | called, "auction"), order)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return Trial(arm.name, condition.name, repeat, config)


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Apply changes: tables are merged, bidders by name, all else is replaced."""
    merged = dict(values)
    for key, change in changes.items():
        if key == "bidders":
            merged[key] = _bidders(values.get(key, []), change)
        elif key != "items" and isinstance(change, Mapping) and isinstance(values.get(key), Mapping):
            merged[key] = _merged(values[key], change)
        else:
            merged[key] = change
    return merged


def _bidders(bidders: list[dict[str, Any]], change: Any) -> Any:
    """Change bidders by a table, keep those that a list names, or replace them by a list of others."""
    by_table = isinstance(change, Mapping) and all(isinstance(one, Mapping) for one in change.values())
    if not by_table and not (isinstance(change, list) and change and all(isinstance(one, str) for one in change)):
        return change
    known = [str(bidder.get("name")) for bidder in bidders]
    for name in change:
        if name not in known and not (by_table and name == "*"):
            raise ConfigError(unknown("bidder", name, known))
    if not by_table:
        return [bidder for bidder in bidders if bidder.get("name") in change]
    return [{**bidder, **change.get("*", {}), **change.get(bidder.get("name"), {})} for bidder in bidders]


def _filled(draft: PartialTrial, experiment: Experiment, seed: int, repeat: int) -> dict[str, Any]:
    """Fill the slots of models and personas, seat the bidders, and draw houses that are matched."""
    pool = experiment.personas or tuple(personas())
    rotation = stream(experiment.seed, "personas").sample(pool, len(pool))
    bidders = [_bind_slots(bidder, experiment, rotation, repeat) for bidder in draft.bidders]
    values: dict[str, Any] = dict(draft.model_extra or {})
    items = values.get("items")
    if isinstance(items, Mapping) and isinstance(items.get("matched"), Mapping):
        wanted = check(MatchedHouses, dict(items), "items")
        values["items"] = _houses(wanted, seed, bidders, rotation, experiment, repeat)
    values["bidders"] = _seated(bidders, experiment.seed, repeat) if experiment.rotate_seats else bidders
    values["models"] = _models(draft.models, bidders, experiment)
    return values


def _seated(bidders: list[dict[str, Any]], seed: int, repeat: int) -> list[dict[str, Any]]:
    """Seat bidders by their names: in each block of as many repeats as they are, everyone sits once in every seat.

    Each block has an order of its own that goes round, so that over blocks neighbours change, and seats do not move in
    step with personas.
    """
    block, shift = divmod(repeat - 1, len(bidders) or 1)
    by_name = sorted(bidders, key=lambda bidder: str(bidder.get("name")))
    order = stream(seed, "seats", str(block)).sample(by_name, len(by_name))
    return order[shift:] + order[:shift]


def _bind_slots(bidder: Mapping[str, Any], experiment: Experiment, rotation: list[str], repeat: int) -> dict[str, Any]:
    """Put personas and a model in a bidder's slots."""
    cast = dict(bidder)
    mix = [cast["persona"]] if isinstance(cast.get("persona"), str) else cast.get("persona")
    if isinstance(mix, list) and all(isinstance(slot, str) for slot in mix):
        cast["persona"] = [_persona(slot, rotation, repeat) for slot in mix]
    model = str(cast.get("model", "simulated"))
    if SLOT.fullmatch(model):
        cast["model"] = experiment.models[number(model) - 1]
    return cast


def _persona(slot: str, rotation: list[str], repeat: int) -> str:
    """Give the persona of a slot: each repeat moves every slot on by one, so that each persona is in each in turn."""
    if not SLOT.fullmatch(slot):
        return slot
    if number(slot) > len(rotation):
        raise ConfigError(f"slot {slot!r} has no persona, as the pool holds {len(rotation)}; add to personas")
    return rotation[(number(slot) + repeat - 2) % len(rotation)]


def _models(
    own: Mapping[str, dict[str, Any]], bidders: list[dict[str, Any]], experiment: Experiment
) -> dict[str, dict[str, Any]]:
    """Give the settings of every model in use: its own, else the temperature and prices of the experiment."""
    used = dict.fromkeys(str(bidder.get("model", "simulated")) for bidder in bidders if not bidder.get("rule"))
    settings = {name: {"temperature": experiment.temperature, **own.get(name, {"use": name})} for name in used}
    prices = {use: price.model_dump() for use, price in experiment.prices.items()}
    return {name: prices.get(str(one.get("use")), {}) | one for name, one in settings.items()}


def _houses(
    wanted: MatchedHouses,
    seed: int,
    bidders: list[dict[str, Any]],
    rotation: list[str],
    experiment: Experiment,
    repeat: int,
) -> list[dict[str, Any]]:
    """Draw houses that suit the personas of slots, and so are the same for all arms, or those of bidders."""
    held = {bidder.get("name"): bidder["persona"] for bidder in bidders if isinstance(bidder.get("persona"), list)}
    mixes = {whose: held.get(whose) or [_persona(whose, rotation, repeat)] for whose in wanted.matched}
    reserved = _personas_in_repeat(experiment, rotation, repeat)
    return [item.model_dump() for item in matched_sale(wanted, seed, mixes, reserved)]


def _personas_in_repeat(experiment: Experiment, rotation: list[str], repeat: int) -> set[str]:
    """Name the personas that bidders have in any arm or condition of a repeat."""
    varied = (one.auction for one in (*experiment.arms, *experiment.arms_left_out, *experiment.conditions))
    return {_persona(slot, rotation, repeat) for slot in named("persona", (experiment.auction, *varied))}
