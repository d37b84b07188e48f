"""Lines of means over the scale of a design, with intervals, single games and published numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, Literal, NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._experiments.design_parts import EVERYONE, PER_GAME, TRUESKILL
from harbor.evaluation._metrics.measurement import Bounds
from harbor.evaluation._report.drawing.canvas import (
    INK,
    LONGEST,
    LegendEntry,
    Panel,
    bounds_of,
    colour,
    paint,
    titled,
    upright,
)
from harbor.evaluation._report.drawing.figure import CONTINUED, GAME, links, values_of
from harbor.evaluation._report.drawing.series_marks import PublishedMark, game_dots, lines_legend, open_mark
from harbor.evaluation._report.plots.curves import style
from harbor.evaluation._report.tabular.formatting import unit_of, write, write_interval
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.page_parts import legible
from harbor.evaluation._report.tabular.tables import Finding, Place, label_of

Path = tuple[str, ...]
"""The keys that lead to a setting, outermost first."""
Of = Literal["condition", "arm"]
"""The part of a design that has a scale."""
NUMBER = re.compile(r"(?<![\w.])[-\N{MINUS SIGN}]?\$?\d+(?:,\d{3})*(?:\.\d+)?(?: ?%)?(?!\w|\.\d)")
"""A number in a label, with its sign and unit, such as "$10,000" or "50 %"."""
APART = "bidders", "items"
"""Settings that are lists of countable things."""
RISING = "low", "medium", "high"
"""Words that have an order."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The place of each condition (or arm) on an axis, and its series ("": there is one series).

    `ticks` are the numbers as the labels of the design write them. `title` names the axis.
    """

    of: Of
    title: str
    at: Mapping[str, float]
    ticks: Mapping[float, str]
    series: Mapping[str, str]


def scale_of(experiment: Experiment) -> Scale | None:
    """Return the scale of an experiment's conditions, or else of its arms. None: they have no order.

    They have one if they differ by a single setting with numbers, or by it and a second one, which splits the series.
    A setting may be at several places with equal values, such as the budgets of all bidders.
    """
    shared = dict(_leaves(experiment.auction)) | {("order",): experiment.order}
    return _scale("condition", experiment.conditions, shared) or _scale("arm", experiment.arms, shared)


def _scale(
    of: Literal["condition", "arm"], variations: Sequence[Variation], shared: Mapping[Path, Any]
) -> Scale | None:
    varied = _varied(variations, shared)
    for path, values in varied.items():
        found, others = _numbers(path, values), [other for other in varied if other != path]
        if found is None or len(others) > 1 or any("seed" in one for one in varied):
            continue
        names = [_named(other[-1], value) for other in others for value in varied[other]] or [""] * len(found)
        places = set(zip(found, names, strict=True))
        if len(places) < len(found) or len(places) < len(set(found)) * len(set(names)):  # series need all numbers
            continue
        at = {one.name: number for one, number in zip(variations, found, strict=True)}
        title, ticks = _axis([one.label for one in variations], found, path, values)
        return Scale(of, title, at, ticks, {one.name: name for one, name in zip(variations, names, strict=True)})
    return None


def _varied(variations: Sequence[Variation], shared: Mapping[Path, Any]) -> dict[Path, list[Any]]:
    """Map each setting that differs to its values. Several places with equal values count as one setting."""
    own = [
        {**shared, **({("order",): one.order} if one.order else {}), **dict(_leaves(one.auction))} for one in variations
    ]
    columns: dict[str, tuple[list[Path], list[Any]]] = {}
    for path in dict.fromkeys(path for one in own for path in one):
        values = [one.get(path) for one in own]
        if any(value != values[0] for value in values):
            columns.setdefault(repr(values), ([], values))[0].append(path)
    return {_start(paths): values for paths, values in columns.values()}


def _start(paths: Sequence[Path]) -> Path:
    """Return the shared beginning of all paths, or the first path if they share none."""
    shared = takewhile(lambda names: len({*names}) == 1, zip(*paths, strict=False))
    return tuple(names[0] for names in shared) or paths[0]


def _leaves(settings: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def _numbers(path: Path, values: Sequence[Any]) -> list[float] | None:
    """Return the numbers of a setting, the ranks of its words, or the lengths of its nested lists.

    Nested lists: each begins the next longer one. None: the setting has no order.
    """
    if all(one in RISING for one in values):
        return [float(RISING.index(one)) for one in values]
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
        return [float(one) for one in values]
    if path[-1] not in APART or not all(isinstance(one, list | tuple) for one in values):
        return None
    rising = sorted(([_nameless(entry) for entry in one] for one in values), key=len)
    begins = (long[: len(short)] == short for short, long in pairwise(rising))
    return [float(len(one)) for one in values] if all(begins) else None


def _nameless(entry: Any) -> Any:
    return {key: value for key, value in entry.items() if key != "name"} if isinstance(entry, Mapping) else entry


def _named(setting: str, value: Any) -> str:
    """Name a series by the value of its setting. Words need no name of the setting."""
    said = value if isinstance(value, str) else f"{setting} {value}"
    return str(said).replace("_", " ")


def _axis(
    labels: Sequence[str], numbers: Sequence[float], path: Path, values: Sequence[Any]
) -> tuple[str, dict[float, str]]:
    """Return an axis title and ticks: from the labels if each contains just its own number, else from the setting."""
    setting, counted = path[-1].replace("_", " "), isinstance(values[0], list | tuple)
    title = f"number of {setting}" * counted or setting
    told = [one if isinstance(one, str) else f"{number:g}" for one, number in zip(values, numbers, strict=True)]
    plain = dict(zip(numbers, told, strict=True))
    written = [NUMBER.findall(label) for label in labels]
    if not all(len(one) == 1 and _says(one[0], number) for one, number in zip(written, numbers, strict=True)):
        return title, plain
    last = labels[max(range(len(numbers)), key=numbers.__getitem__)].split(", ")
    words = next(part for part in last if NUMBER.search(part))
    said = NUMBER.sub("…", words).removeprefix("…").strip()
    return said or title, {number: one[0] for one, number in zip(written, numbers, strict=True)}


def _says(written: str, number: float) -> bool:
    """Return whether a number in a label is that of its setting, or a share of it in percent."""
    said = float(re.sub(r"[$,% ]", "", written).replace("\N{MINUS SIGN}", "-"))
    return said in (number, round(100 * number, 9)) if "%" in written else said == number


AT_FIRST = 25.0
"""TrueSkill rating mu of everybody before the first game."""
RATINGS = TRUESKILL, PER_GAME


class Means:
    """The means of a metric: bidders, the ends of the axis, single games and published numbers."""

    def __init__(
        self, loaded: Loaded, metric: str, says: str, found: Sequence[Finding], published: Sequence[PublishedMark]
    ) -> None:
        self.loaded, self.metric, self.says, self.found = loaded, metric, says, found
        self.bidders = sorted({one.place.bidder for one in found}, key=lambda name: (name == EVERYONE, name))
        shown = {(one.place.arm, one.place.condition) for one in found}
        self.published = [
            one
            for one in published
            if one.place.bidder in self.bidders and (one.place.arm, one.place.condition) in shown
        ]
        self.games = _games(loaded, metric)
        means = [end for one in found for end in (one.value, one.low, one.high) if end is not None]
        printed = [end for one in self.published for end in (one.value, one.low, one.high) if end is not None]
        ends = [*means, *printed, *self.games["value"], *([AT_FIRST] if metric in RATINGS else [])]
        self.ends = min(ends), max(ends)
        self.bounds: Bounds = bounds_of(metric, len({*self.bidders} - {EVERYONE, ""}))

    def games_of(self, place: Place) -> pd.DataFrame:
        """Return the single games of a mean."""
        games = self.games
        return games[
            (games["arm"] == place.arm) & (games["condition"] == place.condition) & (games["bidder"] == place.bidder)
        ]

    def told(self, found: Iterable[Finding]) -> str:
        """Return means in words, for readers who can't see the figure."""
        return f"{self.says}: {'; '.join(map(self._said, found))}"

    def _said(self, one: Finding) -> str:
        kinds = ("arm", "condition") if len(self.loaded.experiment.conditions) > 1 else ("arm",)
        names = [label_of(self.loaded.experiment, kind, getattr(one.place, kind)) for kind in kinds]
        unit = unit_of(self.metric)
        return " ".join(
            filter(None, (*names, one.place.bidder, write(one.value, unit), write_interval(one.low, one.high, unit)))
        )


