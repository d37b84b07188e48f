"""What the records of an experiment say: estimates with intervals, planned comparisons, correlations, ratings.

The game is the unit: values of several bidders, items or days of one game are averaged, or taken as one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harbor.evaluation.experiments.design import Side
from harbor.evaluation.experiments.records import Results

Method = Literal["t", "bootstrap", "Wilson", "cluster bootstrap", "none"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a metric over the games of a cell, with a 95 % interval (None: too few games for one).

    `bidder` is a name, "everyone" (the mean over the bidders of each game), or "" for what is the game's. `about` and
    `at` are as in a measurement. `missing` counts games without a value, and `why` gives their reasons.
    """

    metric: str
    arm: str
    condition: str
    bidder: str
    about: str
    at: int | None
    games: int
    missing: int
    why: tuple[str, ...]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    method: Method


@dataclass(frozen=True, slots=True)
class Difference:
    """A planned comparison: the mean of the differences game by game, with its 95 % interval, p and effect size.

    `effect` is Cohen's d of paired samples, in standard deviations of the differences; `p_holm` is p within the family
    of all planned comparisons of the experiment.
    """

    metric: str
    of: Side
    against: Side
    pairs: int
    missing: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    effect: float | None
    p: float | None
    p_holm: float | None
    method: Method


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho of two metrics over bidders and items, its p, and an interval by resampling whole games."""

    name: str
    arm: str
    condition: str
    bidder: str
    games: int
    pairs: int
    rho: float | None
    p: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Rating:
    """TrueSkill of a bidder: means of mu and sigma over shuffled orders of the games, and how mu spreads over them."""

    arm: str
    condition: str
    bidder: str
    games: int
    orders: int
    mu: float
    sigma: float
    mu_low: float
    mu_high: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that is said of an experiment."""

    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    correlations: tuple[Correlation, ...]
    ratings: tuple[Rating, ...]


def analyse(results: Results) -> Analysis:
    """Analyse the finished games of an experiment; failed and unfinished ones are counted where they are missing."""
    raise NotImplementedError
