"""Marks that tell series apart without colour: dashes of lines, hatches of bars, open marks of published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from harbor.evaluation._report.canvas import COLOURS, FAINT, INK, LegendEntry, colour, marker, shape, sign

DASHES = ("-", "--", "-.", ":")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")
PATTERNS = ("■", "▨", "░", "▧", "▩", "▤", "▦")
"""The hatches as text, for legends."""
OPEN = ("D", "s", "^", "v", "p", "<", ">", "h", "*", "o")
OPEN_SIGNS = ("◇", "□", "△", "▽", "⬠", "◁", "▷", "⬡", "☆", "○")
"""Of published numbers; beyond these they come again in other colours."""
DERIVED, DERIVED_SIGN = "x", "\N{MULTIPLICATION SIGN}"
"""Of numbers that follow from theory, and that no model produced."""
PALE = 0.55
"""The opacity of bars: hatches and letters in ink are legible on them, on a white and on a black page."""
GAME_SIZE, GAME_ALPHA = 9.0, 0.45
"""Of the dots of single games: the area in square points, and the opacity."""
LONGEST_END, LEAST_GAP = 18, 0.075
"""Of labels at the ends of lines: most characters, and the least distance, a share of the height of the panel."""
SETTLING = 60
"""How often labels are moved apart; a dozen of them at one height have then settled."""


def dash(place: int) -> str:
    """Give the dashes of a line."""
    return DASHES[place % len(DASHES)]


def hatch(place: int) -> str:
    """Give the hatch of a bar."""
    return shape(place, HATCHES)


def lines_legend(names: Iterable[str]) -> tuple[LegendEntry, ...]:
    """Name lines by colour, marker and dashes."""
    return tuple(
        LegendEntry(name, colour(place), sign(place), marker(place), dash(place)) for place, name in enumerate(names)
    )


def bars_legend(names: Iterable[str]) -> tuple[LegendEntry, ...]:
    """Name bars by colour and hatch."""
    return tuple(
        LegendEntry(name, colour(place), shape(place, PATTERNS), hatch=hatch(place)) for place, name in enumerate(names)
    )


def published_key(place: int, says: str, *, derived: bool = False) -> LegendEntry:
    """Name the open marks of published numbers, or the crosses of derived ones."""
    if derived:
        return LegendEntry(says, INK, DERIVED_SIGN, DERIVED, filled=False)
    return LegendEntry(says, _ink(place), OPEN_SIGNS[place % len(OPEN)], OPEN[place % len(OPEN)], filled=False)


def _ink(place: int) -> str:
    """Give the colour of an open mark: ink, and others where all marks are taken."""
    return (INK, *COLOURS)[place // len(OPEN) % (len(COLOURS) + 1)]


GAMES_KEY = LegendEntry("single games", INK, "·", ".")
"""The legend of faint dots."""


def bar_style(place: int) -> dict[str, Any]:
    """Style a bar: a pale colour, with hatch and edge in ink."""
    return {"facecolor": to_rgba(colour(place), PALE), "edgecolor": INK, "hatch": hatch(place), "linewidth": 0.6}


def open_mark(axes: Axes, x: float, y: float, place: int, *, derived: bool = False, ink: str = "") -> None:
    """Draw a published number, or a derived one; in this colour, or else in that of its source."""
    key = published_key(place, "", derived=derived)
    axes.plot(
        x, y, key.marker, color=ink or key.colour, markerfacecolor="none", markeredgewidth=1.3, markersize=6.5,
        zorder=5, clip_on=False,
    )  # fmt: skip


def game_dots(axes: Axes, xs: Sequence[float], ys: Sequence[float], place: int, links: Sequence[str] = ()) -> None:
    """Draw faint dots of single games, each a link to its game where there is one."""
    dots = axes.scatter(
        xs, ys, GAME_SIZE, color=colour(place), marker=marker(place), alpha=GAME_ALPHA, linewidths=0, zorder=1.8,
        clip_on=False,
    )  # fmt: skip
    dots.set_gid("games")
    if any(links):
        dots.set_urls([link or None for link in links])


def line_at(axes: Axes, at: float, says: str) -> None:
    """Draw a horizontal, dashed line of reference that says what it is."""
    axes.axhline(at, color=INK, linewidth=1.1, linestyle=(0, (4, 2)), zorder=1.5)
    axes.annotate(
        says, (1, at), (-2, 2), xycoords=axes.get_yaxis_transform(), textcoords="offset points", ha="right",
        va="bottom", fontsize=7.5, zorder=1.6, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip


def label_ends(axes: Axes, ends: Sequence[tuple[str, float, float]]) -> None:
    """Write the names of the lines (name, x, y) that reach the right beside their ends, if there is room for all.

    Those that end before, amid other lines, are named by the legend, and so are all if one is long.
    """
    short = told_apart([name for name, _, _ in ends])
    if len(ends) * LEAST_GAP > 1 or max(map(len, short), default=0) > LONGEST_END:
        return
    low, high = axes.get_ylim()
    last = max((round(x) for _, x, _ in ends), default=0)  # lines of one place may stand side by side
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
    """Leave out the words that all names end with, as far as they stay different."""
    words = [name.split() for name in names]
    while len({*map(tuple, words)}) > 1 and len({one[-1] for one in words}) == 1 and min(map(len, words)) > 1:
        words = [one[:-1] for one in words]
    return [" ".join(one) for one in words]


def apart(shares: Sequence[float]) -> list[float]:
    """Move rising heights (shares of a panel) apart, to `LEAST_GAP` at least, with room for those above and below."""
    last = len(shares) - 1
    placed = [min(max(at, LEAST_GAP * place), 1 - LEAST_GAP * (last - place)) for place, at in enumerate(shares)]
    for _ in range(SETTLING):
        for place in range(1, len(placed)):
            lacking = LEAST_GAP - (placed[place] - placed[place - 1])
            if lacking > 0:
                placed[place - 1] -= lacking / 2
                placed[place] += lacking / 2
    return placed
