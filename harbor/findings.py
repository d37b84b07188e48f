"""What an experiment found, in a terminal: the mean of each metric in each cell, with its interval."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from harbor.display import cell, printable
from harbor.evaluation.experiments.design import EVERYONE
from harbor.evaluation.metrics.registry import METRICS
from harbor.money import dollars, to_cents

if TYPE_CHECKING:
    from harbor.evaluation.analysis.findings import Analysis, Estimate
    from harbor.evaluation.experiments.records import Results

WHOLE_DOLLARS = 100
"""From here on cents are not shown."""


def print_findings(console: Console, results: Results, analysis: Analysis) -> None:
    """Print what is estimated of whole games, of the game or of the mean of its bidders; the report has the rest."""
    simulated = " (simulated bidders)" if results.simulated else ""
    several = len(results.experiment.conditions) > 1
    table = Table("metric", "arm", "mean", "95 % interval", title=f"Means over games{simulated}")
    missing: dict[str, list[str]] = {}
    for one in analysis.estimates:
        if one.at is not None or one.about or one.bidder not in ("", EVERYONE):
            continue
        place = f"{one.arm}, {one.condition}" if several else one.arm
        if one.mean is None:
            missing.setdefault(f"{one.metric}: {'; '.join(one.why)}", []).append(place)
        else:
            table.add_row(*map(cell, (one.metric, place, _number(one.mean, one.metric), _interval(one))))
    console.print(table)
    for why, places in missing.items():
        console.print(printable(f"missing: {why}, in {'; '.join(places)}"), markup=False, soft_wrap=True)
    console.print(
        f"{len(results.of('finished'))} of {len(results.games)} games finished, {len(results.of('failed'))} failed,"
        f" seed {results.experiment.seed}{simulated}"
    )


def _interval(estimate: Estimate) -> str:
    """Write the ends of an interval; or why there is none."""
    if estimate.low is None or estimate.high is None:
        return f"none: {estimate.note}"
    return f"{_number(estimate.low, estimate.metric)} to {_number(estimate.high, estimate.metric)}"


def _number(value: float, metric: str) -> str:
    if METRICS[metric].unit != "dollars":
        return f"{value:,.3f}"
    return dollars(Decimal(round(value)) if abs(value) >= WHOLE_DOLLARS else to_cents(Decimal(value)))
