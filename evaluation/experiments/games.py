"""From the design to its games: what is varied is applied, slots are filled, seeds are derived.

Everything that chance decides hangs on the repeat alone, so that games of the same repeat share items, order, seats (of
the same bidders), personas and seed in all arms and conditions: they are paired by common random numbers. From repeat
to repeat seats move on by one, and so do personas, so that over as many repeats each bidder has each in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from harbor.config import AuctionConfig, Item, check
from harbor.errors import ConfigError, unknown
from harbor.evaluation.experiments.cells import check_cells
from harbor.evaluation.experiments.design import Experiment, Order, Variation
from harbor.evaluation.experiments.slots import SLOT, number
from harbor.personas.catalog import houses, personas
from harbor.seeding import derive, stream
from harbor.settings import Settings

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


class Draft(Settings):
    """The settings of a game before its slots are filled; what is not named here is as in an auction."""

    model_config = ConfigDict(frozen=True, extra="allow")

    bidders: list[dict[str, Any]] = Field(default_factory=list)
    models: dict[str, dict[str, Any]] = Field(default_factory=dict)


class MatchedHouses(Settings):
    """A sample of houses: how many in all, and how many of them suit the persona of a slot or of a bidder."""

    count: int = Field(10, ge=1)
    matched: dict[str, Annotated[int, Field(ge=0)]]


def game(experiment: Experiment, arm: Variation, condition: Variation, repeat: int) -> Game:
    """Resolve one game.

    Raises:
        ConfigError: its settings are refused.
    """
    where = f"experiment {experiment.name!r}, arm {arm.name!r}, condition {condition.name!r}"
    seed = derive(experiment.seed, "repeat", str(repeat)) % SEEDS
    try:
        common = check(Draft, experiment.auction, "auction").model_dump()
        settings = _merged(_merged(common, condition.auction), arm.auction)
        values = _filled(check(Draft, settings, "auction"), experiment, seed, repeat)
        named = {"name": f"{experiment.name} {arm.name} {condition.name} {repeat}", "seed": seed}
        config = check(AuctionConfig, values | named, "auction")
        order = arm.order or condition.order or experiment.order
        if isinstance(config.items, tuple):
            config = config.model_copy(update={"items": _ordered(config.items, order, seed)})
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return Game(arm.name, condition.name, repeat, config)


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


def _filled(draft: Draft, experiment: Experiment, seed: int, repeat: int) -> dict[str, Any]:
    """Fill the slots of models and personas, seat the bidders, and draw houses that are matched."""
    pool = experiment.personas or tuple(personas())
    rotation = stream(experiment.seed, "personas").sample(pool, len(pool))
    bidders = [_cast(bidder, experiment, rotation, repeat) for bidder in draft.bidders]
    shift = (repeat - 1) % len(bidders) if experiment.rotate_seats and bidders else 0
    values: dict[str, Any] = dict(draft.model_extra or {})
    items = values.get("items")
    if isinstance(items, Mapping) and isinstance(items.get("matched"), Mapping):
        values["items"] = _houses(check(MatchedHouses, dict(items), "items"), seed, bidders, rotation, repeat)
    values["bidders"] = bidders[shift:] + bidders[:shift]
    values["models"] = _models(draft.models, bidders, experiment)
    return values


def _cast(bidder: Mapping[str, Any], experiment: Experiment, rotation: list[str], repeat: int) -> dict[str, Any]:
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
    used = dict.fromkeys(str(bidder.get("model", "simulated")) for bidder in bidders)
    settings = {name: {"temperature": experiment.temperature, **own.get(name, {"use": name})} for name in used}
    prices = {use: price.model_dump() for use, price in experiment.prices.items()}
    return {name: prices.get(str(one.get("use")), {}) | one for name, one in settings.items()}


def _houses(
    wanted: MatchedHouses, seed: int, bidders: list[dict[str, Any]], rotation: list[str], repeat: int
) -> list[dict[str, Any]]:
    """Draw houses that suit the personas of slots, and so are the same for all arms, or those of bidders."""
    held = {bidder.get("name"): bidder["persona"] for bidder in bidders if isinstance(bidder.get("persona"), list)}
    matched: Counter[str] = Counter()
    for whose, count in wanted.matched.items():
        mix = held.get(whose) or [_persona(whose, rotation, repeat)]
        matched.update({persona: len(range(place, count, len(mix))) for place, persona in enumerate(mix)})
    return [item.model_dump() for item in houses(wanted.count, seed, matched)]


def _ordered(items: tuple[Item, ...], order: Order, seed: int) -> tuple[Item, ...]:
    if order == "random":
        return tuple(stream(seed, "order").sample(items, len(items)))
    if order in ("ascending", "descending"):
        return tuple(sorted(items, key=lambda item: item.start, reverse=order == "descending"))
    if isinstance(order, tuple):
        by_name = {item.name: item for item in items}
        if sorted(order) != sorted(by_name):
            raise ConfigError(f"order {list(order)!r} is not one of all items; name each of {sorted(by_name)} once")
        return tuple(by_name[name] for name in order)
    return items
