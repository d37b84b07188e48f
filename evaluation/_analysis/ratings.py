"""TrueSkill ratings of the bidders in every cell, by the trueskill package: after all games, and after each game alone.

Source: Herbrich, Minka and Graepel 2007; Chen et al. 2023, sec. 4.3 (bidders ranked by profit).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean, stdev

import pandas as pd
from scipy import stats
from trueskill import MU, Rating, TrueSkill

from harbor._core.basics.numbers import stream
from harbor.evaluation._analysis.frames import CELL
from harbor.evaluation._analysis.means import Mean, mean_of, per_draw
from harbor.evaluation._experiments.design import EVERYONE, ranking
from harbor.evaluation._experiments.design_parts import PER_GAME, TRUESKILL
from harbor.evaluation._experiments.trial_records import Results

FIRST_MU, SIGMA = 25.0, 25 / 3
"""First mu and sigma of a bidder: the defaults of TrueSkill."""
DRAW_PROBABILITY = 0.1
"""Probability that two bidders draw: the package's own default, as in the published ratings.

It must be above zero, because bidders that win nothing share a rank. It is the same for all experiments, though ties
are rarer in some, because ratings on different scales could not be compared.
"""
FEWEST_GAMES = 5
"""Fewest games that are resampled: fewer have too few distinct samples."""

Ranks = Mapping[str, int]
"""The ranks of the bidders of an auction: 1 is the best, equal ranks are a draw."""
Game = Sequence[Ranks]
"""The auctions of a game: one, or those of a series."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A bidder's TrueSkill rating after all games: means of mu and sigma over shuffled orders of the games.

    `low` and `high` are the 95 % interval of mu, by resampling whole games (None: `note` says why there is none).
    `sigma` is the uncertainty of the rating as TrueSkill itself computes it.
    """

    mu: float
    sigma: float
    low: float | None
    high: float | None
    note: str = ""


def rate(games: Sequence[Game], orders: int = 100, resamples: int = 200, seed: int = 0) -> dict[str, Skill]:
    """Rate bidders by their ranks in games, one after the other.

    TrueSkill updates auction by auction, and later ones weigh more, so the result is averaged over shuffled orders. For
    n games, the interval is mu plus and minus t * s * sqrt(n / (n - 1)): s is the standard deviation of mu over
    resamples of the games, and t has n - 1 degrees of freedom. For three equal bidders in 5 and in 15 games, it
    contains the true mu of 25 at least 92 % of the time; an interval from the quantiles of the resamples does so 83 %
    and 92 % of the time.

    Args:
        games: units of a resample; auctions of one bidder are ignored.
        orders: number of orders of the auctions; at least 1.
        resamples: number of samples of the games; at least 2.
        seed: random seed of shuffling and resampling.

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
    first = Rating(FIRST_MU, SIGMA)
    return {
        name: _skill([one.get(name, first) for one in rated], [one.get(name, first) for one in again], len(games))
        for name in names
    }


def after_one(ranks: Ranks) -> dict[str, float]:
    """Return the mu of each bidder after this auction alone, from a first rating of 25 and 25 / 3.

    Of three bidders the first has 31.675, the second 25 and the last 18.325. Equals have the mean of their places.
    """
    order = sorted(ranks, key=lambda bidder: ranks[bidder])
    if len(order) < 2:
        return dict.fromkeys(order, FIRST_MU)
    places = tuple(ranks[bidder] for bidder in order)
    found = dict(zip(order, _mus(places), strict=True))
    return {name: fmean(found[other] for other in order if ranks[other] == ranks[name]) for name in order}


@cache
def _mus(places: tuple[int, ...]) -> tuple[float, ...]:
    model = TrueSkill(FIRST_MU, SIGMA, draw_probability=DRAW_PROBABILITY)
    return tuple(one.mu for (one,) in model.rate([(model.create_rating(),) for _ in places], places))


def _rated(games: Sequence[Game], rng: Random) -> dict[str, Rating]:
    """Rate by the auctions in a random order; bidders are shuffled too, because their order matters in draws."""
    model = TrueSkill(FIRST_MU, SIGMA, draw_probability=DRAW_PROBABILITY)
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


ORDERS, FEWEST_ORDERS = 100, 10
COUNTED = 6000
"""Number of updates, over all orders and resamples of all cells, above which fewer are taken: each takes 1 ms."""
RESAMPLES_PER_ORDER = 2
MEANINGS = {
    TRUESKILL: "TrueSkill by ranks, carried from game to game, averaged over orders of the games; interval by"
    " resampling games",
    PER_GAME: "TrueSkill after a single game from 25, by its ranks, averaged over games; interval by t",
}
"""Meaning of the ratings and of their intervals."""


