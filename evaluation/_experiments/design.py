"""The design of an experiment: its arms, conditions, repeats, metrics, comparisons and published numbers.

Auction settings are written as in any config. A bidder's persona or model may be a slot instead, "@1", "@2" and so on.
Personas rotate over the slots from repeat to repeat. Models fill the slots in the given order.
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
"""Warning to show with all results of an experiment with `same_seed`."""


class Experiment(Settings):
    """Arms by conditions by repeats of an auction, a game or a series, with its metrics and planned comparisons.

    Attributes:
        name: Name, in lower case.
        title: Title of the report.
        question: Question that the experiment asks.
        source: Paper, section and table that it repeats, or your own words.
        repeats: Games of each arm under each condition.
        seed: Random seed. The same seed gives the same draws.
        same_seed: Whether all repeats are the same game, so that they differ by the model's own noise alone.
        temperature: Temperature of all models; each has to accept it. None: 0 for models that accept a temperature.
        auction: Settings that all games share, as in any auction.
        factors: Factors whose crossing makes the arms, in place of `arms`.
        crossing: Whether the arms are the whole crossing or half of it.
        arms: Variants: each arm changes some settings.
        arms_left_out: Arms that are planned but not run. Comparisons with them still count in Holm's family.
        conditions: Conditions under which each arm is run.
        models: Default models for the slots "@1", "@2" ...
        prices: Prices of models ("provider:name", "provider:name at URL") whose settings name none. They are filled
            in when the experiment begins, so that it resumes at the same prices.
        personas: Pool for the persona slots; by default the personas of the catalogue.
        rotate_personas: Over the "pool" from repeat to repeat, or "within" a draw: then as many repeats as there
            are slots share seed, items and order, and their personas take turns.
        rotate_seats: Whether the seats rotate from repeat to repeat.
        order: Order of the items.
        metrics: Metrics of each game.
        correlations: Pairs of metrics to correlate; both are measured per item.
        figures: Figures in the report beside those of installed packages.
        trueskill: Whether bidders are rated from their ranks by profit.
        comparisons: Planned comparisons.
        published: Numbers from papers, shown beside ours.
        stand_ins: Substitutes for parts of the published experiment.
        deviations: Departures from the paper.
        note: Further facts that a reader needs.
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
        """Games of each arm under each condition. If both have their own repeats, the smaller number counts."""
        own = {(arm.name, condition.name): (arm.repeats, condition.repeats) for arm, condition in self.cells}
        return {cell: min(filter(None, both), default=self.repeats) for cell, both in own.items()}

    @field_validator("arms", mode="before")
    @classmethod
    def _crossed(cls, arms: Any, before: ValidationInfo) -> Any:
        """Make the arms from the factors, which pydantic reads before the arms."""
        if arms or "factors" not in before.data or "crossing" not in before.data:
            return arms
        factors, crossing = before.data["factors"], before.data["crossing"]
        return crossed(factors, crossing) if factors else arms

    @model_validator(mode="after")
    def _arms_are_of_the_factors(self) -> Experiment:
        """Refuse arms beside factors, unless the arms are their crossing, as in a saved design."""
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
    """List everything that names an arm, a condition or a bidder: sides of comparisons and published numbers."""
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
    """List the slots for models in order: "@1", "@2" ..."""
    return slots_of_models((experiment.auction, *(one.auction for one in (*experiment.arms, *experiment.conditions))))


def with_models(experiment: Experiment, models: Sequence[str]) -> Experiment:
    """Fill the first slots with these models. Drop their stand-ins and keep the rest.

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
    """Return a sentence for each replaced part of the published experiment: models in slot order, then other parts."""
    told = {one.slot: f", in place of {one.wants}: {one.uses}" for one in experiment.stand_ins if one.slot}
    models = dict(zip(model_slots(experiment), experiment.models, strict=False))
    built_in = {slot: " is filled by the built-in model (simulated)" for slot in models if models[slot] == "simulated"}
    slots = sorted((built_in | told).items(), key=lambda one: number(one[0]))
    others = (f"in place of {one.wants}: {one.uses}" for one in experiment.stand_ins if not one.slot)
    return (*(f"model slot {slot}{words}" for slot, words in slots), *others)


def measured(experiment: Experiment) -> tuple[str, ...]:
    """List every metric to measure: the design's own, those to correlate, and the ranks for TrueSkill."""
    correlated = (name for pair in experiment.correlations for name in pair)
    ranks = (ranking(experiment),) if experiment.trueskill else ()
    return tuple(dict.fromkeys((*experiment.metrics, *correlated, *ranks)))


def ranking(experiment: Experiment) -> str:
    """Return the metric whose ranks TrueSkill uses: that of each auction for a series, else that of the game."""
    variations = (*experiment.arms, *experiment.conditions)
    series = any("series" in settings for settings in (experiment.auction, *(one.auction for one in variations)))
    return "series_rank" if series else "rank"


def expanded(experiment: Experiment) -> Iterator[Comparison]:
    """Yield each comparison once per arm and condition that it leaves open, also for arms that are not run.

    The family comes from the plan: leaving an arm out must not make the other comparisons look more certain.
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
