"""The figures of a report: those whose metric was measured, installed with any package or named by the design."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial

from harbor._core.errors import HarborError
from harbor._core.finding import everything, found
from harbor.evaluation._metrics.registry import metric_or_none
from harbor.evaluation._report import intervals
from harbor.evaluation._report.canvas import Drawing
from harbor.evaluation._report.figure import Figure
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.loading import Loaded

_READING = (
    "Bars: mean mu over shuffled orders of the games. Thick line: the range of mu in 95 % of the orders. Thin line:"
    " one sigma around mu."
)


def figures(loaded: Loaded) -> dict[str, Drawing]:
    """Draw the figures that the metrics of an experiment allow, by name."""
    known = {one.metric for game in loaded.results.records for one in game.measurements if one.value is not None}
    named = [found("figure", name) for name in loaded.experiment.figures]
    chosen: dict[str, Figure] = {one.name: one.value for one in (*everything("figure"), *named)}
    drawn = {
        name: _drawn(name, figure.description, partial(figure.drawn, loaded, metric))
        for name, figure in chosen.items()
        if (metric := _as_measured(figure.needs, known))
    }
    trueskill = partial(intervals.trueskill, loaded, "TrueSkill", _READING)
    drawn["trueskill"] = _drawn("trueskill", "TrueSkill", trueskill)
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def _as_measured(needs: str, known: Iterable[str]) -> str:
    """Give the name that the design has for a metric: its own, or a reference; empty if it was not measured."""
    own = (name for name in known if (metric := metric_or_none(name)) is not None and metric.name == needs)
    return next(own, "")


def means(loaded: Loaded, metric: str) -> Drawing | None:
    """Draw the means of a metric by arm."""
    if (measured := metric_or_none(metric)) is None:
        return None
    title = measured.description
    return _drawn(f"means of {metric}", title, partial(intervals.dots, loaded, metric, title))


def _drawn(name: str, title: str, draw: Callable[[], Drawing | None]) -> Drawing | None:
    """Draw a figure; one that fails leaves a note and a warning, and costs no other."""
    try:
        return draw()
    except Exception as error:
        why = str(error) if isinstance(error, HarborError) else f"{type(error).__name__}: {error}"
        failure = legible(f"figure {name!r} can't be drawn: {why}")
    warnings.warn(failure, stacklevel=2)
    return Drawing(title, "", failure=failure)
