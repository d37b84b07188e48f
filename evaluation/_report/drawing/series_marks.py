"""Marks that distinguish series without colour (dashes, hatches), and open marks for published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from harbor.evaluation._analysis.means import exact_share
from harbor.evaluation._experiments.design import Experiment, Published, PublishedValue, Side
from harbor.evaluation._metrics.measurement import metric_or_none
from harbor.evaluation._report.drawing.canvas import COLOURS, FAINT, INK, LegendEntry, colour, marker, shape, sign
from harbor.evaluation._report.tabular.tables import ROUNDING, Finding, Place, published_numbers

DASHES = ("-", "--", "-.", ":")
"""Dashes of lines, by the place of the series."""
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")
"""Hatches of bars, by the place of the series."""
PATTERNS = ("■", "▨", "░", "▧", "▩", "▤", "▦")
"""The hatches as text, for legends."""
OPEN = ("D", "s", "^", "v", "p", "<", ">", "h", "*", "o")
"""Markers of published numbers. Beyond these they repeat in other colours."""
OPEN_SIGNS = ("◇", "□", "△", "▽", "⬠", "◁", "▷", "⬡", "☆", "○")
"""The open markers as text, for legends."""
DERIVED, DERIVED_SIGN = "x", "\N{MULTIPLICATION SIGN}"
"""Mark of derived numbers: they follow from theory, and no model produced them."""
PALE = 0.55
"""Opacity of bars: hatches and letters in ink are legible on them, on a white and on a black page."""
GAME_SIZE, GAME_ALPHA = 9.0, 0.45
"""Area in square points and opacity of the dots of single games."""
LONGEST_END, LEAST_GAP = 18, 0.075
"""Limits for labels at the ends of lines: characters, and the least distance as a share of the panel's height."""
SETTLING = 60
"""Rounds in which labels are moved apart; a dozen labels at one height then stand still."""


def dash(place: int) -> str:
    """Return the dashes of a line."""
    return DASHES[place % len(DASHES)]


def hatch(place: int) -> str:
    """Return the hatch of a bar."""
    return shape(place, HATCHES)


def lines_legend(names: Iterable[str]) -> tuple[LegendEntry, ...]:
    """Return a legend that names lines by colour, marker and dashes."""
    return tuple(
        LegendEntry(name, colour(place), sign(place), marker(place), dash(place)) for place, name in enumerate(names)
    )


def bars_legend(names: Iterable[str]) -> tuple[LegendEntry, ...]:
    """Return a legend that names bars by colour and hatch."""
    return tuple(
        LegendEntry(name, colour(place), shape(place, PATTERNS), hatch=hatch(place)) for place, name in enumerate(names)
    )


def published_key(place: int, says: str, *, derived: bool = False) -> LegendEntry:
    """Return the legend of the open marks of published numbers, or of the crosses of derived ones."""
    if derived:
        return LegendEntry(says, INK, DERIVED_SIGN, DERIVED, filled=False)
    return LegendEntry(says, _ink(place), OPEN_SIGNS[place % len(OPEN)], OPEN[place % len(OPEN)], filled=False)


