"""The summary of a run, from its log alone: what `harbor auction` and `harbor replay` show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harbor.evaluation.metrics.calls import Calls, calls
from harbor.evaluation.metrics.results import ItemResult, Standing, items, standings
from harbor.events import BidderLabelled, LogOpened
from harbor.log import Entry, of_type
from harbor.money import as_number


@dataclass(frozen=True)
class Summary:
    """A run in short; `simulated` says whether the built-in model played any bidder."""

    run: str
    seed: int
    standings: list[Standing]
    items: list[ItemResult]
    calls: Calls
    seconds: float
    simulated: bool

    def as_json(self) -> dict[str, Any]:
        """Give the object that `--json` prints; amounts are dollars."""
        return {
            "run": self.run,
            "seed": self.seed,
            "standings": [
                {**asdict(row), "spent": as_number(row.spent), "profit": as_number(row.profit)}
                for row in self.standings
            ],
            "items": [
                {**asdict(row), "price": None if row.price is None else as_number(row.price)} for row in self.items
            ],
            "calls": {
                "count": self.calls.count,
                "input_tokens": self.calls.input_tokens,
                "output_tokens": self.calls.output_tokens,
            },
            "seconds": round(self.seconds, 3),
        }


def summarise(entries: Sequence[Entry]) -> Summary:
    """Summarise a log."""
    opened = of_type(entries, LogOpened)[0]
    return Summary(
        run=opened.run,
        seed=opened.seed,
        standings=standings(entries),
        items=items(entries),
        calls=calls(entries),
        seconds=round(entries[-1].at, 6),
        simulated=any(label.player.startswith("simulated") for label in of_type(entries, BidderLabelled)),
    )
