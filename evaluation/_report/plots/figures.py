"""The figures of a report: those of a package or of the design whose metric was measured, and those of the analysis."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from harbor._core.plugins.finding import everything, found
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.design_parts import PER_GAME, TRUESKILL
from harbor.evaluation._metrics.measurement import metric_or_none
from harbor.evaluation._report.drawing.canvas import Drawing, failed
from harbor.evaluation._report.drawing.figure import Figure
from harbor.evaluation._report.plots import forest, intervals
from harbor.evaluation._report.plots.mean_lines import scale_of
from harbor.evaluation._report.tabular.loading import Loaded


class Way(NamedTuple):
    """A figure before it is drawn: its question or title, and the function that draws it (None: nothing to draw)."""

    says: str
    draw: Callable[[], Drawing | None]


def figures(loaded: Loaded) -> dict[str, Drawing]:
    """Draw the figures that the metrics of an experiment allow, by name. Those of its question come first."""
    drawn = {name: way.draw() for name, way in ways_to_draw(loaded).items()}
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def ways_to_draw(loaded: Loaded) -> dict[str, Way]:
    """Return the figures by name, without drawing them.

    First come the figures that the design names; if it names none, the line of its first metric over an ordered factor.
    Then come comparisons, ratings, and all others.
    """
    named = [found("figure", name) for name in loaded.experiment.figures]
    chosen: dict[str, Figure] = {one.name: one.value for one in (*named, *everything("figure"))}
    drawn = {
        name: Way(
            figure.question or figure.description,
            partial(_drawn, name, figure.description, partial(figure.drawn, loaded, metric)),
        )
        for name, figure in chosen.items()
        if (metric := _as_measured(figure.needs, loaded.measured))
    }
    leading = {one.name: drawn.pop(one.name) for one in named if one.name in drawn}
    line = leading_line(loaded.experiment)
    if line and (way := way_of_means(loaded, line)) is not None:
        leading[means_name(line)] = way
    return leading | _of_analysis(loaded) | drawn


def leading_line(experiment: Experiment) -> str:
    """Return the metric whose line over an ordered factor answers the question of a design. "" if it names figures."""
    return "" if experiment.figures or scale_of(experiment) is None else experiment.metrics[0]


def means_name(metric: str) -> str:
    """Return the name of the figure of a metric's means, usable as a file name."""
    return f"means-{in_a_name(metric)}"


def in_a_name(text: str) -> str:
    """Return a text as a part of a file name or a label.

    >>> in_a_name("a ~ b")
    'a-b'
    """
    return re.sub(r"[^\w.]+", "-", text).strip("-")


def _of_analysis(loaded: Loaded) -> dict[str, Way]:
    """Return the figures of comparisons and ratings: ratings of single games if a paper has them, else after all."""
    metric = PER_GAME if _published(loaded, PER_GAME) else TRUESKILL
    compared, rated = partial(forest.forest, loaded), partial(intervals.rated, loaded, metric)
    asks = loaded.experiment.question or forest.TITLE
    return {
        "differences": Way(asks, partial(_drawn, "differences", forest.TITLE, compared)),
        "trueskill": Way(intervals.QUESTION, partial(_drawn, "trueskill", intervals.RATED[metric].title, rated)),
    }


def _published(loaded: Loaded, metric: str) -> bool:
    return any(one.metric == metric for one in loaded.experiment.published)


def _as_measured(needs: str, known: Iterable[str]) -> str:
    """Return the design's name for a metric: its own, or a reference. "" if the metric was not measured."""
    own = (name for name in known if (metric := metric_or_none(name)) is not None and metric.name == needs)
    return next(own, "")


def way_of_means(loaded: Loaded, metric: str) -> Way | None:
    """Return the figure of a metric's means. None: the metric is a rating, or another figure shows the same."""
    measured = metric_or_none(metric)
    if measured is None or _told_by_ratings(loaded, metric) or _told_by_figure(loaded, measured.name):
        return None
    title = measured.description
    return Way(title, partial(_drawn, f"means of {metric}", title, partial(intervals.dots, loaded, metric, title)))


def _told_by_ratings(loaded: Loaded, metric: str) -> bool:
    return metric == "rank" and loaded.experiment.trueskill and not _published(loaded, metric)


def _told_by_figure(loaded: Loaded, name: str) -> bool:
    """Return whether a figure shows a metric from place to place, or beside its own."""
    shown = [one.value for one in everything("figure") if _as_measured(one.value.needs, loaded.measured)]
    return any(name in one.beside or (one.needs == name and one.by_place) for one in shown)


def means(loaded: Loaded, metric: str) -> Drawing | None:
    """Draw the means of a metric. Return None if another figure shows the same."""
    way = way_of_means(loaded, metric)
    return None if way is None else way.draw()


def _drawn(name: str, title: str, draw: Callable[[], Drawing | None]) -> Drawing | None:
    """Draw a figure. On an error, return a note and warn, so that other figures are not affected."""
    try:
        return draw()
    except Exception as error:
        return failed(name, title, error)
