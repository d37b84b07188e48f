"""What the model calls of a run took, in a terminal: by bidder, by purpose, by model and in total."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harbor._cli.display.render import Table
from harbor._core.money import cost_in_words

if TYPE_CHECKING:
    from harbor.evaluation._metrics.calls import Calls, CallTotals


def call_tables(calls: Calls) -> Iterator[Table | str]:
    """Give the table of the calls, if there are any, and what else they tell; a column of noughts is left out."""
    from harbor.evaluation._metrics.call_notes import notes_of

    groups = {"bidder": calls.by_bidder, "purpose": calls.by_purpose, "model": calls.by_model}
    rows = [_row(by, name, one) for by, group in groups.items() for name, one in group.items()]
    if rows:
        yield Table("Model calls", [*rows, _row("total", "", calls.total)])
        total = calls.total
        yield from notes_of(total.noted, total.probes, total.lost, total.cost_dollars)


def _row(by: str, name: str, one: CallTotals) -> dict[str, object]:
    return {
        "by": by,
        "": name,
        "calls": one.count,
        "failed": one.failed or None,
        "refused": one.refused or None,
        "cached": one.cached or None,
        "imported": one.imported or None,
        "retries": one.retries or None,
        "tokens in": f"{one.input_tokens:,}",
        "of them cached": f"{one.cached_tokens:,}" if one.cached_tokens else None,
        "tokens out": f"{one.output_tokens:,}",
        "reasoning": f"{one.reasoning_tokens:,}" if one.reasoning_tokens else None,
        "dollars": cost_in_words(one.cost_dollars) + (f" ({one.unpriced})" if one.unpriced else ""),
    }
