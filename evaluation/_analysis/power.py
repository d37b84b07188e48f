"""Estimates how many games a planned comparison needs, by simulating its own test on the differences of a pilot.

Differences of a yes-or-no metric are drawn as -1, 0 and 1. All others are resampled from the pilot, shifted to the
effect and scaled to the given variance. Random streams are fixed, so equal data return equal results.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.basics.numbers import derive
from harbor.evaluation._analysis.comparisons import kind_of, paired_differences, repeats_of
from harbor.evaluation._analysis.frames import frame, measurements
from harbor.evaluation._analysis.levels import Question, least_pairs
from harbor.evaluation._analysis.means import METHODS, Mean, Method, mean_of, per_draw
from harbor.evaluation._analysis.pivots import Floats
from harbor.evaluation._analysis.statistics import pairs_needed, rejects
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, expanded, measured
from harbor.evaluation._experiments.draws import draws_of, turns_of
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._experiments.trial_runs import offline, run_trial
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.measurement import Interval

SAMPLES = 2000
"""Number of simulated samples."""
MOST = 100
"""The greatest number of pairs to simulate; beyond it, the formula of the t test is as good."""
CONFIDENCE = 0.8
"""Confidence of each limit of a pilot's variance. Source: Browne 1995, "On the use of a pilot sample"."""


def spread_limits(differences: Floats, kind: Interval) -> tuple[float, float]:
    """Return the limits of variance, as multiples of the pilot's (for yes or no, of its share of changed pairs).

    The limits of a variance are by chi-square, as if differences were normal. Those of a share are exact.
    """
    pairs, tails = len(differences), np.array([1 - CONFIDENCE, CONFIDENCE])
    if kind == "binary":
        changed = int(np.count_nonzero(differences))
        unchanged = float(max(pairs - changed, 1e-9))  # if all pairs changed, the limit is 1
        low = stats.beta.ppf(tails[0], changed, pairs - changed + 1)
        high = stats.beta.ppf(tails[1], changed + 1, unchanged)
        return float(low * pairs / changed), float(high * pairs / changed)
    divisors = stats.chi2.ppf(tails, pairs - 1)
    return float((pairs - 1) / divisors[1]), float((pairs - 1) / divisors[0])


def draws(differences: Floats, kind: Interval, effect: float, spread: float = 1) -> Floats:
    """Draw samples of pairs whose mean difference is the effect.

    Args:
        differences: differences of a pilot.
        kind: kind of their test.
        effect: in the unit of the metric.
        spread: variance as a multiple of the pilot's (for yes or no, share of changed pairs).

    Returns:
        samples by pairs.
    """
    size, random = (SAMPLES, MOST), np.random.default_rng(derive(0, "power"))
    if kind == "binary":
        changed = min(1.0, max(abs(effect), spread * np.count_nonzero(differences) / len(differences)))
        chances = [(changed - effect) / 2, 1 - changed, (changed + effect) / 2]
        return random.choice([-1.0, 0.0, 1.0], size, p=np.clip(chances, 0, 1))
    centred = differences - differences.mean()
    widened = centred * np.sqrt(spread * len(differences) / (len(differences) - 1))
    return effect + random.choice(widened, size)


def power_of(samples: Floats, kind: Interval, effect: float, alpha: float) -> float:
    """Return the share of samples in which the test finds the effect, in its own direction."""
    rightly = np.sign(samples.mean(axis=1)) == np.sign(effect)
    return float((rejects(samples, kind, alpha) & rightly).mean())


def pairs_for(samples: Floats, kind: Interval, effect: float, alpha: float, power: float) -> int:
    """Return the number of pairs that find an effect this often, no fewer than can reach the level.

    Args:
        samples: `draws` of differences with this effect.
        kind: kind of their test.
        effect: in the unit of the metric.
        alpha: the level.
        power: desired probability of finding the effect.
    """
    least = least_pairs(kind, alpha)

    def found(pairs: int) -> float:
        return power_of(samples[:, :pairs], kind, effect, alpha)

    if found(MOST) >= power:
        return least + bisect_left(range(least, MOST), power, key=found)
    return max(MOST + 1, pairs_needed(effect, float(samples.std()), alpha, power))


FEW = 10
"""With fewer pairs the standard deviation is a guess: with 10, the true one is 0.7 to 1.8 times the estimate."""


