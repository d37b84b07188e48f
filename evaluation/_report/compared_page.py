"""A comparison of experiments as one HTML page in the style of the report, or as CSV."""

from __future__ import annotations

from markupsafe import Markup

from harbor.evaluation._report.compared_forest import compared_forest
from harbor.evaluation._report.compared_words import apart_table, differences_table, how, sides_table, verdict, warnings
from harbor.evaluation._report.exports import FORMULA
from harbor.evaluation._report.inline import CSS, inlined
from harbor.evaluation._report.page import environment
from harbor.evaluation._report.side_by_side import Compared

TEMPLATE = "compared.html.j2"


def render_compared(compared: Compared) -> str:
    """Write the page: the verdict, all differences, and what differs in designs and versions."""
    return (
        environment()
        .get_template(TEMPLATE)
        .render(
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
    )


def to_csv(compared: Compared) -> str:
    """Write the differences as CSV, and whether a side is simulated; no text in it is a formula to a spreadsheet."""
    simulated = any(one.simulated for one in compared.sides_compared)
    inert = compared.differences.assign(simulated=simulated).replace(FORMULA, r"'\1", regex=True)
    return str(inert.to_csv(index=False, lineterminator="\r\n"))
