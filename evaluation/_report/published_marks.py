"""Published numbers as marks of figures: open ones, beside ours, each with its source, its model and its games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harbor.evaluation._analysis.means import exact_share
from harbor.evaluation._experiments.design import Experiment, Published, PublishedValue, Side
from harbor.evaluation._metrics.registry import metric_or_none
from harbor.evaluation._report.canvas import LegendEntry
from harbor.evaluation._report.own_numbers import Finding, Place
from harbor.evaluation._report.series_marks import published_key
from harbor.evaluation._report.tables import ROUNDING, published_numbers


@dataclass(frozen=True, slots=True)
class PublishedMark:
    """A published number where a figure shows it; its interval is known only of a share of a whole number of games."""

    place: Place
    value: float
    low: float | None
    high: float | None
    source: int
    derived: bool = False
    model: str = ""


class Source(NamedTuple):
    """What a legend says of a published number, and whether it is derived: no model produced it."""

    says: str
    derived: bool


def published_marks(metric: str, found: Sequence[Finding], experiment: Experiment) -> list[PublishedMark]:
    """List the published numbers of a metric that belong to whole games; `source` counts them as `sources` does."""
    printed, known = published_numbers(metric, found, experiment), sources(metric, experiment)
    return [
        PublishedMark(place, value.value, low, high, known.index(named(one)), one.derived, one.model)
        for one, values in printed.items()
        for place, value in values.items()
        for low, high in [interval_of(one, value)]
        if place.at is None and not place.about
    ]


def sources(metric: str, experiment: Experiment) -> list[Source]:
    """Name each published source of a metric with its model, once."""
    return list(dict.fromkeys(named(one) for one in experiment.published if one.metric == metric))


def named(one: Published) -> Source:
    """Name what was published: the model, the source, and of how many games."""
    kind = "" if one.derived else "published: "
    return Source(f"{kind}{one.produced_by} ({one.source}{f', n = {one.n}' if one.n else ''})", one.derived)


def keys_of(known: Sequence[Source]) -> tuple[LegendEntry, ...]:
    """Name published marks in a legend."""
    return tuple(published_key(place, one.says, derived=one.derived) for place, one in enumerate(known))


def interval_of(one: Published, value: PublishedValue) -> tuple[float, float] | tuple[None, None]:
    """Give the exact interval of a share of games: it follows from share and number alone if each is a yes or a no."""
    own, games = metric_or_none(one.metric), one.games(value)
    if own is None or own.interval != "binary" or not games:
        return None, None
    count = round(value.value * games)
    return exact_share(count, games) if abs(value.value * games - count) <= ROUNDING * games else (None, None)


def published_differences(
    experiment: Experiment, metrics: tuple[str, str], of: Side, against: Side
) -> dict[Source, float]:
    """Give the differences of two printed means, by source; no interval follows from them, as pairs are not printed."""
    found: dict[Source, float] = {}
    printed = [one for one in experiment.published if not one.derived]
    for one in printed:
        for other in printed:
            if (one.source, one.model) == (other.source, other.model) and (one.metric, other.metric) == metrics:
                first, second = _printed(one, of), _printed(other, against)
                if first is not None and second is not None:
                    found[named(one)] = first - second
    return found


def _printed(one: Published, side: Side) -> float | None:
    """Give the printed number of a side of a comparison."""
    return next(
        (
            value.value
            for value in one.values
            if value.is_beside(side.arm or "", side.condition or "")
            and (value.bidder, value.about, value.at) == (side.bidder, "", None)
        ),
        None,
    )