def _games(loaded: Loaded, metric: str) -> pd.DataFrame:
    """Return one value per game and bidder. Empty if the metric has several per game, by place or by rival."""
    rows = values_of(loaded, metric)
    if rows.empty or rows["at"].notna().any() or (rows["about"] != "").any():
        return rows[[*GAME, "bidder", "value"]][:0]
    return rows[[*GAME, "bidder", "value"]]


MOST_LINES = 7
"""The greatest number of lines in a panel; the others go into the next."""
STEP, WIDEST = 0.06, 0.5
"""Distance between lines, and of all in a panel together, as shares of the least distance of two numbers."""
LEAST_TICK = 0.12
"""Least distance between two written numbers, as a share of the axis."""


class _Line(NamedTuple):
    """A line: its panel's heading, its name, and its means."""

    heading: str
    name: str
    found: list[Finding]


def line_panels(means: Means, scale: Scale) -> tuple[list[Panel], tuple[LegendEntry, ...]]:
    """Draw the means over a scale. Return panels and, if there are several lines, a legend."""
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
    """Split the means into lines. The last varying one of arm (or condition), other setting and bidder names a line."""
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
    """Return the derived numbers over the scale, by name. If one belongs to some lines only, its name lists them."""
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
    """Drop numbers that stand too near to the one before to be written."""
    told = list(numbers[:1])
    for one in numbers[1:]:
        if one - told[-1] >= LEAST_TICK * (numbers[-1] - numbers[0]):
            told.append(one)
    return told
