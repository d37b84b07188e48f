"""The results of an experiment: one record per trial, as data for statistics and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from harbor._core.events import ModelCalled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import Trial
from harbor.evaluation._metrics.lineup import any_simulated, players
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._metrics.registry import measure

Status = Literal["finished", "failed", "unfinished"]


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial: how it ended, and its measurements.

    A failed trial has no measurements, and `detail` says why. One that was not run, or broke off, is unfinished.
    `players` tells what plays each bidder; `cost` is in dollars (None: unknown).
    """

    arm: str
    condition: str
    repeat: int
    seed: int
    status: Status
    detail: str = ""
    players: tuple[tuple[str, str], ...] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    measurements: tuple[Measurement, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether the built-in model played any bidder."""
        return any_simulated(player for _, player in self.players)


@dataclass(frozen=True, slots=True)
class Results:
    """An experiment and the records of all its trials, in the order of the design."""

    experiment: Experiment
    records: tuple[TrialRecord, ...]

    @property
    def simulated(self) -> bool:
        """Whether the built-in model played in any trial."""
        return any(trial.simulated for trial in self.records)

    def of(self, status: Status) -> list[TrialRecord]:
        """List the records with this status."""
        return [trial for trial in self.records if trial.status == status]


def record(trial: Trial, metrics: Sequence[str], logs: Sequence[Sequence[Entry]]) -> TrialRecord:
    """Measure a finished trial.

    A trial in which a model gave no usable reply to any call has failed: no model chose what that bidder did.

    Args:
        trial: which one.
        metrics: their names.
        logs: the log of the game; for a series, its own log and then those of its auctions.
    """
    called = [call for log in logs for call in of_type(log, ModelCalled)]
    answered = {call.bidder for call in called if call.outcome == "ok"}
    if silent := sorted({call.bidder for call in called} - answered):
        return broken_off(trial, logs, f"no usable reply of a model for {', '.join(silent)}")
    return replace(broken_off(trial, logs), status="finished", measurements=tuple(measure(metrics, logs[0])))


def broken_off(trial: Trial, logs: Sequence[Sequence[Entry]] = (), failure: str = "") -> TrialRecord:
    """Record a trial without measurements: failed if `failure` gives a reason, else unfinished.

    `logs` are those written so far: their calls were made, so they are counted.
    """
    called = [call for log in logs for call in of_type(log, ModelCalled)]
    costs = [call.cost_dollars for call in called]
    return TrialRecord(
        trial.arm,
        trial.condition,
        trial.repeat,
        trial.config.seed,
        "failed" if failure else "unfinished",
        detail=failure,
        players=tuple(players(logs[0]).items()) if logs else (),
        calls=len(called),
        input_tokens=sum(call.input_tokens for call in called),
        output_tokens=sum(call.output_tokens for call in called),
        cost=None if None in costs else sum((cost for cost in costs if cost is not None), 0.0),
    )
