"""TrueSkill of the bidders in every cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from harbor.evaluation.experiments.design import ranking
from harbor.evaluation.experiments.frames import CELL
from harbor.evaluation.experiments.records import Results
from harbor.evaluation.skill import rate

ORDERS = 100
LONGEST = 2000
"""How many games are counted at most, all orders together: a game takes about a millisecond."""


@dataclass(frozen=True, slots=True)
class Rating:
    """TrueSkill of a bidder: means of mu and sigma over shuffled orders of the games, and how mu spreads over them.

    In a series every auction of it is a game here.
    """

    arm: str
    condition: str
    bidder: str
    games: int
    orders: int
    mu: float
    sigma: float
    mu_low: float
    mu_high: float


def ratings(results: Results, values: pd.DataFrame) -> Iterator[Rating]:
    """Rate the bidders of each cell by their ranks, over up to 100 orders of its games; fewer where games are many.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
