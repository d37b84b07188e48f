"""What comes out of a run, who hears of it meanwhile, and how to wait for it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from harbor._core.acts import Tried
from harbor._core.counting import counted
from harbor._core.errors import ConfigError, Unanswered
from harbor._core.events import ModelCalled, ThoughtFailed
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.loops import run_kept
from harbor._core.money import dollars
from harbor._core.notebook import SIMULATED, block, seen_with, table
from harbor._core.players import AGENT
from harbor.evaluation._metrics.summary import Summary, summarise

T = TypeVar("T")
Listener = Callable[[Entry], None]
LONGEST_REASON = 300
"""How many characters are told of why replies could not be used."""


@dataclass(frozen=True)
class Result:
    """A finished auction: its log, and where that is on disk (None: in memory only)."""

    log: tuple[Entry, ...]
    folder: Path | None

    @property
    def standings(self) -> Sequence[Any]:
        """The bidders, ranked by what counts in the game: rows of `results.Standing`, `water` or `sessions`."""
        return self.metrics().standings

    def metrics(self) -> Summary:
        """Measure the log."""
        return summarise(self.log)

    def _repr_html_(self) -> str:
        """Show its standings in a notebook."""
        summary = self.metrics()
        rows = [asdict(row) for row in summary.standings]
        heads = list(rows[0]) if rows else []
        cells = [[cell_of(row[name]) for name in heads] for row in rows]
        standings = table([name.replace("_", " ") for name in heads], cells)
        notes = (SIMULATED if summary.simulated else "", summary.unheeded)
        return block(f"Standings of {summary.run}", notes, standings, seen_with(self.folder))


def cell_of(value: object) -> str:
    """Write a number or a name of a standing."""
    if isinstance(value, Decimal):
        return dollars(value)
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def answered(result: Result) -> Result:
    """Give the result of a run, if it is one.

    Raises:
        Unanswered: there were calls of models, and all have failed; or of all answers of one model none was usable.
    """
    made = [call for call in of_type(result.log, ModelCalled) if call.purpose != AGENT]
    if made and all(call.outcome == "failed" for call in made):
        raise Unanswered(f"no model has answered any of {len(made)} calls; calls.jsonl of the run says why")
    for model in dict.fromkeys(call.model for call in made):
        outcomes = Counter(call.outcome for call in made if call.model == model)
        if not outcomes["ok"] and (unusable := outcomes["unreadable"] + outcomes["refused"]):
            bidders = {call.bidder for call in made if call.model == model}
            refused = f" ({outcomes['refused']} refused)" if outcomes["refused"] else ""
            raise Unanswered(
                f"none of {counted(unusable, 'answer')} of model {model!r} could be used{refused}, so what its bidders"
                f" did is no play of it; most often: {_most_often(result.log, bidders)}; calls.jsonl has its replies;"
                " give its bidders another model, in a new run"
            )
    return result


def _most_often(log: Sequence[Entry], bidders: set[str]) -> str:
    """Give the most frequent reason for which replies of models were of no use to bidders."""
    bids = [one.reason for one in of_type(log, Tried) if one.bidder in bidders]
    thoughts = [one.detail for one in of_type(log, ThoughtFailed) if one.bidder in bidders]
    reasons = Counter(bids or thoughts).most_common(1)
    return reasons[0][0][:LONGEST_REASON] if reasons else "no reason is told"


def finish(work: Coroutine[Any, Any, T], refusal: str, remedy: str) -> T:
    """Run to the end where no event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_kept(work)
    work.close()
    raise ConfigError(f"{refusal} in a running event loop, as in a notebook; use: {remedy}")
