"""A comparison of experiments becomes one HTML page in the style of the report, with a forest plot, or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import inf

from markupsafe import Markup
from matplotlib.axes import Axes

from harbor.evaluation._analysis.between import Contrast
from harbor.evaluation._report.comparing.side_by_side import (
    Compared,
    apart_table,
    differences_table,
    how,
    sides_table,
    signed,
    told,
    verdict,
    warnings,
)
from harbor.evaluation._report.drawing.canvas import (
    INK,
    Drawing,
    Panel,
    colour,
    few_ticks,
    paint,
    show_unit,
    span,
    titled,
)
from harbor.evaluation._report.drawing.inline import CSS, inlined
from harbor.evaluation._report.paper.exports import FORMULA
from harbor.evaluation._report.tabular.formatting import equation_of_p, unit_of
from harbor.evaluation._report.tabular.page_parts import filled

WIDE, ROW, AROUND = 700, 22, 74
"""Pixels: the width of a panel, the height of a row, and of what is around the rows."""
MOST_ROWS, MOST_PANELS = 24, 12
MOST_SIDES = 2
"""More experiments than these, and each row names its own."""
CAPTION = (
    "Differences of means with their 95 % intervals; right of the line, {} has more than {}. p: corrected by Holm."
)


def compared_forest(compared: Compared) -> Drawing | None:
    """Draw the differences that have an interval; None: there are none."""
    metrics = [*dict.fromkeys(one.metric for one in compared.contrasts)]
    intervals = (one for one in compared.contrasts if one.low is not None)
    found = sorted(intervals, key=lambda one: metrics.index(one.metric))
    many = len(compared.experiments) > MOST_SIDES
    panels = [_panel(rows, many) for _, some in groupby(found, key=lambda one: one.metric) for rows in _pages([*some])]
    if not panels:
        return None
    first, *others = compared.experiments
    caption = CAPTION.format(others[0] if len(others) == 1 else "the other experiment", first)
    return Drawing("Differences", caption, tuple(panels[:MOST_PANELS]), left_out=max(0, len(panels) - MOST_PANELS))


def _pages(rows: Sequence[Contrast]) -> list[Sequence[Contrast]]:
    return [rows[start : start + MOST_ROWS] for start in range(0, len(rows), MOST_ROWS)]


def _panel(rows: Sequence[Contrast], many: bool) -> Panel:
    metric = rows[0].metric
    name = metric.replace("_", " ")
    ends = [end for one in rows for end in (one.low, one.high) if end is not None]

    def draw(axes: Axes) -> None:
        low, high = span(min(*ends, 0), max(*ends, 0), (-inf, inf))
        title = titled(metric, f"difference of {name}")
        axes.set(xlim=(low, high), ylim=(len(rows) - 0.5, -0.5), xlabel=title)
        axes.axvline(0, color=INK, linewidth=1)
        for place, one in enumerate(rows):
            axes.plot([one.low or 0, one.high or 0], [place, place], color=colour(0), linewidth=2.2)
            axes.plot(one.mean or 0, place, "o", color=colour(0), markersize=6.5)
            numbers = f"{signed(one)}, {equation_of_p(one.p_holm)}"
            axes.text(1.02, place, numbers, transform=axes.get_yaxis_transform(), va="center", fontsize=7.5)
        axes.set_yticks(range(len(rows)), [_label(one, many) for one in rows])
        axes.grid(visible=False, axis="y")
        few_ticks(axes)
        show_unit(axes, unit_of(metric), vertical=False)

    alt = f"Differences of {name}: {'; '.join(map(told, rows))}"
    return paint(name, alt, draw, WIDE, AROUND + ROW * len(rows))


def _label(one: Contrast, many: bool) -> str:
    place = [part for part in (one.arm, one.condition, one.experiment if many else "all") if part != "all"]
    return ", ".join([one.bidder or "the game", *place])


TEMPLATE = "harbor.evaluation._report/compared.html.j2"


def render_compared(compared: Compared) -> str:
    """Write the page: the verdict, all differences, and what differs in designs and versions."""
    return filled(
        TEMPLATE,
        names=[*compared.experiments],
        verdict=verdict(compared),
        how=how(compared),
        simulated=[one.experiment for one in compared.sides_compared if one.simulated],
        warnings=list(warnings(compared)),
        forest=inlined("differences", drawing) if (drawing := compared_forest(compared)) else None,
        charts=Markup(CSS),  # noqa: S704 - our own
        differences=differences_table(compared, compared.contrasts),
        sides=sides_table(compared),
        settings=apart_table(compared, compared.apart),
        versions=apart_table(compared, compared.origins_apart, "what"),
    )


def to_csv(compared: Compared) -> str:
    """Write the differences as CSV, and whether a side is simulated; no text in it is a formula to a spreadsheet."""
    simulated = any(one.simulated for one in compared.sides_compared)
    inert = compared.differences.assign(simulated=simulated).replace(FORMULA, r"'\1", regex=True)
    return str(inert.to_csv(index=False, lineterminator="\r\n"))
