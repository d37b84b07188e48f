"""Means as lines over the scale of a design: one line per series, with intervals, single games and others' numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from matplotlib.axes import Axes

from harbor.evaluation._report.canvas import INK, LegendEntry, Panel, colour, paint
from harbor.evaluation._report.curves import style
from harbor.evaluation._report.design_scale import Scale
from harbor.evaluation._report.formatting import legible, unit_of, write
from harbor.evaluation._report.mean_values import AT_FIRST, RATINGS, Means
from harbor.evaluation._report.own_numbers import Finding, Place
from harbor.evaluation._report.panels import CONTINUED, links
from harbor.evaluation._report.scales import LONGEST, titled, upright
from harbor.evaluation._report.series_marks import game_dots, lines_legend, open_mark
from harbor.evaluation._report.tables import label_of

MOST_LINES = 7
"""The most lines in a panel; more go on in the next."""
STEP, WIDEST = 0.06, 0.5
"""How far lines stand apart, and all of a panel together, shares of the least distance of two numbers."""
LEAST_TICK = 0.12
"""The least distance of two numbers that are written, a share of the axis."""


class _Line(NamedTuple):
    """A line: its panel's heading, its name, and its means."""

    heading: str
    name: str
    found: list[Finding]


def line_panels(means: Means, scale: Scale) -> tuple[list[Panel], tuple[LegendEntry, ...]]:
    """Draw the means over a scale, with a legend of the lines if there are several."""
    lines = _lines(means, scale)
    names = list(dict.fromkeys(line.name for line in lines))
    panels = []
    for heading in dict.fromkeys(line.heading for line in lines):
        own = [line for line in lines if line.heading == heading]
        for first in range(0, len(own), MOST_LINES):
            some = own[first : first + MOST_LINES]
            panels.append(_panel(means, scale, heading + CONTINUED * bool(first), some, names))
    keys = (LegendEntry(says, INK, "╌", "", "--") for says in _references(means, scale, lines))
    return panels, (*(lines_legend(names) if len(names) > 1 else ()), *keys)


def _lines(means: Means, scale: Scale) -> list[_Line]:
    """Part the means into lines: the last of arm (or condition), other setting and bidder that varies names them."""
    other, experiment = "arm" if scale.of == "condition" else "condition", means.loaded.experiment
    variations = [one.name for one in (experiment.arms if other == "arm" else experiment.conditions)]
    series = list(dict.fromkeys(scale.series.values()))

    def key(place: Place) -> tuple[str, str, str]:
        return getattr(place, other), scale.series[getattr(place, scale.of)], place.bidder

    orders = variations, series, means.bidders
    found = sorted(
        means.found,
        key=lambda one: (
            *(known.index(name) for known, name in zip(orders, key(one.place), strict=True)),
            scale.at[getattr(one.place, scale.of)],
        ),
    )
    varied = [at for at in range(3) if len({key(one.place)[at] for one in found}) > 1]
    *outer, last = varied or [2]
    parted: dict[tuple[str, str, str], list[Finding]] = {}
    for one in found:
        parted.setdefault(key(one.place), []).append(one)
    named = {keys: (label_of(experiment, other, keys[0]), *keys[1:]) for keys in parted}
    return [_Line(" · ".join(named[keys][at] for at in outer), named[keys][last], own) for keys, own in parted.items()]


def _panel(means: Means, scale: Scale, heading: str, lines: Sequence[_Line], names: Sequence[str]) -> Panel:
    numbers = sorted(set(scale.at.values()))
    least = min(later - earlier for earlier, later in pairwise(numbers))
    step = least * min(STEP, WIDEST / len(lines))

    def draw(axes: Axes) -> None:
        upright(axes, means.metric, *means.ends, means.bounds)
        axes.set_ylabel(titled(means.metric, means.says))
        for place, line in enumerate(lines):
            aside = (place - (len(lines) - 1) / 2) * step
            xs = {one.place: scale.at[getattr(one.place, scale.of)] + aside for one in line.found}
            _draw_line(axes, means, line.found, xs, names.index(line.name))
            for mark in means.published:
                if mark.place in xs and not mark.derived:
                    ink = colour(names.index(line.name))
                    open_mark(axes, xs[mark.place] + step / 2, mark.value, mark.source, ink=ink)
        for level in _references(means, scale, lines).values():
            if len({value for _, value in level}) == 1 and len(level) == len(numbers):
                axes.axhline(level[0][1], color=INK, linewidth=1.1, linestyle="--", zorder=1.5)
            else:
                axes.plot(*zip(*level, strict=True), color=INK, linewidth=1.1, linestyle="--", marker="_", zorder=1.5)
        if means.metric in RATINGS:
            axes.axhline(AT_FIRST, color=INK, linewidth=1, linestyle=(0, (1, 1.5)), zorder=1)
        axes.set_xlim(numbers[0] - least / 3, numbers[-1] + least / 3)
        axes.set_xlabel(legible(scale.title, LONGEST))
        told = _written(numbers)
        axes.set_xticks(told, [scale.ticks[one] for one in told])

    return paint(heading, means.told(one for line in lines for one in line.found), draw)


def _draw_line(axes: Axes, means: Means, found: Sequence[Finding], xs: Mapping[Place, float], series: int) -> None:
    """Draw a line with its intervals and its single games."""
    for one in found:
        own = means.games_of(one.place)
        game_dots(axes, [xs[one.place]] * len(own), list(own["value"]), series, links(means.loaded, own))
        if one.low is not None and one.high is not None:
            axes.vlines(xs[one.place], one.low, one.high, color=colour(series), linewidth=1.2)
    shown = [(xs[one.place], one.value) for one in found if one.value is not None]
    axes.plot([x for x, _ in shown], [mean for _, mean in shown], **style(series))


def _references(means: Means, scale: Scale, lines: Sequence[_Line]) -> dict[str, tuple[tuple[float, float], ...]]:
    """Name each reference once, with its values over the scale; one that is of some lines names them."""
    names = {one.place: line.name for line in lines for one in line.found}
    values: dict[tuple[str, str], dict[float, float]] = {}
    for mark in means.published:
        if mark.derived and mark.place in names:
            own = values.setdefault((mark.model, names[mark.place]), {})
            own[scale.at[getattr(mark.place, scale.of)]] = mark.value
    whose: dict[tuple[str, tuple[tuple[float, float], ...]], list[str]] = {}
    for (model, name), over in values.items():
        whose.setdefault((model, tuple(sorted(over.items()))), []).append(name)
    unit, every = unit_of(means.metric), {line.name for line in lines}
    found = {}
    for (model, level), some in whose.items():
        told = f", {write(level[0][1], unit)}" if len({value for _, value in level}) == 1 else ""
        found[model + told + f" ({legible(', '.join(some), LONGEST)})" * (len(some) < len(every))] = level
    return found


def _written(numbers: Sequence[float]) -> list[float]:
    """Leave out numbers that stand too near to the one before to be written."""
    told = list(numbers[:1])
    for one in numbers[1:]:
        if one - told[-1] >= LEAST_TICK * (numbers[-1] - numbers[0]):
            told.append(one)
    return told
