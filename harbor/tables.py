"""Tables of what outlasts an auction: the ranks of a series, the memories of a store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from harbor.display import cell
from harbor.money import dollars

if TYPE_CHECKING:
    from harbor.evaluation.metrics.series import SeriesSummary
    from harbor.memory.records import Record

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
