"""TrueSkill: how good bidders are, from their ranks in many games, by the trueskill package.

Source: Herbrich, Minka and Graepel 2007; Chen et al. 2023, sec. 4.3 (bidders ranked by profit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean, stdev

from scipy import stats
from trueskill import Rating, TrueSkill

from harbor._core.seeding import stream

MU, SIGMA = 25.0, 25 / 3
DRAW_PROBABILITY = 0.1
"""How likely two bidders are to draw: the package's own default, as in the published ratings.

It must be above zero, as bidders that win nothing share a rank. It is the same for all experiments, though ties
are rarer in some, since ratings on different scales could not be compared.
"""
FEWEST_GAMES = 5
"""The fewest games that are resampled: fewer have too few different samples."""

Ranks = Mapping[str, int]
"""The ranks of the bidders of an auction: 1 is the best, equal ranks are a draw."""
Game = Sequence[Ranks]
"""The auctions of a game: one, or those of a series."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A bidder's rating after all games: means of mu and sigma over orders of the games, and a 95 % interval of mu.

    The interval is by resampling whole games (None: `note` says why there is none). Sigma is TrueSkill's own belief.
    """

    mu: float
    sigma: float
    low: float | None
    high: float | None
    note: str = ""


def rate(games: Sequence[Game], orders: int = 100, resamples: int = 200, seed: int = 0) -> dict[str, Skill]:
    """Rate bidders by the ranks that they had in games, one after the other.

    TrueSkill updates auction by auction, and later ones weigh more, so the result is averaged over shuffled orders. The
    interval is mu plus and minus t times the standard deviation of mu over resamples of the games, t with one degree of
    freedom less than there are games. Of three equal bidders in 5 and 15 games it covers 25 at least 92 % of the time;
    the quantiles of the resamples cover it 83 % and 92 %.

    Args:
        games: what is drawn anew in a resample; auctions of one bidder are ignored.
        orders: how many orders of the auctions; at least 1.
        resamples: how many samples of the games; at least 2.
        seed: of shuffling and resampling.

    Returns:
        skills by bidder, in the order of names; none without games.

    Raises:
        ValueError: too few orders or resamples are asked for.

    Source: Herbrich, Minka and Graepel 2007, with the defaults mu = 25 and sigma = 25 / 3.
    """
    if orders < 1 or resamples < 2:
        raise ValueError(f"orders {orders!r}, resamples {resamples!r}: ask for 1 order and 2 resamples at least")
    rng, names = stream(seed, "trueskill"), sorted({bidder for game in games for ranks in game for bidder in ranks})
    rated = [_rated(games, rng) for _ in range(orders)]
    enough = len(games) >= FEWEST_GAMES
    again = [_rated(rng.choices(games, k=len(games)), rng) for _ in range(resamples if enough else 0)]
    first = Rating(MU, SIGMA)
    return {
        name: _skill([one.get(name, first) for one in rated], [one.get(name, first) for one in again], len(games))
        for name in names
    }


def after_one(ranks: Ranks) -> dict[str, float]:
    """Give the mu of each bidder after this auction alone, from a first rating of 25 and 25 / 3.

    Of three bidders the first has 31.675, the second 25 and the last 18.325. Equals have the mean of their places.
    """
    order = sorted(ranks, key=lambda bidder: ranks[bidder])
    if len(order) < 2:
        return dict.fromkeys(order, MU)
    places = tuple(ranks[bidder] for bidder in order)
    found = dict(zip(order, _mus(places), strict=True))
    return {name: fmean(found[other] for other in order if ranks[other] == ranks[name]) for name in order}


@cache
def _mus(places: tuple[int, ...]) -> tuple[float, ...]:
    model = TrueSkill(MU, SIGMA, draw_probability=DRAW_PROBABILITY)
    return tuple(one.mu for (one,) in model.rate([(model.create_rating(),) for _ in places], places))


def _rated(games: Sequence[Game], rng: Random) -> dict[str, Rating]:
    """Rate by the auctions in a random order; bidders are shuffled too, as in draws their order matters a little."""
    model = TrueSkill(MU, SIGMA, draw_probability=DRAW_PROBABILITY)
    ratings: dict[str, Rating] = {}
    auctions = [sorted(ranks.items()) for game in games for ranks in game if len(ranks) > 1]
    for auction in rng.sample(auctions, len(auctions)):
        names, ranks = zip(*rng.sample(auction, len(auction)), strict=True)
        before = [(ratings.get(name, model.create_rating()),) for name in names]
        ratings |= {name: after for name, (after,) in zip(names, model.rate(before, ranks), strict=True)}
    return ratings


def _skill(rated: Sequence[Rating], again: Sequence[Rating], games: int) -> Skill:
    mu, sigma = fmean(one.mu for one in rated), fmean(one.sigma for one in rated)
    if not again:
        return Skill(mu, sigma, None, None, f"fewer than {FEWEST_GAMES} games to resample")
    spread = stdev(one.mu for one in again)
    if not spread:
        return Skill(mu, sigma, None, None, "all games are alike")
    half = float(stats.t.ppf(0.975, games - 1)) * spread * (games / (games - 1)) ** 0.5
    return Skill(mu, sigma, mu - half, mu + half)
