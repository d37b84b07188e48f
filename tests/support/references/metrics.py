"""The page of metrics."""

from __future__ import annotations

from collections import defaultdict
from inspect import getdoc

from harbor._core.plugins.finding import everything
from harbor.evaluation._metrics.measurement import Metric
from support.references.markdown import MADE, code, table

HEAD = f"""# Metrics

What can be measured of a log: named under `metrics` of a design, and measured of any run by `harbor score`. How
estimates, intervals and tests are made of them is told in [experiments](../using/experiments.md#how-numbers-are-made).
A metric that a game lacks is missing with its reason, and never 0. "Public" ones can be measured of a public copy too.

{MADE}"""
INTERVALS = {"mean": "t", "skewed": "the wider of t and Hall's t", "binary": "Wilson"}


COLUMNS = ("metric", "what it measures", "unit", "interval", "public")


def page() -> str:
    """Return the page as it should be."""
    opened: defaultdict[str, list[Metric]] = defaultdict(list)
    for found in everything("metric"):
        opened[found.value.wanted].append(found.value)
    lines = [HEAD]
    for event, metrics in opened.items():
        lines += [f"## Of logs with `{event.replace(' or ', '` or `')}`\n", *table(COLUMNS, map(_row, metrics))]
    return "\n".join(lines).rstrip() + "\n"


def _row(one: Metric) -> tuple[str, ...]:
    formula = getdoc(one.measure) or ""
    says = f"{one.description}. {formula}" if formula else one.description
    return code(one.name), says, one.unit, INTERVALS[one.interval], "yes" if one.public else ""
