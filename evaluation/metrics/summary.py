"""The summary of a run, from its log alone: what `harbor auction` and `harbor replay` show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harbor.evaluation.metrics.calls import Calls, calls
from harbor.evaluation.metrics.results import ItemResult, Standing, items, standings
from harbor.events import BidderLabelled, LogOpened, SeatFailed, ThoughtFailed
from harbor.log import Entry, of_type
from harbor.money import as_number


@dataclass(frozen=True, slots=True)
class Failure:
    """A bidder whose seat or thoughts failed: how often, and what was said the first time."""

    bidder: str
    times: int
    first: str


@dataclass(frozen=True)
class Summary:
    """A run in short; `simulated` says whether the built-in model played any bidder."""

    run: str
    seed: int
    standings: list[Standing]
    items: list[ItemResult]
    calls: Calls
    failures: list[Failure]
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
                {
                    "name": row.name,
                    "winner": row.winner,
                    "price": None if row.price is None else as_number(row.price),
                    "rounds": row.rounds,
                }
                for row in self.items
            ],
            "calls": {
                "count": self.calls.count,
                "input_tokens": self.calls.input_tokens,
                "output_tokens": self.calls.output_tokens,
            },
            "seconds": round(self.seconds, 3),
        }


def failures(entries: Sequence[Entry]) -> list[Failure]:
    """List the bidders whose seats or thoughts failed, in the order in which they first did."""
    details: dict[str, list[str]] = {}
    for entry in entries:
        if isinstance(entry.event, SeatFailed | ThoughtFailed):
            details.setdefault(entry.event.bidder, []).append(entry.event.detail)
    return [Failure(bidder, len(said), said[0]) for bidder, said in details.items()]


def summarise(entries: Sequence[Entry]) -> Summary:
    """Summarise a log."""
    opened = of_type(entries, LogOpened)[0]
    return Summary(
        run=opened.run,
        seed=opened.seed,
        standings=standings(entries),
        items=items(entries),
        calls=calls(entries),
        failures=failures(entries),
        seconds=round(entries[-1].at, 6),
        simulated=any(label.player.startswith("simulated") for label in of_type(entries, BidderLabelled)),
    )
