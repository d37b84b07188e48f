"""TrueSkill of the bidders in every cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from harbor.evaluation._analysis.frames import CELL
from harbor.evaluation._analysis.skill import rate
from harbor.evaluation._experiments.design import EVERYONE, ranking
from harbor.evaluation._experiments.trial_records import Results

ORDERS, FEWEST_ORDERS = 100, 10
COUNTED = 6000
"""The number of game updates, over all orders and cells, above which fewer orders are taken: one takes up to 1 ms."""


@dataclass(frozen=True, slots=True)
class SkillRating:
    """TrueSkill of a bidder: means of mu and sigma over shuffled orders of the games, and how mu spreads over them.

    In a series every auction counts as a game.
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


def ratings(results: Results, values: pd.DataFrame) -> Iterator[SkillRating]:
    """Rate the bidders of each cell by their ranks, over 100 shuffled orders of its games, or fewer if there are many.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
    if not results.experiment.trueskill:
        return
    ranks = values[(values["metric"] == ranking(results.experiment)) & ~values["bidder"].isin(("", EVERYONE))]
    cells = {cell: _rankings(rows) for cell, rows in ranks.groupby(CELL)}
    designed = [(arm.name, condition.name) for arm, condition in results.experiment.cells]
    games = [(*cell, cells[cell]) for cell in designed if cell in cells]
    in_all = sum(len(rankings) for *_, rankings in games)
    orders = max(FEWEST_ORDERS, min(ORDERS, COUNTED // max(1, in_all)))
    for arm, condition, rankings in games:
        for bidder, skill in rate(rankings, orders, results.experiment.seed).items():
            games_of = sum(bidder in ranking for ranking in rankings)
            yield SkillRating(arm, condition, bidder, games_of, orders, skill.mu, skill.sigma, skill.low, skill.high)


def _rankings(rows: pd.DataFrame) -> list[dict[str, int]]:
    """Give the ranks by bidder of each game, or of each auction of each series."""
    games = rows.groupby(["repeat", "at"], dropna=False)
    return [
        {bidder: int(rank) for bidder, rank in zip(game["bidder"], game["value"], strict=True)} for _, game in games
    ]
