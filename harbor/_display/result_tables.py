"""Tables of what outlasts an auction: the ranks of a series, the memories of a store, the score of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from statistics import fmean
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harbor._core.money import dollars, to_cents
from harbor._display.screen import cell, printable
from harbor.evaluation._metrics.registry import METRICS

if TYPE_CHECKING:
    from harbor.evaluation._metrics.score import RunScore
    from harbor.evaluation._metrics.series import SeriesSummary
    from harbor.memory._store.records import Record

HARBOR_LABELS = 3
"""The length of a namespace of Harbor's own: scope, bidder, kind."""


def print_series(console: Console, summary: SeriesSummary) -> None:
    """Print everyone's rank in each auction of a series, the mean of them, and the profit in all."""
    numbers = [str(held.auction) for held in summary.auctions]
    table = Table("bidder", *numbers, "mean rank", "total profit", title="Ranks by auction")
    for bidder, mean in summary.mean_ranks.items():
        ranks = [str(held.ranks[bidder]) for held in summary.auctions]
        table.add_row(cell(bidder), *ranks, f"{mean:.2f}", dollars(summary.total_profits[bidder]))
    console.print(table)
    console.print(
        f"{len(summary.auctions)} of {summary.length} auctions held"
        + (" (simulated bidders)" if summary.simulated else "")
    )


def print_memories(console: Console, found: Sequence[tuple[Record, float | None]]) -> None:
    """Print memories, each with how near it is to what was searched for, if that is known."""
    scored = any(score is not None for _, score in found)
    table = Table(*(["near"] if scored else []), "bidder", "kind", "scope", "written", "memory", title="Memories")
    for record, score in found:
        near = [f"{score:.3f}" if score is not None else ""] if scored else []
        written = datetime.fromtimestamp(record.created, UTC).isoformat(" ", "minutes")[:16]
        table.add_row(*near, *map(cell, _place(record)), written, cell(_text(record)))
    console.print(table)


def print_score(console: Console, score: RunScore) -> None:
    """Print what a run measures: metrics by bidder, then which go item by item or day by day, and what is missing.

    Where a metric has several values of a bidder, as of its raises, their mean is shown.
    """
    cells: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in score.measurements:
        if one.at is None and one.value is not None:
            cells.setdefault((one.metric, one.about), {}).setdefault(one.bidder, []).append(one.value)
    bidders = list(dict.fromkeys(bidder for values in cells.values() for bidder in values))
    table = Table("metric", title="Score")
    for bidder in bidders:
        table.add_column(cell(bidder or "game"))
    for (metric, about), values in cells.items():
        shown = (cell(_number(metric, values.get(bidder))) for bidder in bidders)
        table.add_row(cell(f"{metric} {about}".rstrip()), *shown)
    if cells:
        console.print(table)
    placed = dict.fromkeys(one.metric for one in score.measurements if one.at is not None and one.value is not None)
    if placed:
        console.print(f"item by item, day by day or run by run, in --json: {', '.join(placed)}")
    for (metric, why), whose in _missing(score).items():
        console.print(Text(printable(f"missing: {metric}{whose}: {why}")), soft_wrap=True)
    console.print(f"seed {score.seed}" + (" (simulated bidders)" if score.simulated else ""))


def _number(metric: str, values: list[float] | None) -> str:
    """Write a value, or the mean of several, in the unit of its metric; nothing where there is none."""
    if not values:
        return ""
    value, unit = fmean(values), METRICS[metric].unit
    if unit == "dollars":
        return dollars(to_cents(Decimal(value)))
    return f"{value:,.0f}" if value.is_integer() and unit in ("count", "rank", "tokens") else f"{value:.3f}"


def _missing(score: RunScore) -> dict[tuple[str, str], str]:
    """Say of each metric and reason for whom it is missing, and how often if more than once."""
    missing: dict[tuple[str, str], list[str]] = {}
    for one in score.measurements:
        if one.value is None:
            missing.setdefault((one.metric, one.missing), []).append(one.bidder)
    return {key: _whose(bidders) for key, bidders in missing.items()}


def _whose(bidders: list[str]) -> str:
    names = list(dict.fromkeys(filter(None, bidders)))
    of = f" of {', '.join(names)}" if names else ""
    return of + (f" ({len(bidders)} times)" if len(bidders) > max(1, len(names)) else "")


def _place(record: Record) -> tuple[str, str, str]:
    """Say whose memory it is, of which kind, in which scope; of another app's, just its namespace."""
    bidder = record.content().get("bidder")
    if len(record.namespace) == HARBOR_LABELS and isinstance(bidder, str):
        scope, _, kind = record.namespace
        return bidder, kind, scope
    return "/".join(record.namespace), "", ""


def _text(record: Record) -> str:
    value = record.content()
    return value["text"] if isinstance(value.get("text"), str) else json.dumps(value, ensure_ascii=False)