@dataclass(frozen=True, slots=True)
class SkillRating:
    """The TrueSkill rating of a bidder after all games, and the mean of its ratings after each game alone.

    `mu` and `sigma` are means over shuffled orders of the games. `mu_low` and `mu_high` are the 95 % interval of mu,
    by resampling random draws; each game is a draw of its own unless games share one. `per_game` is the mean of mu
    after each single game, with its 95 % interval by Student's t. If an interval is missing, the note beside it says
    why. In a series every auction is rated, and the series is the unit of resampling.
    """

    arm: str
    condition: str
    bidder: str
    games: int
    orders: int
    mu: float
    sigma: float
    mu_low: float | None
    mu_high: float | None
    mu_note: str
    per_game: float
    per_game_low: float | None
    per_game_high: float | None
    per_game_note: str
    draws: int


def ratings(results: Results, values: pd.DataFrame) -> Iterator[SkillRating]:
    """Rate the bidders of each cell by their ranks, over 100 shuffled orders of its games, or fewer if there are many.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
    if not results.experiment.trueskill:
        return
    ranks = values[(values["metric"] == ranking(results.experiment)) & ~values["bidder"].isin(("", EVERYONE))]
    cells = {cell: _draws(rows) for cell, rows in ranks.groupby(CELL)}
    designed = [(arm.name, condition.name) for arm, condition in results.experiment.cells]
    found = [(*cell, cells[cell]) for cell in designed if cell in cells]
    updates = (1 + RESAMPLES_PER_ORDER) * sum(
        len(game) for *_, draws in found for games in draws.values() for game in games
    )
    orders = max(FEWEST_ORDERS, min(ORDERS, COUNTED // max(1, updates)))
    for arm, condition, draws in found:
        wholes = [[ranks for game in games for ranks in game] for games in draws.values()]
        for bidder, skill in rate(wholes, orders, RESAMPLES_PER_ORDER * orders, results.experiment.seed).items():
            yield _rating((arm, condition), bidder, orders, skill, draws)


def _rating(
    cell: tuple[str, str], bidder: str, orders: int, skill: Skill, draws: Mapping[int, Sequence[Game]]
) -> SkillRating:
    played = [(draw, game) for draw, games in draws.items() for game in games]
    count = sum(bidder in ranks for _, game in played for ranks in game)
    alone = per_game(bidder, [game for _, game in played], [draw for draw, _ in played])
    return SkillRating(
        *cell,
        bidder,
        count,
        orders,
        mu=skill.mu,
        sigma=skill.sigma,
        mu_low=skill.low,
        mu_high=skill.high,
        mu_note=skill.note,
        per_game=MU if alone.mean is None else alone.mean,
        per_game_low=alone.low,
        per_game_high=alone.high,
        per_game_note=alone.note,
        draws=len(draws),
    )


def per_game(bidder: str, games: Sequence[Game], draws: Sequence[int] = ()) -> Mean:
    """Average a bidder's ratings after each game alone; the interval ends at those of a sole winner and a sole loser.

    Of three bidders it is 25 + 6.675 (firsts - lasts) / games. `draws` names the draw of each game, if some share one,
    as the unit of the interval. Source: Harbor, Table 3, whose ratings of 15 games are of this form.
    """
    played = [
        (draw, [after_one(ranks)[bidder] for ranks in game if bidder in ranks])
        for draw, game in zip(draws or range(len(games)), games, strict=True)
    ]
    found = [(draw, fmean(mus)) for draw, mus in played if mus]
    most = max((len(ranks) for game in games for ranks in game), default=1)
    ends = after_one({str(place): place for place in range(1, most + 1)}).values()
    return mean_of(per_draw([mu for _, mu in found], [draw for draw, _ in found]), "mean", (min(ends), max(ends)))


def _draws(rows: pd.DataFrame) -> dict[int, list[Game]]:
    """Return the games of each draw: the ranks by bidder of its one auction, or of each auction of a series."""
    return {
        int(str(draw)): [_game(game) for _, game in games.groupby("repeat")] for draw, games in rows.groupby("draw")
    }


def _game(rows: pd.DataFrame) -> Game:
    return [
        {bidder: int(rank) for bidder, rank in zip(auction["bidder"], auction["value"], strict=True)}
        for _, auction in rows.groupby("at", dropna=False)
    ]
