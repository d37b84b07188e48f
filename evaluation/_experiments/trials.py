"""Builds the trials of a design: checks its cells, applies changes, fills slots, derives seeds.

Every random draw depends on the repeat alone, never on the arm or the condition. So trials of one repeat share their
seed, items, order, seats and personas, except for the changes of an arm or a condition: they are paired by common
random numbers. With `same_seed` all repeats use the first draw; rotations of personas within a draw share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pydantic import ConfigDict, Field

from harbor._config.auction import AuctionConfig, Bidder, Persona, check
from harbor._config.thinking import MindSettings
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.basics.numbers import derive, stream
from harbor._core.settings import Settings
from harbor._runs.inputs import RunInputs, agents_of, people_of
from harbor._runs.resolve import resolve
from harbor.evaluation._experiments.design import EVERYONE, Experiment, Variation, named_places
from harbor.evaluation._experiments.design_parts import priced
from harbor.evaluation._experiments.draws import MatchedItems, draw_of, lineup, listed, matched_sale, turns_of
from harbor.evaluation._experiments.variations import MOST_GAMES, SLOT, named, number
from harbor.personas._catalog.catalogue import Catalogue, catalogue_of, with_own

Cells = Mapping[tuple[str, str], AuctionConfig]
"""Settings of the first trial of each arm under each condition."""


def check_cells(experiment: Experiment, cells: Cells) -> None:
    """Refuse cells that would fail, or prove meaningless, only after trials had been run.

    So a mistake costs one line that names the arm and the condition, and no model calls.

    Raises:
        ConfigError: the rules refuse the settings of a cell; two arms or conditions are equal, or differ in the way
            of bidding though neither names it; or a comparison or a published number names a bidder that does not
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
    """Refuse two people in one game: at one terminal each could read the other's secrets."""
    if len(people := list(people_of(config))) > 1:
        raise ConfigError(
            f"bidders {people[0]!r} and {people[1]!r} are played by people, and a game of an experiment asks one; have"
            " others play the rest"
        )


def _refuse_equals(experiment: Experiment, cells: Cells) -> None:
    """Refuse two arms that are equal under every condition: one arm would count twice. The same goes for conditions."""
    plain = {cell: config.model_copy(update={"name": ""}) for cell, config in cells.items()}
    arms, conditions = ([one.name for one in some] for some in (experiment.arms, experiment.conditions))
    by_arm = {arm: [plain[arm, condition] for condition in conditions] for arm in arms}
    by_condition = {condition: [plain[arm, condition] for arm in arms] for condition in conditions}
    for kind, settings in (("arms", by_arm), ("conditions", by_condition)):
        for one, other in combinations(settings, 2):
            if settings[one] == settings[other]:
                raise ConfigError(f"{kind} {one!r} and {other!r} are equal; change one of them, or leave one out")


