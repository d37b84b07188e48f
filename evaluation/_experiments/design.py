"""An experiment is data: what it varies, repeats, measures and compares, and what papers have published.

Settings of the auctions are written as in any config. A bidder's persona or model may be a slot instead, "@1", "@2" and
so on. Personas rotate over the slots from repeat to repeat; models fill the slots in the order given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.plugins.extensions import Kind
from harbor._core.plugins.finding import asked
from harbor._core.settings import Settings, check_distinct
from harbor.evaluation._experiments.design_parts import EVERYONE as EVERYONE
from harbor.evaluation._experiments.design_parts import RATINGS, ModelPrice
from harbor.evaluation._experiments.design_parts import Comparison as Comparison
from harbor.evaluation._experiments.design_parts import Deviation as Deviation
from harbor.evaluation._experiments.design_parts import Published as Published
from harbor.evaluation._experiments.design_parts import PublishedValue as PublishedValue
from harbor.evaluation._experiments.design_parts import Side as Side
from harbor.evaluation._experiments.design_parts import StandIn as StandIn
from harbor.evaluation._experiments.variations import (
    AuctionSettings,
    Crossing,
    Factor,
    Slug,
    check_products,
    crossed,
    number,
    slots_of_models,
)
from harbor.evaluation._experiments.variations import Order as Order
from harbor.evaluation._experiments.variations import Variation as Variation

OWN_NOISE = (
    "Same seed: all games of an arm under a condition have the same seed, items, seats and personas. Their spread, and"
    " every interval, are of the model's own noise alone; nothing about other draws follows."
)
"""What has to be said wherever results of an experiment with `same_seed` are shown."""


class Experiment(Settings):
    """Arms by conditions by repeats of an auction, a game or a series, and what is measured and compared.

    Attributes:
        name: Its name, in lower case.
        title: The title of its report.
        question: What it asks.
        source: The paper, section and table that it is of, or your own.
        repeats: How many games of each arm under each condition.
        seed: What everything that is drawn is drawn from.
        same_seed: Whether all repeats are one game again and again, so that they differ by the model's own noise
            alone.
        temperature: The temperature of its models. One that is stated must be taken by all of them; without it, it is
            0 for those that take one.
        auction: The settings that all games share, as of any auction.
        factors: What arms are the crossing of, in place of `arms`.
        crossing: The whole of it, or half.
        arms: What is varied: each arm changes some settings.
        arms_left_out: Arms that are planned but not run: comparisons with them still count in the family.
        conditions: Under what each arm is run.
        models: What fills the slots "@1", "@2" ... by default.
        prices: The prices of models ("provider:name", "provider:name at URL") whose settings name none; they are
            filled in when the experiment begins, so that it resumes at the same prices.
        personas: The pool of the persona slots; without it, the personas of its catalogue.
        rotate_personas: Over the "pool" from repeat to repeat, or "within" a draw: then as many repeats as there
            are slots share seed, items and order, and their personas take turns.
        rotate_seats: Whether the seats rotate from repeat to repeat.
        order: The order of the items.
        metrics: What is measured of each game.
        correlations: Pairs of metrics that are measured per item.
        figures: What is drawn in the report beside the figures of installed packages.
        trueskill: Whether bidders are rated from their ranks by profit.
        comparisons: The planned comparisons.
        published: What papers print, which is shown beside.
        stand_ins: What replaces what a paper had.
        deviations: Where it departs from its paper.
        note: What a reader has to know beside.
    """

    public: ClassVar[frozenset[str]] = frozenset(
        {
            "arms",
            "arms_left_out",
            "comparisons",
            "conditions",
            "correlations",
            "crossing",
            "deviations",
            "factors",
            "figures",
            "metrics",
            "name",
            "published",
            "question",
            "repeats",
            "rotate_seats",
            "same_seed",
            "source",
            "stand_ins",
            "temperature",
            "title",
            "trueskill",
        }
    )

    name: Slug
    title: str
    question: str
    source: str
    repeats: int = Field(ge=1)
    seed: int = Field(0, ge=0)
    same_seed: bool = False
    temperature: float | None = Field(None, ge=0, le=2)
    auction: AuctionSettings
    factors: tuple[Factor, ...] = ()
    crossing: Crossing = "whole"
    arms: tuple[Variation, ...] = Field((), min_length=1, validate_default=True)
    arms_left_out: tuple[Variation, ...] = ()
    conditions: tuple[Variation, ...] = (Variation(name="all"),)
    models: tuple[str, ...] = Field(("simulated",), min_length=1)
    prices: dict[str, ModelPrice] = Field(default_factory=dict)
    personas: tuple[str, ...] = ()
    rotate_personas: Literal["pool", "within"] = "pool"
    rotate_seats: bool = True
    order: Order = "given"
    metrics: tuple[str, ...] = Field(min_length=1)
    correlations: tuple[tuple[str, str], ...] = ()
    figures: tuple[str, ...] = ()
    trueskill: bool = False
    comparisons: tuple[Comparison, ...] = ()
    published: tuple[Published, ...] = ()
    stand_ins: tuple[StandIn, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    note: str = ""

    @property
    def cells(self) -> list[tuple[Variation, Variation]]:
        """Every arm under every condition, in order."""
        return list(product(self.arms, self.conditions))

    @property
    def games(self) -> dict[tuple[str, str], int]:
        """How many games of each arm under each condition: the fewer, where both have repeats of their own."""
        own = {(arm.name, condition.name): (arm.repeats, condition.repeats) for arm, condition in self.cells}
        return {cell: min(filter(None, both), default=self.repeats) for cell, both in own.items()}

    @field_validator("arms", mode="before")
    @classmethod
    def _crossed(cls, arms: Any, before: ValidationInfo) -> Any:
        """Make the arms of the factors, which are read before them."""
        if arms or "factors" not in before.data or "crossing" not in before.data:
            return arms
        factors, crossing = before.data["factors"], before.data["crossing"]
        return crossed(factors, crossing) if factors else arms

    @model_validator(mode="after")
    def _arms_are_of_the_factors(self) -> Experiment:
        """Refuse arms beside factors, unless they are their crossing, as in a design that was written down."""
        if not self.factors:
            if self.crossing != "whole":
                raise ValueError(f"crossing {self.crossing!r} is of factors, and there are none; add [[factors]]")
            return self
        made = {arm.name: arm.auction for arm in crossed(self.factors, self.crossing)}
        if made != {arm.name: arm.auction for arm in (*self.arms, *self.arms_left_out)}:
            raise ValueError("arms and factors are both given, and arms are not the crossing of factors; drop the arms")
        return self

    @model_validator(mode="after")
    def _products_are_bounded(self) -> Experiment:
        cells = len(self.arms) * len(self.conditions)
        check_products(cells, lambda: sum(self.games.values()), len(named_places(self)))
        check_distinct("metric", list(self.metrics))
        check_distinct("figure", list(self.figures))
        check_distinct("correlation", [f"{one} ~ {other}" for one, other in self.correlations])
        return self

    @model_validator(mode="after")
    def _known_names(self) -> Experiment:
        check_distinct("arm", arms := [arm.name for arm in (*self.arms, *self.arms_left_out)])
        check_distinct("condition", [condition.name for condition in self.conditions])
        derived = {f"{one} ~ {other}" for one, other in self.correlations}.union(RATINGS if self.trueskill else ())
        units = {name: _installed("metric", name).unit for name in measured(self)}
        own = {asked("metric", name).name for name in units}
        for one in (_installed("figure", name) for name in self.figures):
            if one.needs not in own:
                raise ValueError(f"figure {one.name!r} needs the metric {one.needs!r}; add it to metrics")
        _known("metric", [name for one in self.comparisons for name in one.metrics], self.metrics)
        for one in self.comparisons:
            if len(both := sorted({units[name] for name in one.metrics})) > 1:
                raise ValueError(f"the comparison of {one.metric!r} is in {' and '.join(both)}; keep to one")
        _known("metric", [one.metric for one in self.published], [*self.metrics, *derived])
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


def expanded(experiment: Experiment) -> Iterator[Comparison]:
    """Repeat each comparison in all arms and conditions that it leaves open, also in arms that are not run.

    The family is that of the plan: leaving an arm out must not make the other comparisons look more certain.
    """
    for comparison in experiment.comparisons:
        planned = (*experiment.arms, *experiment.arms_left_out)
        arms = [arm.name for arm in planned] if comparison.of.arm is None else [None]
        conditions = [one.name for one in experiment.conditions] if comparison.of.condition is None else [None]
        for arm in arms:
            for condition in conditions:
                filled = {"arm": arm} if arm else {}
                filled |= {"condition": condition} if condition else {}
                of, against = (
                    side.model_copy(update=filled | {"metric": metric})
                    for side, metric in zip((comparison.of, comparison.against), comparison.metrics, strict=True)
                )
                yield Comparison(metric=comparison.metric, of=of, against=against)
