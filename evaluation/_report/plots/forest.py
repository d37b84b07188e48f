"""Forest plots: a row for each difference with its interval; planned comparisons have published differences too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap

from matplotlib.axes import Axes

from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.comparisons import ONE_DRAW, paired_differences
from harbor.evaluation._analysis.findings import Difference
from harbor.evaluation._experiments.design import Comparison
from harbor.evaluation._report.drawing.canvas import (
    INCHES_FOR_NUMBERS,
    INK,
    TALLEST_PANEL,
    Drawing,
    LegendEntry,
    Panel,
    bounds_of,
    colour,
    few_ticks,
    paint,
    show_unit,
    span,
    titled,
)
from harbor.evaluation._report.drawing.figure import Facts, link_to
from harbor.evaluation._report.drawing.series_marks import (
    GAME_ALPHA,
    GAMES_KEY,
    Source,
    game_dots,
    keys_of,
    open_mark,
    published_differences,
)
from harbor.evaluation._report.tabular.formatting import MINUS, equation_of_p, in_draws, unit_of, write, write_interval
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.page_parts import legible
from harbor.evaluation._report.tabular.tables import sides_of

WIDE, LINE, GAP, MARGIN = 700, 14, 14, 74
"""Pixels: the width of a panel, the heights of a line of words, between rows, and of everything around the rows."""
LONGEST, NARROW, MOST_LINES = 34, 24, 3
"""Characters per line of a label, and of a note on a missing interval; most lines of each side of a label."""
BASE, TOP, STEP = 0.2, 0.45, 0.1
"""Places of single pairs as shares of a row: least and greatest distance from its middle, and step in a stack."""
COLUMNS = 100
"""Places along an axis; pairs at the same place are stacked."""
TITLE = "Planned comparisons"
FAR = 5
"""A row is cut at the axis if its spread is more than this many times the next largest."""
CAPTION = (
    "Marks are means of the paired differences; right of the line the first of the two has more. Faint dots are single"
    " pairs of games."
)
CUT = " An arrow at the edge marks what lies beyond the axis: an interval that goes on to the number beside it{}."
CUT_PAIRS = ", or single pairs, with how many they are and the farthest"
MOST_IN_WORDS = 8
"""The greatest number of rows whose numbers go into a caption if the picture has no room for them."""
IN_TABLES = "The numbers of each row and its p are in the table of planned comparisons."
NO_INTERVAL = " A published difference is that of two printed means: no interval follows from them."


@dataclass(frozen=True, slots=True)
class Row:
    """A difference in a metric, its interval, and the lines of its label and of the numbers beside it.

    If there are any: its single pairs, their links, and published differences by source.
    """

    metric: str
    label: Sequence[str]
    numbers: Sequence[str]
    mean: float
    low: float | None
    high: float | None
    pairs: Sequence[float] = ()
    links: Sequence[str] = ()
    published: Mapping[Source, float] = field(default_factory=dict)

    @property
    def middle(self) -> list[float]:
        """Return the values that must lie on the axis: mean, zero and the published numbers."""
        return [self.mean, 0.0, *self.published.values()]

    @property
    def spread(self) -> tuple[float, float]:
        """Return the least and the greatest of mean, interval and single pairs."""
        known = [end for end in (self.mean, self.low, self.high, *self.pairs) if end is not None]
        return min(known), max(known)

    def __str__(self) -> str:
        return f"{' '.join(self.label)}: {', '.join(self.numbers)}".replace("\n", " ")


def label_of_lines(*parts: str) -> list[str]:
    """Wrap the parts of a label. Each part begins on a line of its own."""
    return [line for one in parts for line in wrap(legible(one), LONGEST, max_lines=MOST_LINES, placeholder="…")]


def forest(loaded: Loaded) -> Drawing | None:
    """Draw the planned comparisons that have a number: one row each, panels by metric. Return None without any."""
    found = [one for one in loaded.analysis.differences if one.mean is not None]
    if not found:
        return None
    rows = [_compared(loaded, one, one.mean) for one in found if one.mean is not None]
    drawn = forest_of(TITLE, CAPTION, rows, _bidders(loaded))
    ours = LegendEntry(f"this experiment{', simulated' if loaded.results.simulated else ''}", colour(0), "●", "o", "-")
    keys = (ours, *drawn.legend, replace(GAMES_KEY, label="single pairs of games", colour=colour(0)))
    question, told, beside = loaded.experiment.question, _facts(found), _beside(loaded, found)
    narrow = f"{'. '.join(map(str, rows))}. {beside}".rstrip() if len(rows) <= MOST_IN_WORDS else IN_TABLES
    return replace(drawn, legend=keys, facts=told, question=question, beside=beside, narrow=narrow)


def _compared(loaded: Loaded, one: Difference, mean: float) -> Row:
    """Return the row of a planned comparison, with its single pairs."""
    comparison = Comparison(metric=one.metric, of=one.of, against=one.against)
    of, against, shared = sides_of(one.of, one.against, loaded.experiment)
    label = label_of_lines(*(part.replace("_", " ") for part in (f"{of} {MINUS} {against}", shared)))
    pairs = {} if one.note == ONE_DRAW else paired_differences(loaded.analysis.values, comparison).dropna().to_dict()
    cell = one.of.arm or "", one.of.condition or ""
    links = [link_to(loaded, *cell, int(str(repeat))) for repeat in pairs]
    published = published_differences(loaded.experiment, comparison.metrics, one.of, one.against)
    return Row(one.metric, label, _numbers(one), mean, one.low, one.high, [*pairs.values()], links, published)


def forest_of(title: str, caption: str, rows: Sequence[Row], bidders: int = 0) -> Drawing:
    """Draw rows in panels by metric, as many rows in each as fit. The legend has the published sources."""
    known = list(dict.fromkeys(source for row in rows for source in row.published))
    parted = list(_panelled(rows))
    cut = CUT.format(CUT_PAIRS * any(row.pairs for row in rows)) * any(map(_far, parted))
    panels = tuple(_panel(title, some, known, bidders) for some in parted)
    return Drawing(title, caption + cut + NO_INTERVAL * bool(known), panels, keys_of(known))


def _panelled(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Split the rows of each metric among panels, as many in each as fit."""
    for metric in dict.fromkeys(row.metric for row in rows):
        own = [row for row in rows if row.metric == metric]
        most = (TALLEST_PANEL - MARGIN) // _row_height(own, cut=True)
        yield from (own[first : first + most] for first in range(0, len(own), most))