def _ink(place: int) -> str:
    """Return the colour of an open mark: ink, and other colours when all marks are taken."""
    return (INK, *COLOURS)[place // len(OPEN) % (len(COLOURS) + 1)]


GAMES_KEY = LegendEntry("single games", INK, "·", ".")
"""Legend of the dots of single games."""


def bar_style(place: int) -> dict[str, Any]:
    """Return the style of a bar: a pale colour, with hatch and edge in ink."""
    return {"facecolor": to_rgba(colour(place), PALE), "edgecolor": INK, "hatch": hatch(place), "linewidth": 0.6}


def open_mark(axes: Axes, x: float, y: float, place: int, *, derived: bool = False, ink: str = "") -> None:
    """Draw a published number, or a derived one, in colour `ink`, by default the colour of its source."""
    key = published_key(place, "", derived=derived)
    axes.plot(
        x, y, key.marker, color=ink or key.colour, markerfacecolor="none", markeredgewidth=1.3, markersize=6.5,
        zorder=5, clip_on=False,
    )  # fmt: skip


def game_dots(axes: Axes, xs: Sequence[float], ys: Sequence[float], place: int, links: Sequence[str] = ()) -> None:
    """Draw faint dots of single games, each with a link to its game if there is one."""
    dots = axes.scatter(
        xs, ys, GAME_SIZE, color=colour(place), marker=marker(place), alpha=GAME_ALPHA, linewidths=0, zorder=1.8,
        clip_on=False,
    )  # fmt: skip
    dots.set_gid("games")
    if any(links):
        dots.set_urls([link or None for link in links])


def line_at(axes: Axes, at: float, says: str) -> None:
    """Draw a horizontal, dashed line of reference with its label."""
    axes.axhline(at, color=INK, linewidth=1.1, linestyle=(0, (4, 2)), zorder=1.5)
    axes.annotate(
        says, (1, at), (-2, 2), xycoords=axes.get_yaxis_transform(), textcoords="offset points", ha="right",
        va="bottom", fontsize=7.5, zorder=1.6, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip


def label_ends(axes: Axes, ends: Sequence[tuple[str, float, float]]) -> None:
    """Write the names of the lines (name, x, y) that reach the right beside their ends, if there is room for all.

    The legend names lines that end earlier. If one name is too long, it names all lines.
    """
    short = told_apart([name for name, _, _ in ends])
    if len(ends) * LEAST_GAP > 1 or max(map(len, short), default=0) > LONGEST_END:
        return
    low, high = axes.get_ylim()
    last = max((round(x) for _, x, _ in ends), default=0)  # lines at one place are shifted sideways
    at_end = sorted(
        (place for place, end in enumerate(ends) if round(end[1]) == last),
        key=lambda place: ends[place][2] / (high - low),
    )
    heights = apart([(ends[place][2] - low) / (high - low) for place in at_end])
    leader = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 3}
    for place, height in zip(at_end, heights, strict=True):
        axes.annotate(
            short[place], ends[place][1:], (1.03, height), textcoords=axes.transAxes, arrowprops=leader, va="center",
            fontsize=7.5, annotation_clip=False,
        )  # fmt: skip


def told_apart(names: Sequence[str]) -> list[str]:
    """Drop the last words that all names share, as long as the names stay different.

    >>> told_apart(["first model", "second model"])
    ['first', 'second']
    """
    words = [name.split() for name in names]
    while len({*map(tuple, words)}) > 1 and len({one[-1] for one in words}) == 1 and min(map(len, words)) > 1:
        words = [one[:-1] for one in words]
    return [" ".join(one) for one in words]


def apart(shares: Sequence[float]) -> list[float]:
    """Move rising heights (shares of a panel) at least `LEAST_GAP` apart, with room for those above and below."""
    last = len(shares) - 1
    placed = [min(max(at, LEAST_GAP * place), 1 - LEAST_GAP * (last - place)) for place, at in enumerate(shares)]
    for _ in range(SETTLING):
        for place in range(1, len(placed)):
            lacking = LEAST_GAP - (placed[place] - placed[place - 1])
            if lacking > 0:
                placed[place - 1] -= lacking / 2
                placed[place] += lacking / 2
    return placed


@dataclass(frozen=True, slots=True)
class PublishedMark:
    """A published number at its place in a figure. Only a share of a whole number of games has an interval."""

    place: Place
    value: float
    low: float | None
    high: float | None
    source: int
    derived: bool = False
    model: str = ""


class Source(NamedTuple):
    """The words of a legend for a published number. `derived`: it follows from theory, and no model produced it."""

    says: str
    derived: bool


def published_marks(metric: str, found: Sequence[Finding], experiment: Experiment) -> list[PublishedMark]:
    """Return a mark for each published number of a metric of whole games; its `source` is an index into `sources`."""
    printed, known = published_numbers(metric, found, experiment), sources(metric, experiment)
    return [
        PublishedMark(place, value.value, low, high, known.index(named(one)), one.derived, one.model)
        for one, values in printed.items()
        for place, value in values.items()
        for low, high in [interval_of(one, value)]
        if place.at is None and not place.about
    ]


def sources(metric: str, experiment: Experiment) -> list[Source]:
    """Return each published source of a metric with its model, once."""
    return list(dict.fromkeys(named(one) for one in experiment.published if one.metric == metric))


def named(one: Published) -> Source:
    """Return the legend of published numbers: the model, the source, and the number of games."""
    kind = "" if one.derived else "published: "
    return Source(f"{kind}{one.produced_by} ({one.source}{f', n = {one.n}' if one.n else ''})", one.derived)


def keys_of(known: Sequence[Source]) -> tuple[LegendEntry, ...]:
    """Return the legend of published marks."""
    return tuple(published_key(place, one.says, derived=one.derived) for place, one in enumerate(known))


def interval_of(one: Published, value: PublishedValue) -> tuple[float, float] | tuple[None, None]:
    """Return the exact interval of a share of games if each is a yes or a no, else (None, None)."""
    own, games = metric_or_none(one.metric), one.games(value)
    if own is None or own.interval != "binary" or not games:
        return None, None
    count = round(value.value * games)
    return exact_share(count, games) if abs(value.value * games - count) <= ROUNDING * games else (None, None)


def published_differences(
    experiment: Experiment, metrics: tuple[str, str], of: Side, against: Side
) -> dict[Source, float]:
    """Return the differences of two printed means, by source. They have no interval, as papers do not print pairs."""
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
    """Return the printed number of a side of a comparison."""
    return next(
        (
            value.value
            for value in one.values
            if value.is_beside(side.arm or "", side.condition or "")
            and (value.bidder, value.about, value.at) == (side.bidder, "", None)
        ),
        None,
    )
