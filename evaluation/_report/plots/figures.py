"""The figures of a report: those whose metric was measured, installed with any package or named by the design."""

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
    """A figure that is not drawn yet: what it asks or shows, and what draws it (None: there is nothing to draw)."""

    says: str
    draw: Callable[[], Drawing | None]


def figures(loaded: Loaded) -> dict[str, Drawing]:
    """Draw the figures that the metrics of an experiment allow, by name; what answers its question stands first."""
    drawn = {name: way.draw() for name, way in ways_to_draw(loaded).items()}
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def ways_to_draw(loaded: Loaded) -> dict[str, Way]:
    """Return what draws each figure, by name, with nothing drawn yet.

    First are the figures that the design names, then the line of what it asks about, then its comparisons.
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
    """Name the metric whose line over an ordered factor answers the question of a design that names no figure."""
    return "" if experiment.figures or scale_of(experiment) is None else experiment.metrics[0]


def means_name(metric: str) -> str:
    """Name the figure of the means of a metric, as a file can be called."""
    return f"means-{in_a_name(metric)}"


def in_a_name(text: str) -> str:
    """Write a text as a part of the name of a file, and of a label."""
    return re.sub(r"[^\w.]+", "-", text).strip("-")


def _of_analysis(loaded: Loaded) -> dict[str, Way]:
    """Give what draws planned comparisons and ratings: of single games if such are published, else after all games."""
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
    """Return the name that the design has for a metric: its own, or a reference; empty if it was not measured."""
    own = (name for name in known if (metric := metric_or_none(name)) is not None and metric.name == needs)
    return next(own, "")


def way_of_means(loaded: Loaded, metric: str) -> Way | None:
    """Return what draws the means of a metric; None: it is a rating, or ratings or another figure say the same."""
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
    """Draw the means of a metric, unless another figure says the same."""
    way = way_of_means(loaded, metric)
    return None if way is None else way.draw()


def _drawn(name: str, title: str, draw: Callable[[], Drawing | None]) -> Drawing | None:
    """Draw a figure; one that fails leaves a note and a warning, and costs no other."""
    try:
        return draw()
    except Exception as error:
        return failed(name, title, error)
