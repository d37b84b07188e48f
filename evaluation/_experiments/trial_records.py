"""The record of each trial, as data for statistics and reports, and a tally of an experiment's progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from harbor._core.log.events import NO_REQUESTS, ModelCalled, SeatFailed, Spent
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import Trial
from harbor.evaluation._metrics.calls import Noted, Refusals, any_simulated, calls, players, refusals
from harbor.evaluation._metrics.measurement import Measurement, measure

Status = Literal["finished", "failed", "unfinished"]


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """The outcome of one trial with its measurements.

    A failed trial has no measurements, and `detail` gives the reason. A trial that was not run, or broke off, is
    unfinished. `players` names the player of each bidder. `cost` is in dollars (None: unknown), without failed calls
    that report no tokens. Cached tokens are among the input tokens. `cached_calls` were answered without a provider,
    `failed_calls` never, `imported_calls` by replies from a file. `answered_by` counts calls by the model that the
    provider named in its reply. In `refused_calls` a model does not respond to the request. `probes`, `lost` and
    `noted` are those of `CallTotals`. `refusals` are those of a finished trial by bidder. For a public pack seed,
    calls, tokens, cost and refusals are unknown.
    """

    arm: str
    condition: str
    repeat: int
    seed: int | None
    status: Status
    detail: str = ""
    players: tuple[tuple[str, str], ...] = ()
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    measurements: tuple[Measurement, ...] = ()
    cached_calls: int = 0
    failed_calls: int = 0
    answered_by: tuple[tuple[str, int], ...] = ()
    refusals: tuple[Refusals, ...] = ()
    imported_calls: int = 0
    refused_calls: int = 0
    probes: Spent = NO_REQUESTS
    lost: Spent = NO_REQUESTS
    noted: tuple[Noted, ...] = ()

    @property
    def simulated(self) -> bool:
        """Return whether the built-in model played any bidder."""
        return any_simulated(player for _, player in self.players)


@dataclass(frozen=True, slots=True)
class Results:
    """An experiment and the records of all its trials, in the order of the design.

    `public`: the records come from a public copy, in which seeds, calls, tokens and costs are unknown.
    """

    experiment: Experiment
    records: tuple[TrialRecord, ...]
    public: bool = False

    @property
    def simulated(self) -> bool:
        """Return whether the built-in model played in any trial."""
        return any(trial.simulated for trial in self.records)

    def of(self, status: Status) -> list[TrialRecord]:
        """List the records with this status."""
        return [trial for trial in self.records if trial.status == status]


def record(trial: Trial, metrics: Sequence[str], logs: Sequence[Sequence[Entry]]) -> TrialRecord:
    """Measure a finished trial.

    A trial fails if a model gave no usable reply to any call: no model chose that bidder's actions. A call without
    an answer fails the trial too, unless its settings say to play on: a withdrawal that no model chose is no play. A
    call cut off at the end of a bidder's time counts as unanswered, as a slow model and a slow provider look the
    same. So do a failed seat, as an agent's provider may be the cause, and an agent without any accepted answer. Other
    refused answers are counted but fail no trial: understanding and keeping the rules is part of the measurement.

    Args:
        trial: the trial.
        metrics: names of metrics.
        logs: the log of the game; for a series, its own log and then those of its auctions.
    """
    called = [call for log in logs for call in of_type(log, ModelCalled)]
    answered = {call.bidder for call in called if call.outcome == "ok"}
    if silent := sorted({call.bidder for call in called} - answered):
        return broken_off(trial, logs, f"no usable reply of a model for {', '.join(silent)}")
    refused = tuple(refusals(*logs))
    if trial.config.failed_calls == "stop" and (failure := _unanswered(logs, called) or _untaken(refused)):
        return broken_off(trial, logs, failure)
    return replace(
        broken_off(trial, logs),
        status="finished",
        measurements=tuple(measure(metrics, logs[0])),
        refusals=refused,
    )


def _unanswered(logs: Sequence[Sequence[Entry]], called: Sequence[ModelCalled]) -> str:
    """Name the bidders with failed calls or a failed seat, and who ran out of time. Return "" if there are none."""
    failed = Counter(call.bidder for call in called if call.outcome == "failed")
    late = {seat.bidder for log in logs for seat in of_type(log, SeatFailed) if seat.kind == "timeout"}
    whose = (f"{bidder} ({n}{', out of time' if bidder in late else ''})" for bidder, n in sorted(failed.items()))
    if failed:
        return f"model calls failed for good: {', '.join(whose)}"
    seat = next((seat for log in logs for seat in of_type(log, SeatFailed)), None)
    return f"the seat of {seat.bidder} failed: {seat.detail}" if seat else ""


def _untaken(refused: Sequence[Refusals]) -> str:
    """Name the first agent without any accepted answer. Return "" if there is none."""
    for one in refused:
        if one.agent and one.entire:
            return f"no answer of the agent of {one.bidder} was taken, of {one.asked}; the first time: {one.first}"
    return ""


def broken_off(trial: Trial, logs: Sequence[Sequence[Entry]] = (), failure: str = "") -> TrialRecord:
    """Return the record of a trial without measurements: failed if `failure` gives a reason, else unfinished.

    `logs` are the logs written so far; the record counts their calls.
    """
    made = calls(*logs).total
    answered = Counter(call.answered_by for log in logs for call in of_type(log, ModelCalled) if call.answered_by)
    return TrialRecord(
        trial.arm,
        trial.condition,
        trial.repeat,
        trial.config.seed,
        "failed" if failure else "unfinished",
        detail=failure,
        players=tuple(players(logs[0]).items()) if logs else (),
        calls=made.count,
        input_tokens=made.input_tokens,
        cached_tokens=made.cached_tokens,
        output_tokens=made.output_tokens,
        cached_calls=made.cached,
        failed_calls=made.failed,
        imported_calls=made.imported,
        refused_calls=made.refused,
        probes=made.probes,
        lost=made.lost,
        noted=made.noted,
        answered_by=tuple(sorted(answered.items())),
        cost=made.cost_dollars,
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over trials. `cost_dollars` is None if the cost of any trial is unknown."""

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
        """Number of trials still to run."""
        return self.games - self.finished - self.failed

    def plus(self, record: TrialRecord) -> Tally:
        """Return the counts with one more trial."""
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
        """Return the counts by name."""
        counts = asdict(self)
        return {key: counts[key] for key in ("games", "finished", "failed")} | {"unfinished": self.unfinished} | counts


def tally(records: Iterable[TrialRecord]) -> Tally:
    """Count all trials of an experiment, with the cost so far of unfinished ones."""
    listed = list(records)
    counted = Tally(len(listed))
    for record in listed:
        counted = counted.plus(record)
    return counted
