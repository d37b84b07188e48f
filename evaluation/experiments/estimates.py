"""Estimates: the mean of every metric in every cell, with its interval and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from harbor.evaluation.experiments.design import EVERYONE, measured
from harbor.evaluation.experiments.frames import CELL, QUESTION, game_values
from harbor.evaluation.experiments.records import GameRecord, Results
from harbor.evaluation.metrics.registry import METRICS
from harbor.evaluation.statistics import Mean, Method, bootstrap_mean, clustered_mean, t_mean, wilson_mean


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a metric over the games of a cell, with a 95 % interval (None: too few games for one).

    `bidder` is a name, "everyone" (the mean over the bidders of each game), or "" for what is the game's. `about` and
    `at` are as in a measurement. `missing` counts games without a value, and `why` gives their reasons. `note` says why
    there is no interval.
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
    note: str = ""
