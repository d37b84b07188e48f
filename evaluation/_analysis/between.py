"""Comparisons of two experiments, paired by repeat if their games share all random draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from harbor._config.auction import AuctionConfig
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._analysis.comparisons import ONE_DRAW, bounds_in, by_repeat, most_apart, tested, unreached
from harbor.evaluation._analysis.frames import frame, measurements
from harbor.evaluation._analysis.levels import is_found
from harbor.evaluation._analysis.means import Mean, Method, mean_of, per_draw, share_of
from harbor.evaluation._analysis.pivots import Floats
from harbor.evaluation._analysis.statistics import Tested, holm, independent
from harbor.evaluation._experiments.design import EVERYONE, Side, Variation, measured
from harbor.evaluation._experiments.draws import draws_of, turns_of
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._experiments.trials import trial
from harbor.evaluation._metrics.measurement import Bounds, Interval, metric_of
from harbor.personas._catalog.catalogue import resolve_items

Cell = tuple[Variation, Variation]
"""An arm under a condition."""
UNTOLD = "a public copy does not tell seeds"
OTHER_SEEDS = "other seeds"
OTHER_ROTATION = "other numbers of games share a draw"
OTHER_ITEMS = "the same seeds, but other items"
OTHER_SEATS = "the same seeds, but other seats"


@dataclass(frozen=True, slots=True)
class Pairing:
    """The repeats of two cells that are pairs, or `why` there are none."""

    repeats: frozenset[int]
    why: str = ""


def pairing(of: Results, against: Results, cells: tuple[Cell, Cell]) -> Pairing:
    """Return the repeats that have the same seed, items and seats in a cell of each experiment.

    All other differences are the subject of the comparison. Items and seats are checked in the first repeat with one
    seed, because they follow from settings and seed alone.
    """
    ours, theirs = (_seeds(results, cell) for results, cell in zip((of, against), cells, strict=True))
    if of.public or against.public:
        return Pairing(frozenset(), UNTOLD)
    if of.experiment.same_seed or against.experiment.same_seed:
        return Pairing(frozenset(), ONE_DRAW)
    if turns_of(of.experiment) != turns_of(against.experiment):
        return Pairing(frozenset(), OTHER_ROTATION)
    shared = frozenset(repeat for repeat, seed in ours.items() if theirs.get(repeat) == seed)
    if not shared:
        return Pairing(shared, OTHER_SEEDS)
    one, other = (
        trial(results.experiment, *cell, min(shared)).config for results, cell in zip((of, against), cells, strict=True)
    )
    why = _unlike(one, other)
    return Pairing(frozenset() if why else shared, why)


def _seeds(results: Results, cell: Cell) -> Mapping[int, int | None]:
    names = tuple(one.name for one in cell)
    return {game.repeat: game.seed for game in results.records if (game.arm, game.condition) == names}


def _unlike(one: AuctionConfig, other: AuctionConfig) -> str:
    """Say which part two games of one seed do not share; only seats of bidders in both are compared."""
    if resolve_items(one) != resolve_items(other):
        return OTHER_ITEMS
    names = {bidder.name for bidder in one.bidders} & {bidder.name for bidder in other.bidders}
    return OTHER_SEATS if _seated(one, names) != _seated(other, names) else ""


def _seated(config: AuctionConfig, names: set[str]) -> Sequence[str]:
    return [bidder.name for bidder in config.bidders if bidder.name in names]


How = Literal["paired", "independent"]
ONE_SIDE = "the games of a side are all of one draw, which has no spread"
Values = dict[tuple[str, str, str], pd.DataFrame]
"""Measured values by arm, condition and metric."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The means of a metric in two experiments, and their difference: `experiment` minus the reference (`against`).

    Fields that begin with `value` are the mean in the experiment and its 95 % interval, and fields that begin with
    `against` are those of the reference. `mean`, `low` and `high` are the difference and its interval. `arm` is the arm
    in both experiments, unless `against_arm` names another arm of the reference. `n` is the number of games with a
    value, and `draws` the number of their independent random draws, which are the unit of intervals and tests. `how`
    says whether games are compared as pairs or as independent samples, and `why` says why they are no pairs; `pairs` is
    the number of pairs in which both games have a value. `effect` is Hedges' g with its interval. `method` is the
    method of the interval and of `p`. `p_holm` is `p` corrected by Holm for all comparisons of the call. `note` says
    why there is no interval, for instance because all games of a side share one draw.
    """

    experiment: str
    metric: str
    bidder: str
    arm: str
    condition: str
    against_arm: str
    value: float | None
    value_low: float | None
    value_high: float | None
    n: int
    against: float | None
    against_low: float | None
    against_high: float | None
    against_n: int
    how: How
    why: str
    pairs: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    effect: float | None
    p: float | None
    p_holm: float | None
    method: Method
    note: str = ""
    draws: int = 0
    against_draws: int = 0
    effect_low: float | None = None
    effect_high: float | None = None

    @property
    def is_found(self) -> bool:
        """Say whether the difference is significant at 5 %, corrected for all comparisons."""
        return is_found(self.p_holm)

    @property
    def is_equal(self) -> bool:
        """Say whether both games of each pair have the same value, and not only the means of each draw."""
        return 0 < self.pairs <= self.draws and self.mean == 0 and not self.sd


def contrasts(named: dict[str, Results], metrics: Sequence[str] = ()) -> list[Contrast]:
    """Compare each experiment with the first one, as one family of tests.

    Args:
        named: two or more experiments, by display name.
        metrics: metrics to compare; by default, all that both experiments measure.

    Raises:
        ConfigError: two have no arm, condition or metric in common; the message names those of each.
    """
    (first, reference), *others = named.items()
    own = _values(reference)
    found = [
        one
        for name, results in others
        for one in _between(name, results, _values(results), first, reference, own, metrics)
    ]
    adjusted = holm([one.p for one in found])
    return [replace(one, p_holm=p) for one, p in zip(found, adjusted, strict=True)]


def shared_cells(of: Results, against: Results) -> list[tuple[Cell, Cell]]:
    """Match the arms and conditions of two experiments by name; a single one on each side matches under any name."""
    arms = _matched(of.experiment.arms, against.experiment.arms)
    conditions = _matched(of.experiment.conditions, against.experiment.conditions)
    return [((arm, one), (other, its)) for arm, other in arms for one, its in conditions]


def _matched(ours: Sequence[Variation], theirs: Sequence[Variation]) -> list[Cell]:
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    by_name = {one.name: one for one in theirs}
    return [(one, by_name[one.name]) for one in ours if one.name in by_name]


def shared_metrics(of: Results, against: Results, wanted: Sequence[str] = ()) -> list[str]:
    """Name the metrics of both, in the order of the second; with `wanted`, only those."""
    both = [name for name in measured(against.experiment) if name in measured(of.experiment)]
    return [name for name in both if not wanted or name in wanted]


def _between(
    name: str, of: Results, its: Values, first: str, against: Results, own: Values, wanted: Sequence[str]
) -> Iterator[Contrast]:
    cells, metrics = shared_cells(of, against), shared_metrics(of, against, wanted)
    if not cells or not metrics:
        raise ConfigError(_nothing_in_common(name, of, first, against, bool(cells), wanted))
    for cell, other in cells:
        pairs = pairing(of, against, (cell, other))
        for metric in metrics:
            ours, theirs = (
                table.get((arm.name, condition.name, metric)) for table, (arm, condition) in ((its, cell), (own, other))
            )
            if ours is not None and theirs is not None:
                sides = Side(arm=cell[0].name, condition=cell[1].name), Side(arm=other[0].name, condition=other[1].name)
                for bidder in _bidders(metric, ours, theirs):
                    one, another = (
                        _Sample(
                            results,
                            side,
                            by_repeat(rows, metric, side.model_copy(update={"bidder": bidder or EVERYONE})),
                        )
                        for results, rows, side in zip((of, against), (ours, theirs), sides, strict=True)
                    )
                    yield _contrast(name, metric, bidder, one, another, pairs)


def _nothing_in_common(name: str, of: Results, first: str, against: Results, cells: bool, wanted: Sequence[str]) -> str:
    theirs: Sequence[str]
    ours: Sequence[str]
    if cells:
        what, theirs, ours = "metric", measured(against.experiment), measured(of.experiment)
    else:
        what = "arm" if not _matched(of.experiment.arms, against.experiment.arms) else "condition"
        theirs, ours = ([one.name for one in getattr(side.experiment, f"{what}s")] for side in (against, of))
    asked = f" that is {' or '.join(map(repr, wanted))}" if cells and wanted else ""
    return (
        f"{first!r} and {name!r} have no {what}{asked} in common, so there is nothing to compare:"
        f" {', '.join(theirs)}; and {', '.join(ours)}"
    )


def _values(results: Results) -> Values:
    """Group the values once by arm, condition and metric, for later look-up."""
    table = measurements(frame(results))
    grouped = table.groupby(["arm", "condition", "metric"], sort=False)
    return {(str(arm), str(condition), str(metric)): rows for (arm, condition, metric), rows in grouped}


def _bidders(metric: str, ours: pd.DataFrame, theirs: pd.DataFrame) -> list[str]:
    """Name the bidders of both, the game and everyone first; shared metrics have no "everyone", a constant mean."""
    both = {*ours["bidder"]} & {*theirs["bidder"]}
    of_all = [name for name in ("", EVERYONE) if name in both]
    return [*([] if metric_of(metric).shared else of_all), *sorted(both - {EVERYONE, ""})]


@dataclass(frozen=True, slots=True)
class _Sample:
    """The values of one quantity on one side, by repeat."""

    results: Results
    side: Side
    values: pd.Series[float]

    @property
    def by_draw(self) -> Floats:
        """One value per independent draw; repeats with one seed are one draw."""
        repeats, experiment = [int(repeat) for repeat in self.values.index], self.results.experiment
        draws = [1 for _ in repeats] if experiment.same_seed else draws_of(experiment, repeats)
        return per_draw(self.values.to_numpy(), draws)

    def bounds(self, metric: str) -> Bounds:
        """The least and the greatest value of a metric in this cell."""
        return bounds_in(self.results, metric, self.side.arm, self.side.condition)


def _contrast(name: str, metric: str, bidder: str, ours: _Sample, theirs: _Sample, pairs: Pairing) -> Contrast:
    apart = (ours.values - theirs.values).dropna()
    apart = apart[apart.index.isin(pairs.repeats)]
    bounds = [side.bounds(metric) for side in (ours, theirs)]
    kind = metric_of(metric).interval
    if pairs.repeats:
        test, kind = tested(ours.results.experiment, [metric, metric], apart, bounds)
    else:
        test = _independent(ours, theirs, kind, most_apart(bounds))
    one, other = (_mean(metric, bidder, side, limits) for side, limits in zip((ours, theirs), bounds, strict=True))
    found = test.difference
    return Contrast(
        name,
        metric,
        bidder,
        arm=str(ours.side.arm),
        condition=str(ours.side.condition),
        against_arm=str(theirs.side.arm) if theirs.side.arm != ours.side.arm else "",
        value=one.mean,
        value_low=one.low,
        value_high=one.high,
        n=len(ours.values),
        against=other.mean,
        against_low=other.low,
        against_high=other.high,
        against_n=len(theirs.values),
        how="paired" if pairs.repeats else "independent",
        why=pairs.why,
        pairs=len(apart),
        mean=found.mean,
        sd=found.sd,
        low=found.low,
        high=found.high,
        effect=test.effect,
        p=test.p,
        p_holm=None,
        method=found.method,
        note=found.note or (unreached(found.n, kind, len(apart)) if pairs.repeats else ""),
        draws=one.n,
        against_draws=other.n,
        effect_low=test.effect_low,
        effect_high=test.effect_high,
    )


def _independent(ours: _Sample, theirs: _Sample, kind: Interval, most: float) -> Tested:
    test = independent(ours.by_draw, theirs.by_draw, kind, most)
    alone = any(len(side.by_draw) == 1 < len(side.values) for side in (ours, theirs))
    return replace(test, difference=replace(test.difference, note=ONE_SIDE)) if alone else test


def _mean(metric: str, bidder: str, sample: _Sample, bounds: Bounds) -> Mean:
    """Return the mean of games, with draws as the unit; a share if all values are 0 or 1."""
    kind, values = metric_of(metric).interval, sample.by_draw
    if kind == "binary":
        yes_or_no = bidder != EVERYONE and len(values) and np.isin(values, (0, 1)).all()
        return share_of(values) if yes_or_no else mean_of(values, "mean", bounds)
    return mean_of(values, kind, bounds)
