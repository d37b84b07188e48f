"""Writes a comparison of experiments as one HTML page in the style of the report, with a forest plot, or as CSV."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from harbor.evaluation._analysis.between import Contrast
from harbor.evaluation._report.comparing.side_by_side import (
    Compared,
    apart_table,
    differences_table,
    how,
    sides_table,
    signed,
    verdict,
    warnings,
)
from harbor.evaluation._report.drawing.canvas import Drawing
from harbor.evaluation._report.drawing.inline import CSS, MOST_PANELS, inlined
from harbor.evaluation._report.paper.exports import as_csv
from harbor.evaluation._report.plots.forest import Row, forest_of, label_of_lines
from harbor.evaluation._report.tabular.formatting import equation_of_p, unit_of, write_interval
from harbor.evaluation._report.tabular.page_parts import filled

MOST_SIDES = 2
"""With more experiments than this, each row names its own."""
CAPTION = (
    "Differences of means with their 95 % intervals; right of the line, {} has more than {}. p: corrected by Holm."
)
"""Caption of the forest plot; the braces take the two names."""


def compared_forest(compared: Compared) -> Drawing | None:
    """Draw the differences with an interval, up to the panels of a page. Return None if there are none."""
    many = len(compared.experiments) > MOST_SIDES
    rows = [row for one in compared.contrasts if (row := _row(one, many))]
    if not rows:
        return None
    first, *others = compared.experiments
    caption = CAPTION.format(others[0] if len(others) == 1 else "the other experiment", first)
    drawn = forest_of("Differences", caption, rows)
    return replace(drawn, panels=drawn.panels[:MOST_PANELS], left_out=max(0, len(drawn.panels) - MOST_PANELS))


def _row(one: Contrast, many: bool) -> Row | None:
    if one.mean is None or one.low is None:
        return None
    place = [part for part in (one.arm, one.condition, one.experiment if many else "all") if part != "all"]
    label = label_of_lines(", ".join([one.bidder or "the game", *place]))
    interval = write_interval(one.low, one.high, unit_of(one.metric))
    numbers = f"{signed(one)} {interval}, {equation_of_p(one.p_holm)}"
    return Row(one.metric, label, [numbers], one.mean, one.low, one.high)


TEMPLATE = "harbor.evaluation._report/compared.html.j2"


def render_compared(compared: Compared) -> str:
    """Return the page: the verdict, all differences of metrics, and the settings and versions that differ."""
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
    """Return the differences as CSV, with a column on whether a side is simulated."""
    simulated = any(one.simulated for one in compared.sides_compared)
    return as_csv(compared.differences.assign(simulated=simulated))