def _refuse_two_causes(cells: Cells) -> None:
    """Refuse cells that differ in bidding (by limit or by call) only through the defaults of their other settings.

    Otherwise a compared setting, such as a strategy, would bring a second cause with it.
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
    """Refuse a named bidder that does not bid in every cell of its comparison or published number."""
    for (arm, condition), config in cells.items():
        known = [bidder.name for bidder in config.bidders]
        for place in named_places(experiment):
            looked_for = (place.arm or arm) == arm and (place.condition or condition) == condition
            if looked_for and place.bidder not in ("", EVERYONE, *known):
                raise ConfigError(f"{unknown('bidder', place.bidder, known)} (in arm {arm!r}, condition {condition!r})")


SEEDS = 2**32
"""Number of seeds: a seed is below this."""
CATALOGUE: str = AuctionConfig.model_fields["catalogue"].default
"""Default catalogue of an auction."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One game of an experiment, the unit of statistics: an auction, a session, a water game or a series.

    `draw` separates the replies of a model to equal calls, which repeats with one seed must not share.
    """

    arm: str
    condition: str
    repeat: int
    config: AuctionConfig
    draw: str = ""

    @property
    def path(self) -> str:
        """Its path in the folder of the experiment: ``arm/condition/0001``."""
        return f"{self.arm}/{self.condition}/{self.repeat:04}"

    @property
    def person(self) -> Bidder | None:
        """The bidder that a person plays, if one does."""
        return next((bidder for bidder in self.config.bidders if bidder.person), None)


def trials(experiment: Experiment, repeats: int | None = None) -> list[Trial]:
    """List the trials of an experiment, repeat by repeat, so that an interrupted experiment is still balanced.

    Args:
        experiment: the design.
        repeats: games of each arm under each condition; by default those of the design.

    Raises:
        ConfigError: the settings of an arm are refused, two arms are equal, or a named bidder does not bid.
    """
    variations = {(arm.name, condition.name): (arm, condition) for arm, condition in experiment.cells}
    found = [trial(experiment, *variations[arm, condition], n) for arm, condition, n in planned(experiment, repeats)]
    check_cells(experiment, {(one.arm, one.condition): one.config for one in found if one.repeat == 1})
    return found


def people(experiment: Experiment) -> dict[str, str]:
    """Return the bidder that a person plays, by arm.

    Raises:
        ConfigError: as `trials` does.
    """
    return {one.arm: one.person.name for one in trials(experiment, 1) if one.person}


def trial_count(experiment: Experiment, repeats: int | None = None) -> int:
    """Count the trials of an experiment without building them."""
    return sum(planned_repeats(experiment, repeats).values())


def planned(experiment: Experiment, repeats: int | None = None) -> list[tuple[str, str, int]]:
    """List the arm, the condition and the repeat of each trial, in order, without building the trials."""
    wanted = planned_repeats(experiment, repeats)
    games = [(repeat, place, cell) for place, cell in enumerate(wanted) for repeat in range(1, wanted[cell] + 1)]
    return [(*cell, repeat) for repeat, _, cell in sorted(games)]


def planned_repeats(experiment: Experiment, repeats: int | None = None) -> dict[tuple[str, str], int]:
    """Return the repeats of each arm under each condition: as designed, or `repeats` of each.

    Raises:
        ConfigError: `repeats` is below 1, or makes more games than a design may have.
    """
    if repeats is None:
        return experiment.games
    most = MOST_GAMES // len(experiment.cells)
    if not 1 <= repeats <= most:
        raise ConfigError(f"repeats {repeats}: ask for 1 to {most:,}; a design has at most {MOST_GAMES:,} games")
    return dict.fromkeys(experiment.games, repeats)


class PartialTrial(Settings):
    """The settings of a trial before its slots are filled. All other keys are those of an auction."""

    model_config = ConfigDict(frozen=True, extra="allow")

    catalogue: str = CATALOGUE
    personas: tuple[Persona, ...] = ()
    bidders: list[dict[str, Any]] = Field(default_factory=list)
    models: dict[str, dict[str, Any]] = Field(default_factory=dict)


def trial(experiment: Experiment, arm: Variation, condition: Variation, repeat: int) -> Trial:
    """Build one trial.

    Raises:
        ConfigError: its settings are refused.
    """
    where = f"experiment {experiment.name!r}, arm {arm.name!r}, condition {condition.name!r}"
    played = 1 if experiment.same_seed else repeat
    seed = derive(experiment.seed, "repeat", str(draw_of(experiment, played))) % SEEDS
    shared = experiment.same_seed or turns_of(experiment) > 1
    try:
        common = check(PartialTrial, experiment.auction, "auction").model_dump()
        settings = _merged(_merged(common, condition.auction), arm.auction)
        values = _filled(check(PartialTrial, settings, "auction"), experiment, seed, played)
        called = {"name": f"{experiment.name} {arm.name} {condition.name} {repeat}", "seed": seed}
        order = arm.order or condition.order or experiment.order
        config = listed(check(AuctionConfig, values | called, "auction"), order)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return Trial(arm.name, condition.name, repeat, config, str(repeat) if shared else "")


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Apply changes: merge tables, merge bidders by name, replace all else."""
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
    """Change bidders by a table, keep those in a list of names, or replace them by a list of new ones."""
    by_table = isinstance(change, Mapping) and all(isinstance(one, Mapping) for one in change.values())
    if not by_table and not (isinstance(change, list) and change and all(isinstance(one, str) for one in change)):
        return change
    known = [str(bidder.get("name")) for bidder in bidders]
    for name in change:
        if name not in known and not (by_table and name == "*"):
            raise ConfigError(unknown("bidder", name, known))
    if not by_table:
        return [bidder for bidder in bidders if bidder.get("name") in change]
    return [_played(_played(bidder, change.get("*", {})), change.get(bidder.get("name"), {})) for bidder in bidders]