@dataclass(frozen=True, slots=True)
class Games:
    """The number of games that a comparison needs on each side, in whole draws.

    `likely` games are needed if differences vary as much as in the pilot. `least` and `enough` are needed if their
    variance is at its lower or its upper limit; each limit has 80 % confidence if differences are normal, and less if
    they are skewed. Plan for `enough`.
    """

    least: int
    likely: int
    enough: int


@dataclass(frozen=True, slots=True)
class Need:
    """The number of games on each side, paired by repeat, with which a planned comparison finds a difference.

    `pairs` counts the pilot's repeats with a value on both sides, `missing` its other repeats, and `draws` the
    independent random draws among the pairs. `sd` is the standard deviation of the differences, in the unit of the
    metric, and `test` the method that tests them. `games` is the need of this comparison alone. `games_holm` is the
    need if all planned comparisons are corrected by Holm, whatever the results of the others are. If `games` or
    `games_holm` is None, `note` says why.
    """

    metric: str
    of: Side
    against: Side
    pairs: int
    missing: int
    sd: float | None
    test: Method
    games: Games | None
    games_holm: Games | None
    note: str = ""
    draws: int = 0


def planned(experiment: Experiment, metric: str | None = None) -> tuple[Comparison, ...]:
    """List the planned comparisons of an experiment, or only those of one metric.

    Raises:
        ConfigError: there are no such comparisons, or all repeats share one random draw.
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
    """Run the trials that these comparisons need, in memory, with the built-in model in place of every other model.

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
    """The games that planned comparisons need, from a pilot; `family` is the number of planned comparisons."""

    experiment: str
    simulated: bool
    question: Question
    family: int
    needs: tuple[Need, ...]


def games_needed(results: Results, comparisons: Sequence[Comparison], question: Question) -> Power:
    """Return the number of games that comparisons need, each by its own test.

    Args:
        results: a pilot; its experiment is the family of all planned comparisons.
        comparisons: the comparisons in question.
        question: the effect to find.

    Raises:
        ConfigError: the pilot has one repeat, or none.
    """
    if (most := max(len(repeats_of(results, one)) for one in comparisons)) < 2:
        repeats = "1 repeat" if most == 1 else f"{most} repeats"
        raise ConfigError(f"the pilot has {repeats}, and one game does not say how games vary; give 10 or more")
    values, family = measurements(frame(results)), len(planned(results.experiment))
    found = [_need(one, results, paired_differences(values, one), question, family) for one in comparisons]
    return Power(results.experiment.name, results.simulated, question, family, tuple(found))


def _need(comparison: Comparison, results: Results, apart: pd.Series[float], question: Question, family: int) -> Need:
    experiment, pairs, repeats = results.experiment, len(apart), len(repeats_of(results, comparison))
    differences = per_draw(apart.to_numpy(), draws_of(experiment, map(int, apart.index)))
    kind, count = kind_of(comparison.metrics, differences, turns_of(experiment)), len(differences)
    pilot, test = mean_of(differences, kind), METHODS[kind]
    found = (comparison.metric, comparison.of, comparison.against, pairs, repeats - pairs, pilot.sd, test)
    if why := _why_not(pilot, kind, question):
        return Need(*found, None, None, why, count)
    alone, holm = (
        _games(differences, kind, question, alpha, turns_of(experiment))
        for alpha in (question.alpha, question.alpha / family)
    )
    units = "pairs" if count == pairs else "draws"
    rough = f"rough: {count} {units} say little of how differences vary" if count < FEW else ""
    return Need(*found, alone, holm, rough, count)


def _why_not(pilot: Mean, kind: Interval, question: Question) -> str:
    if not pilot.sd or pilot.method == "none":
        return f"{pilot.note or f'all {pilot.n} values are equal'}: the pilot does not say how they vary"
    return "yes or no differ by 1 at most" if kind == "binary" and abs(question.effect) > 1 else ""


def _games(differences: Floats, kind: Interval, asked: Question, alpha: float, turns: int = 1) -> Games:
    low, high = spread_limits(differences, kind)
    least, likely, enough = (
        turns * pairs_for(draws(differences, kind, asked.effect, spread), kind, asked.effect, alpha, asked.power)
        for spread in (low, 1, high)
    )
    return Games(least, likely, enough)
