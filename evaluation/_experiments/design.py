"""An experiment as data: what it varies, repeats, measures and compares, and what papers have published.

Settings of the auctions are written as in any config. A bidder's persona or model may be a slot instead, "@1", "@2" and
so on. Personas rotate over the slots from repeat to repeat; models fill the slots in the order given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from harbor._core.errors import ConfigError, unknown
from harbor._core.extensions import Kind
from harbor._core.finding import asked
from harbor._core.settings import Settings, check_distinct
from harbor.evaluation._experiments.model_prices import ModelPrice
from harbor.evaluation._experiments.published import EVERYONE as EVERYONE
from harbor.evaluation._experiments.published import Published as Published
from harbor.evaluation._experiments.published import PublishedValue as PublishedValue
from harbor.evaluation._experiments.published import StandIn as StandIn
from harbor.evaluation._experiments.slots import number, slots_of_models


def _slug(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError("names a folder; write words in lower case joined by hyphens, such as 'low-supply'")
    return name


Slug = Annotated[str, Field(max_length=60), AfterValidator(_slug)]
Order = Literal["given", "random", "ascending", "descending"] | tuple[str, ...]


OWN_NOISE = (
    "Same seed: all games of an arm under a condition have the same seed, items, seats and personas. Their spread, and"
    " every interval, are of the model's own noise alone; nothing about other draws follows."
)
"""What has to be said wherever results of an experiment with `same_seed` are shown."""


class Variation(Settings):
    """An arm or a condition: a name, and its changes to the common settings.

    In `auction`, `bidders` is a table of changes by name ("*": every bidder), a list of names (the others leave), or
    a list of new bidders. Tables are merged; every other value replaces the common one.
    `repeats` and `order` replace those of the experiment.
    """

    name: Slug
    label: str = ""
    repeats: int | None = Field(None, ge=1)
    order: Order | None = None
    auction: dict[str, Any] = Field(default_factory=dict)


class Side(Settings):
    """One side of a comparison: a bidder (default: the mean of everyone) in an arm under a condition.

    `metric` replaces that of the comparison on this side, in the same unit.
    """

    metric: str | None = None
    arm: str | None = None
    condition: str | None = None
    bidder: str = EVERYONE


class Comparison(Settings):
    """A planned comparison of one metric, or of two: `of` minus `against`, paired by repeat.

    If neither side names an arm (or a condition), there is one comparison in each arm (or condition).
    """

    metric: str
    of: Side = Side()
    against: Side = Side()

    @model_validator(mode="after")
    def _open_on_both_sides(self) -> Comparison:
        for name in ("arm", "condition"):
            if (getattr(self.of, name) is None) != (getattr(self.against, name) is None):
                raise ValueError(f"only one side of the comparison of {self.metric!r} names its {name}; name both")
        one, other = (side.model_copy(update={"metric": None}) for side in (self.of, self.against))
        if one == other and len(set(self.metrics)) == 1:
            raise ValueError(f"the comparison of {self.metric!r} has two equal sides; name what differs")
        return self

    @property
    def metrics(self) -> tuple[str, str]:
        """The metric of each side."""
        return self.of.metric or self.metric, self.against.metric or self.metric


class Experiment(Settings):
    """Arms by conditions by repeats of an auction, a game or a series, and what is measured and compared.

    `models` fill the slots "@1", "@2" ... by default. `personas` are the pool of the persona slots (by default the ten
    of its catalogue). `correlations` are pairs of metrics that are measured per item. `figures` are drawn in the report
    beside those of installed packages. `trueskill`: rate the bidders from their ranks by profit. `prices` are of the
    models ("provider:name", "provider:name at URL") whose settings name none; they are filled in when the experiment
    begins, so that it resumes at the same prices. `same_seed`: all repeats have the seed, items, order, seats and
    personas of the first, so that they differ by the model's own noise alone. `arms_left_out` are planned but not run:
    comparisons with them still count in the family of planned comparisons.
    """

    name: Slug
    title: str
    question: str
    source: str
    repeats: int = Field(ge=1)
    seed: int = Field(0, ge=0)
    same_seed: bool = False
    temperature: float = Field(0.0, ge=0, le=2)
    auction: dict[str, Any]
    arms: tuple[Variation, ...] = Field(min_length=1)
    arms_left_out: tuple[Variation, ...] = ()
    conditions: tuple[Variation, ...] = (Variation(name="all"),)
    models: tuple[str, ...] = Field(("simulated",), min_length=1)
    prices: dict[str, ModelPrice] = Field(default_factory=dict)
    personas: tuple[str, ...] = ()
    rotate_seats: bool = True
    order: Order = "given"
    metrics: tuple[str, ...] = Field(min_length=1)
    correlations: tuple[tuple[str, str], ...] = ()
    figures: tuple[str, ...] = ()
    trueskill: bool = False
    comparisons: tuple[Comparison, ...] = ()
    published: tuple[Published, ...] = ()
    stand_ins: tuple[StandIn, ...] = ()
    note: str = ""

    @property
    def cells(self) -> list[tuple[Variation, Variation]]:
        """Every arm under every condition, in order."""
        return list(product(self.arms, self.conditions))

    @model_validator(mode="after")
    def _known_names(self) -> Experiment:
        check_distinct("arm", arms := [arm.name for arm in (*self.arms, *self.arms_left_out)])
        check_distinct("condition", [condition.name for condition in self.conditions])
        correlated = {f"{one} ~ {other}" for one, other in self.correlations}
        units = {name: _installed("metric", name).unit for name in measured(self)}
        own = {asked("metric", name).name for name in units}
        for one in (_installed("figure", name) for name in self.figures):
            if one.needs not in own:
                raise ValueError(f"figure {one.name!r} needs the metric {one.needs!r}; add it to metrics")
        _known("metric", [name for one in self.comparisons for name in one.metrics], self.metrics)
        for one in self.comparisons:
            if len(both := sorted({units[name] for name in one.metrics})) > 1:
                raise ValueError(f"the comparison of {one.metric!r} is in {' and '.join(both)}; keep to one")
        rated = ["trueskill"] if self.trueskill else []
        _known("metric", [one.metric for one in self.published], [*self.metrics, *correlated, *rated])
        _known("arm", [place.arm for place in named_places(self) if place.arm], arms)
        conditions = [condition.name for condition in self.conditions]
        _known("condition", [place.condition for place in named_places(self) if place.condition], conditions)
        return self

    @model_validator(mode="after")
    def _slots_are_filled(self) -> Experiment:
        for slot in model_slots(self):
            if number(slot) > len(self.models):
                raise ValueError(f"slot {slot!r} has no model, as models names {len(self.models)}; name one for each")
        return self


def named_places(experiment: Experiment) -> list[Side | PublishedValue]:
    """List whatever names an arm, a condition or a bidder: sides of comparisons and published numbers."""
    sides = [side for comparison in experiment.comparisons for side in (comparison.of, comparison.against)]
    return [*sides, *(value for one in experiment.published for value in one.values)]


def _installed(kind: Kind, name: str) -> Any:
    try:
        return asked(kind, name)
    except ConfigError as error:
        raise ValueError(str(error)) from error


def _known(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    choices = list(known)
    for name in names:
        if name not in choices:
            raise ValueError(unknown(kind, name, choices))


def model_slots(experiment: Experiment) -> tuple[str, ...]:
    """Name the slots that a model can be given for, in order: "@1", "@2" ..."""
    return slots_of_models((experiment.auction, *(one.auction for one in (*experiment.arms, *experiment.conditions))))


def with_models(experiment: Experiment, models: Sequence[str]) -> Experiment:
    """Fill the first slots with these models; stand-ins keep the rest.

    Raises:
        ConfigError: there are more models than slots.
    """
    slots = model_slots(experiment)
    if len(models) > len(slots):
        surplus, room = models[len(slots)], f"experiment {experiment.name!r} has {len(slots)} slots for models"
        raise ConfigError(f"model {surplus!r} is one too many: {room}; drop it")
    filled = slots[: len(models)]
    changes = {
        "models": (*models, *experiment.models[len(models) :]),
        "stand_ins": tuple(one for one in experiment.stand_ins if one.slot not in filled),
    }
    return experiment.model_copy(update=changes)


def substitutes(experiment: Experiment) -> tuple[str, ...]:
    """Say in words what replaces what the published experiment had: models by slot, then all else."""
    told = {one.slot: f", in place of {one.wants}: {one.uses}" for one in experiment.stand_ins if one.slot}
    models = dict(zip(model_slots(experiment), experiment.models, strict=False))
    built_in = {slot: " is filled by the built-in model (simulated)" for slot in models if models[slot] == "simulated"}
    slots = sorted((built_in | told).items(), key=lambda one: number(one[0]))
    others = (f"in place of {one.wants}: {one.uses}" for one in experiment.stand_ins if not one.slot)
    return (*(f"model slot {slot}{words}" for slot, words in slots), *others)


def measured(experiment: Experiment) -> tuple[str, ...]:
    """Name every metric that its trials are measured by: its own, those correlated, and ranks for TrueSkill."""
    correlated = (name for pair in experiment.correlations for name in pair)
    ranks = (ranking(experiment),) if experiment.trueskill else ()
    return tuple(dict.fromkeys((*experiment.metrics, *correlated, *ranks)))


def ranking(experiment: Experiment) -> str:
    """Name the metric of the ranks that bidders are rated by; a series has ranks in each of its auctions."""
    variations = (*experiment.arms, *experiment.conditions)
    series = any("series" in settings for settings in (experiment.auction, *(one.auction for one in variations)))
    return "series_rank" if series else "rank"
