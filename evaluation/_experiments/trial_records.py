"""What an experiment leaves: a record a game, and all of them together, as data for statistics and reports."""

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
    """One game of an experiment: how it ended, and what was measured of it.

    A failed game has no measurements and says why in `detail`; one that was not held, or broke off, is unfinished.
    `players` says what plays each bidder; `cost` is in dollars (None: unknown).
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
    """An experiment and the records of all its games, in the order of the design."""

    experiment: Experiment
    records: tuple[TrialRecord, ...]

    @property
    def simulated(self) -> bool:
        """Whether the built-in model played in any game."""
        return any(game.simulated for game in self.records)

    def of(self, status: Status) -> list[TrialRecord]:
        """List the games that ended so."""
        return [game for game in self.records if game.status == status]


def record(game: Trial, metrics: Sequence[str], logs: Sequence[Sequence[Entry]]) -> TrialRecord:
    """Measure a finished game.

    A game in which a model gave no usable reply to any call is a failed one: what that bidder did was nobody's play.

    Args:
        game: which one.
        metrics: their names.
        logs: that of the game; for a series, its own log and then those of its auctions.
    """
    called = [call for log in logs for call in of_type(log, ModelCalled)]
    answered = {call.bidder for call in called if call.outcome == "ok"}
    if silent := sorted({call.bidder for call in called} - answered):
        return broken_off(game, logs, f"no usable reply of a model for {', '.join(silent)}")
    return replace(broken_off(game, logs), status="finished", measurements=tuple(measure(metrics, logs[0])))


def broken_off(game: Trial, logs: Sequence[Sequence[Entry]] = (), failure: str = "") -> TrialRecord:
    """Record a game that has nothing to measure: failed where `failure` says why, else unfinished.

    `logs` are what there is of those of a finished game: their calls were made, and are counted.
    """
    called = [call for log in logs for call in of_type(log, ModelCalled)]
    costs = [call.cost_dollars for call in called]
    return TrialRecord(
        game.arm,
        game.condition,
        game.repeat,
        game.config.seed,
        "failed" if failure else "unfinished",
        detail=failure,
        players=tuple(players(logs[0]).items()) if logs else (),
        calls=len(called),
        input_tokens=sum(call.input_tokens for call in called),
        output_tokens=sum(call.output_tokens for call in called),
        cost=None if None in costs else sum((cost for cost in costs if cost is not None), 0.0),
    )