def _row_height(rows: Sequence[Row], *, cut: bool) -> int:
    """Return the height of a row in pixels. If a row is cut, there is room below for a note on its pairs."""
    tallest = max(max(len(row.label), len(row.numbers)) for row in rows)
    return LINE * (tallest + 2 * (cut and any(row.pairs for row in rows))) + GAP


def _far(rows: Sequence[Row]) -> Row | None:
    """Return the row that would squeeze all others, or None."""
    *others, widest = sorted(rows, key=lambda row: row.spread[1] - row.spread[0])
    wide, next_wide = (row.spread[1] - row.spread[0] for row in (widest, others[-1] if others else widest))
    return widest if 0 < FAR * next_wide < wide else None


def _panel(title: str, rows: Sequence[Row], known: Sequence[Source], bidders: int) -> Panel:
    metric, far = rows[0].metric, _far(rows)
    ends = [end for row in rows for end in (*row.middle, *(() if row is far else row.spread))]
    named, (least, most) = metric.replace("_", " "), bounds_of(metric, bidders)
    first, last = min(ends), max(ends)
    low, high = span(first, last, (least - most, most - least))
    inside = min(low, first), max(high, last)  # include values beyond the bounds

    def draw(axes: Axes) -> None:
        axes.set(xlim=inside, ylim=(len(rows) - 0.5, -0.5), xlabel=titled(metric, f"difference of {named}"))
        axes.axvline(0, color=INK, linewidth=1)
        for place, row in enumerate(rows):
            _row(axes, place, row, known)
        axes.set_yticks(range(len(rows)), ["\n".join(row.label) for row in rows])
        axes.grid(visible=False, axis="y")
        few_ticks(axes)
        show_unit(axes, unit_of(metric), vertical=False)

    told = "; ".join(map(str, rows))
    height = MARGIN + _row_height(rows, cut=far is not None) * len(rows)
    return paint(named, f"{title}, {named}: {told}", draw, WIDE, height)


