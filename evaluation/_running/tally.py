"""The progress of an experiment in trials, calls, tokens and dollars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from harbor.evaluation._experiments.trial_records import TrialRecord


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over trials; `cost_dollars` is None if the cost of any trial is unknown."""

    games: int
    finished: int = 0
    failed: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_dollars: float | None = 0.0

    @property
    def unfinished(self) -> int:
        """How many are still to be run."""
        return self.games - self.finished - self.failed

    def plus(self, record: TrialRecord) -> Tally:
        """Count one more trial."""
        known = self.cost_dollars is not None and record.cost is not None
        return replace(
            self,
            finished=self.finished + (record.status == "finished"),
            failed=self.failed + (record.status == "failed"),
            calls=self.calls + record.calls,
            input_tokens=self.input_tokens + record.input_tokens,
            cached_tokens=self.cached_tokens + record.cached_tokens,
            output_tokens=self.output_tokens + record.output_tokens,
            cost_dollars=(self.cost_dollars or 0.0) + (record.cost or 0.0) if known else None,
        )

    def as_json(self) -> dict[str, int | float | None]:
        """Give the counts by name."""
        counts = asdict(self)
        return {key: counts[key] for key in ("games", "finished", "failed")} | {"unfinished": self.unfinished} | counts


def tally(records: Iterable[TrialRecord]) -> Tally:
    """Count all trials of an experiment; what an unfinished one has cost so far is included."""
    listed = list(records)
    counted = Tally(len(listed))
    for record in listed:
        counted = counted.plus(record)
    return counted
