"""Power: how many trials a planned comparison needs, given how much the differences of a pilot vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harbor._core.errors import ConfigError, unknown
from harbor.evaluation._analysis.comparisons import expanded, paired_differences, repeats_of
from harbor.evaluation._analysis.frames import frame, measurements
from harbor.evaluation._analysis.statistics import Mean, pairs_needed, t_mean
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, measured
from harbor.evaluation._experiments.run_trial import offline, run_trial
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._experiments.trials import trials

FEW = 10
"""With fewer pairs the standard deviation is a guess: with 10, the true one is 0.7 to 1.8 times the one found."""


@dataclass(frozen=True, slots=True)
class Need:
    """How many games on each side, paired by repeat, a planned comparison needs to find a difference.

    `pairs` and `missing` count the pilot's repeats, with and without a value on both sides; `sd` is the standard
    deviation of its differences, in the unit of the metric. `games` is for this comparison alone; `games_holm` is
    enough whatever the others of its family show, at alpha over their number. None: `note` gives the reason.
    """

    metric: str
    of: Side
    against: Side
    pairs: int
    missing: int
    sd: float | None
    games: int | None
    games_holm: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What to find: an effect in the unit of the metric, with this probability (`power`), at this level (`alpha`)."""

    effect: float
    power: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.effect == 0 or not abs(self.effect) < float("inf"):
            raise ConfigError(f"effect {self.effect!r}: no number of games finds that; give a difference other than 0")
        if not 0 < self.alpha < self.power < 1:
            raise ConfigError(
                f"alpha {self.alpha!r}, power {self.power!r}: give an alpha above 0, and a power above it and below 1"
            )


def planned(experiment: Experiment, metric: str | None = None) -> tuple[Comparison, ...]:
    """List the planned comparisons, or those of one metric.

    Raises:
        ConfigError: there is none, or all repeats would be of one draw.
    """
    if experiment.same_seed:
        raise ConfigError(f"experiment {experiment.name!r} has same_seed, so its games are no pairs; drop it")
    found = tuple(expanded(experiment))
    if not found:
        raise ConfigError(f"experiment {experiment.name!r} plans no comparison; add [[comparisons]] to a copy of it")
    if metric is None:
        return found
    if metric not in (known := {one.metric for one in found}):
        raise ConfigError(unknown("compared metric", metric, known))
    return tuple(one for one in found if one.metric == metric)


async def pilot(experiment: Experiment, comparisons: Sequence[Comparison], repeats: int) -> Results:
    """Run the trials that comparisons need, in memory, with the built-in model in place of every other.

    Raises:
        ConfigError: the settings of a game are refused.
    """
    cells = {(side.arm, side.condition) for one in comparisons for side in (one.of, one.against)}
    chosen = [trial for trial in trials(experiment, repeats) if (trial.arm, trial.condition) in cells]
    names = measured(experiment)
    records = [await run_trial(replace(trial, config=offline(trial.config)), names) for trial in chosen]
    return Results(experiment, tuple(records))


@dataclass(frozen=True, slots=True)
class Power:
    """The trials that planned comparisons need, by a pilot; `family` is the number of planned comparisons."""

    experiment: str
    simulated: bool
    question: Question
    family: int
    needs: tuple[Need, ...]


def games_needed(results: Results, comparisons: Sequence[Comparison], question: Question) -> Power:
    """Say how many games comparisons need, by a two-sided paired t test.

    Args:
        results: a pilot; its experiment is the family of all planned comparisons.
        comparisons: those that are asked about.
        question: what is to be found.
    """
    values, family = measurements(frame(results)), len(planned(results.experiment))
    found = [
        _need(one, t_mean(paired_differences(values, one)), repeats_of(results, one), question, family)
        for one in comparisons
    ]
    return Power(results.experiment.name, results.simulated, question, family, tuple(found))


def _need(comparison: Comparison, differences: Mean, repeats: int, question: Question, family: int) -> Need:
    found = (comparison.metric, comparison.of, comparison.against, differences.n, repeats - differences.n)
    if not differences.sd:
        return Need(*found, differences.sd, None, None, f"{differences.note}: the pilot does not say how they vary")
    alone, holm = (
        pairs_needed(question.effect, differences.sd, alpha, question.power)
        for alpha in (question.alpha, question.alpha / family)
    )
    rough = f"rough: {differences.n} pairs say little of how differences vary" if differences.n < FEW else ""
    return Need(*found, differences.sd, alone, holm, rough)