def _played(bidder: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Change a bidder. A new player replaces the old one; without a model, the settings of a mind go too."""
    if not any(change.get(player) for player in PLAYERS):
        return {**bidder, **change}
    gone = PLAYERS if change.get("model") else (*PLAYERS, *MindSettings.model_fields)
    return {**{key: value for key, value in bidder.items() if key not in gone}, **change}


PLAYERS = ("model", "rule", "agent", "person")
"""Settings that name the player of a bidder."""


def _filled(partial: PartialTrial, experiment: Experiment, seed: int, repeat: int) -> dict[str, Any]:
    """Fill the slots of models and personas, seat the bidders, and draw matched items."""
    catalogue = catalogue_of(partial.catalogue)
    pool = experiment.personas or tuple(catalogue.personas)
    bidders = [_bind_slots(bidder, experiment, lineup(experiment, pool, repeat)) for bidder in partial.bidders]
    common = {"catalogue": partial.catalogue, "personas": partial.personas}
    values: dict[str, Any] = {**(partial.model_extra or {}), **common}
    items = values.get("items")
    if isinstance(items, Mapping) and isinstance(items.get("matched"), Mapping):
        wanted = check(MatchedItems, dict(items), "items")
        turns = turns_of(experiment)
        first = lineup(experiment, pool, (repeat - 1) // turns * turns + 1)  # so all repeats of a draw share items
        own = with_own(catalogue, partial.personas, wanted.of)
        values["items"] = _matched(own, wanted, seed, bidders, first, experiment)
    values["bidders"] = _seated(bidders, experiment.seed, repeat) if experiment.rotate_seats else bidders
    values["models"] = _models(partial.models, bidders, experiment)
    return values


def _seated(bidders: list[dict[str, Any]], seed: int, repeat: int) -> list[dict[str, Any]]:
    """Rotate the seats: in each block of as many repeats as there are bidders, everyone sits once in every seat.

    Each block rotates a new random order. With one order for all blocks a bidder would always sit behind the same
    rival, and seats would move in step with personas, which also move by one per repeat.
    """
    block, shift = divmod(repeat - 1, len(bidders) or 1)
    by_name = sorted(bidders, key=lambda bidder: str(bidder.get("name")))
    order = stream(seed, "seats", str(block)).sample(by_name, len(by_name))
    return order[shift:] + order[:shift]


def _bind_slots(bidder: Mapping[str, Any], experiment: Experiment, line: Sequence[str]) -> dict[str, Any]:
    """Put personas and a model in a bidder's slots."""
    filled = dict(bidder)
    mix = [filled["persona"]] if isinstance(filled.get("persona"), str) else filled.get("persona")
    if isinstance(mix, list) and all(isinstance(slot, str) for slot in mix):
        filled["persona"] = [_persona(slot, line) for slot in mix]
    model = str(filled.get("model", "simulated"))
    if SLOT.fullmatch(model):
        filled["model"] = experiment.models[number(model) - 1]
    return filled


def _persona(slot: str, line: Sequence[str]) -> str:
    """Return the persona of a slot. A name that is no slot is a persona itself."""
    if not SLOT.fullmatch(slot):
        return slot
    if number(slot) > len(line):
        raise ConfigError(f"slot {slot!r} has no persona, as the pool has {len(line)}; add to personas")
    return line[number(slot) - 1]


def _models(
    own: Mapping[str, dict[str, Any]], bidders: list[dict[str, Any]], experiment: Experiment
) -> dict[str, dict[str, Any]]:
    """Return the settings of every model in use, by default with the experiment's temperature and prices."""
    thinking = (bidder for bidder in bidders if not any(bidder.get(player) for player in PLAYERS[1:]))
    playing = [str(bidder.get("model", "simulated")) for bidder in thinking]
    reserves = [own[name]["fallback"] for name in playing if own.get(name, {}).get("fallback")]
    used = dict.fromkeys([*playing, *reserves])
    # settings under a model's name, such as "openai:gpt-4.1", belong to that model unless they name another
    by_name = {name: {"use": name} if ":" in name or name not in own else {} for name in used}
    settings = {name: _with_temperature(by_name[name] | own.get(name, {}), experiment.temperature) for name in used}
    return {name: priced(one, experiment.prices) for name, one in settings.items()}


def _with_temperature(own: dict[str, Any], common: float | None) -> dict[str, Any]:
    """Add a temperature to a model's settings: its own, or the design's (both must be accepted), or 0 if accepted."""
    stated = own.get("temperature", common)
    return ({"temperature": 0.0} if stated is None else {"temperature": stated, "must_take": ["temperature"]}) | own


def _matched(
    catalogue: Catalogue,
    wanted: MatchedItems,
    seed: int,
    bidders: list[dict[str, Any]],
    line: Sequence[str],
    experiment: Experiment,
) -> list[dict[str, Any]]:
    """Draw items that match the personas of slots (so the same for all arms) or of bidders."""
    own = {bidder.get("name"): bidder["persona"] for bidder in bidders if isinstance(bidder.get("persona"), list)}
    mixes = {whose: own.get(whose) or [_persona(whose, line)] for whose in wanted.matched}
    reserved = _personas_in_repeat(experiment, line)
    return [item.model_dump() for item in matched_sale(catalogue, wanted, seed, mixes, reserved)]


def _personas_in_repeat(experiment: Experiment, line: Sequence[str]) -> set[str]:
    """Return the personas that bidders have in any arm or condition of a repeat."""
    varied = (one.auction for one in (*experiment.arms, *experiment.arms_left_out, *experiment.conditions))
    return {_persona(slot, line) for slot in named("persona", (experiment.auction, *varied))}
