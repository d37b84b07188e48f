"""TrueSkill: how good bidders are, from their ranks in many games, by the trueskill package.

Source: Herbrich, Minka and Graepel 2007; Chen et al. 2023, sec. 4.3 (bidders ranked by profit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

import numpy as np
from trueskill import Rating, TrueSkill

from harbor._core.seeding import stream

MU, SIGMA = 25.0, 25 / 3
DRAW_PROBABILITY = 0.1
"""How likely two bidders are to draw: the package's own default, as in the published ratings.

It must be above zero, as bidders that win nothing share a rank. It is the same for all experiments, though ties
are rarer in some, since ratings on different scales could not be compared.
"""


@dataclass(frozen=True, slots=True)
class Skill:
    """A bidder's rating: means of mu and sigma over orders of the games; 95 % of the mus lie from `low` to `high`.

    That spread shows only how much the order of the games matters; how uncertain a rating is after so few games, sigma
    shows.
    """

    mu: float
    sigma: float
    low: float
    high: float


def rate(rankings: Sequence[Mapping[str, int]], orders: int = 100, seed: int = 0) -> dict[str, Skill]:
    """Rate bidders by the ranks that they had in games.

    TrueSkill updates game by game, and later games weigh more, so the result is averaged over shuffled orders.

    Args:
        rankings: ranks by bidder, one mapping per game: 1 is the best, equal ranks are a draw. Games of one bidder are
            ignored.
        orders: how many orders of the games; at least 1.
        seed: of the shuffling.

    Returns:
        skills by bidder, in the order of names; none without games.

    Raises:
        ValueError: no order is asked for.

    Source: Herbrich, Minka and Graepel 2007, with the defaults mu = 25 and sigma = 25 / 3.
    """
    if orders < 1:
        raise ValueError(f"orders {orders!r} is below 1; rate over one order at least")
    rng = stream(seed, "trueskill")
    games = [sorted(ranks.items()) for ranks in rankings if len(ranks) > 1]
    rated = [_rated(games, rng) for _ in range(orders)]
    names = sorted({bidder for ranks in rankings for bidder in ranks})
    return {name: _skill([ratings.get(name, Rating(MU, SIGMA)) for ratings in rated]) for name in names}


def _rated(games: Sequence[Sequence[tuple[str, int]]], rng: Random) -> dict[str, Rating]:
    """Rate by the games in a random order; bidders are shuffled too, as in draws their order matters a little."""
    model = TrueSkill(MU, SIGMA, draw_probability=DRAW_PROBABILITY)
    ratings: dict[str, Rating] = {}
    for game in rng.sample(games, len(games)):
        names, ranks = zip(*rng.sample(game, len(game)), strict=True)
        before = [(ratings.get(name, model.create_rating()),) for name in names]
        ratings |= {name: after for name, (after,) in zip(names, model.rate(before, ranks), strict=True)}
    return ratings


def _skill(ratings: Sequence[Rating]) -> Skill:
    mus = [rating.mu for rating in ratings]
    low, high = np.quantile(mus, (0.025, 0.975))
    return Skill(fmean(mus), fmean(rating.sigma for rating in ratings), float(low), float(high))