def _row(axes: Axes, place: int, row: Row, known: Sequence[Source]) -> None:
    """Draw one difference: faint pairs, interval and mean, published marks below the middle, numbers at the right."""
    low, high = axes.get_xlim()
    shown = [(pair, link) for pair, link in zip(row.pairs, row.links, strict=True) if low <= pair <= high]
    pairs = [pair for pair, _ in shown]
    game_dots(axes, pairs, [place - up for up in stacked(pairs, high - low)], 0, [link for _, link in shown])
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [place, place], color=colour(0), linewidth=2.2, solid_capstyle="butt")
    _arrows(axes, place, row)
    axes.plot(row.mean, place, "o", color=colour(0), markersize=6.5, clip_on=False)
    for source, value in row.published.items():
        open_mark(axes, value, place + 0.25, known.index(source))
    if axes.figure.bbox.width / axes.figure.dpi >= INCHES_FOR_NUMBERS:
        numbers = "\n".join(row.numbers)
        axes.text(1.02, place, numbers, transform=axes.get_yaxis_transform(), va="center", fontsize=7.5)


def _arrows(axes: Axes, place: int, row: Row) -> None:
    """Mark an interval or single pairs that continue beyond the axis, and say how far."""
    low, high = axes.get_xlim()
    for edge, arrow, side, beyond in ((low, "<", "left", low.__gt__), (high, ">", "right", high.__lt__)):
        ends = [end for end in (row.low, row.high) if end is not None and beyond(end)]
        pairs = [pair for pair in row.pairs if beyond(pair)]
        said = []
        if ends:
            axes.plot(edge, place, arrow, color=colour(0), markersize=7, clip_on=False)
            said.append(f"to {write(ends[0], unit_of(row.metric))}")
        if pairs:
            axes.plot(edge, place - BASE, arrow, color=colour(0), markersize=4, alpha=GAME_ALPHA, clip_on=False)
            said.append(f"{counted(len(pairs), 'pair')} to {write(max(pairs, key=abs), unit_of(row.metric))}")
        axes.text(edge, place + 0.14, "\n".join(said), ha=side, va="top", fontsize=7)


def stacked(xs: Iterable[float], wide: float) -> list[float]:
    """Return the height of each dot above the middle of its row. Dots at one place of the axis are stacked."""
    columns = [round(x / wide * COLUMNS) for x in xs]
    most = max(Counter(columns).values(), default=1)
    step = min(STEP, (TOP - BASE) / max(1, most - 1))
    below = Counter[int]()
    heights = []
    for column in columns:
        heights.append(BASE + step * below[column])
        below[column] += 1
    return heights


def _numbers(one: Difference) -> list[str]:
    """Return the texts for a difference: mean and interval, or a note on the missing interval, and p."""
    unit = unit_of(one.metric)
    p = "" if one.p_holm is None else equation_of_p(one.p_holm)
    interval = write_interval(one.low, one.high, unit)
    why = "" if interval else "\n".join(wrap(one.note, NARROW))
    return [part for part in (f"{write(one.mean, unit)} {interval}".strip(), why, p) if part]


def _bidders(loaded: Loaded) -> int:
    named = loaded.measurements["bidder"]
    return int(named[named != ""].nunique())


def _beside(loaded: Loaded, found: Sequence[Difference]) -> str:
    """Explain the printed p. "" if there is none."""
    family = len(loaded.analysis.differences)
    if all(one.p_holm is None for one in found):
        return ""
    return f"p is corrected by Holm over the {family} planned comparisons." if family > 1 else "p is of the same test."


def _facts(found: Sequence[Difference]) -> Facts:
    """Return the facts on the differences: pairs, unit, and interval."""
    pairs = sorted({one.pairs for one in found})
    span_of = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
    shared = in_draws(pairs[-1], max(one.draws for one in found))
    methods = list(dict.fromkeys(one.method for one in found if one.low is not None))
    units = dict.fromkeys(unit for one in found if (unit := unit_of(one.metric)) != "number")
    told = (
        ("n", f"{span_of} {'pair' if pairs == [1] else 'pairs'} of games{shared} per comparison"),
        ("unit", " or ".join(units)),
        ("interval", f"95 %, of paired differences, by {' or '.join(methods)}" if methods else ""),
    )
    return tuple((name, said) for name, said in told if said)
