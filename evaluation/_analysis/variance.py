"""Splits the variance of games by factor; the spread of games with the same random draws is the noise of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from harbor.evaluation._analysis.comparisons import by_repeat
from harbor.evaluation._analysis.frames import CELL
from harbor.evaluation._analysis.means import Mean, mean_of
from harbor.evaluation._analysis.pivots import Floats, constant
from harbor.evaluation._experiments.design import EVERYONE, Experiment, Side, measured
from harbor.evaluation._experiments.draws import draws_of
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._experiments.variations import CONDITION, combined, name_of

PAIRS, BLOCKS, REST = "pairs of factors", "repeat", "rest"
"""Sources of variance beside the factors: all interactions of two, the blocks, and the rest."""
FEWEST_BLOCKS = 5
"""Fewest blocks for an interval; with fewer it is a guess."""


@dataclass(frozen=True, slots=True)
class Term:
    """A source of variance, with its degrees of freedom and its sum of squares for each column of values."""

    name: str
    freedom: int
    squares: Floats


def sums_of_squares(values: ArrayLike, factors: pd.DataFrame, blocks: ArrayLike) -> list[Term]:
    """Split the sum of squares of values by factor, all interactions of two, block, and the rest.

    A factor is adjusted for blocks and all other factors, interactions for all of these, blocks for all else (type II).
    If every combination occurs equally often, no adjustment changes anything, and the terms add up to the whole.

    Args:
        values: games by columns; each column is analysed by itself.
        factors: the level of each game (rows), by factor (columns).
        blocks: the block of each game.
    """
    columns = np.asarray(values, dtype=float)
    coded = {str(name): _coded(levels) for name, levels in factors.items()}
    crossed = [_products(coded[one], coded[other]) for one, other in combinations(coded, 2)]
    mean, block = np.ones((len(columns), 1)), _coded(blocks)

    def fitted(*parts: Floats) -> tuple[int, Floats]:
        return _fit(np.hstack([mean, *parts]), columns)

    main, whole = fitted(block, *coded.values()), fitted(block, *coded.values(), *crossed)
    reduced = {one: fitted(block, *(codes for other, codes in coded.items() if other != one)) for one in coded}
    terms = [_difference(name, main, fit) for name, fit in reduced.items()]
    terms += [_difference(PAIRS, whole, main), _difference(BLOCKS, whole, fitted(*coded.values(), *crossed))]
    return [*terms, Term(REST, len(columns) - whole[0], whole[1])]


def omega_squared(terms: Sequence[Term]) -> Floats:
    """Return the share of variance of each term, terms by columns; the part expected by chance counts to the rest.

    A share describes the games of the design. It may be a little below 0, if a term explains less than chance would.
    The rest is 1 minus the shares above 0. It is between 0 and 1, and cut at 0 all shares add up to 1. A column without
    variance in the rest has NaN.
    Source: Hays, Statistics, 1963; Olejnik and Algina 2003.
    """
    *explained, rest = terms
    with np.errstate(invalid="ignore", divide="ignore"):
        noise = rest.squares / rest.freedom if rest.freedom else np.full_like(rest.squares, np.nan)
        whole = sum((term.squares for term in terms), noise)
        shares = np.array([(term.squares - term.freedom * noise) / whole for term in explained])
        return np.vstack([shares, 1 - np.maximum(0, shares).sum(axis=0)])


def jackknife(whole: Floats, without: Floats) -> tuple[Floats, Floats]:
    """Return 95 % intervals of shares from those without each block in turn, cut at 0 and 1.

    They are computed for the roots of shares, which are about as large as effects and so spread more evenly. In samples
    with 5 to 10 blocks they hold the true share in 82 to 99 %.

    Args:
        whole: the shares.
        without: the shares without each block, blocks first.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 11.
    """
    blocks, root = len(without), _root(whole)
    reach = stats.t.ppf(0.975, blocks - 1) * np.sqrt((blocks - 1) * _root(without).var(axis=0))
    return _square(root - reach), _square(root + reach)


def _root(shares: Floats) -> Floats:
    return np.sign(shares) * np.sqrt(np.abs(shares))


def _square(roots: Floats) -> Floats:
    found: Floats = np.clip(np.sign(roots) * np.square(roots), 0, 1)
    return found


def _coded(labels: ArrayLike) -> Floats:
    """Code labels with columns that add up to zero over the levels of a factor: one column per level but the last."""
    levels, places = np.unique(np.asarray(labels), return_inverse=True)
    codes = np.vstack([np.eye(len(levels) - 1), -np.ones(len(levels) - 1)])
    found: Floats = codes[places]
    return found


def _products(one: Floats, other: Floats) -> Floats:
    found: Floats = (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
    return found


def _fit(design: Floats, columns: Floats) -> tuple[int, Floats]:
    """Return the rank of a design, and the residual sum of squares of each column."""
    weights, _, rank, _ = np.linalg.lstsq(design, columns)
    return int(rank), np.square(columns - design @ weights).sum(axis=0)


def _difference(name: str, larger: tuple[int, Floats], smaller: tuple[int, Floats]) -> Term:
    return Term(name, larger[0] - smaller[0], np.maximum(0.0, smaller[1] - larger[1]))


SAYS = (
    "The share of the variance over games that each source explains: omega squared, cut at 0, with 95 % intervals by"
    " leaving out each draw in turn. Repeat: what is drawn anew in each. Rest: what is left to 1, such as"
    " interactions of three or more, or with repeats, and the model's own noise."
)
"""Explanation that stands beside all shares of variance."""
TOO_FEW = f"fewer than {FEWEST_BLOCKS} repeats to resample"
GAME = [*CELL, "repeat"]


@dataclass(frozen=True, slots=True)
class VarianceShare:
    """The share of the variance of a metric over games that one source explains: omega squared, or 0 if negative.

    `source` is a factor; "condition", if there are several conditions; "pairs of factors" (all interactions of two
    factors); "repeat" (the random draws of each repeat); or "rest" (higher interactions, interactions with repeats, and
    the model's own noise). The shares of a metric and bidder add up to 1. Values that can't be split have a single
    record without a source and a share. No value can be split if a planned combination of factors has no games.
    `freedom` is the degrees of freedom of the source, and `means` the mean of each level of a factor. The 95 % interval
    is computed by leaving out one draw at a time (None: `note` says why there is none). `games` is the number of games
    with a value.
    """

    metric: str
    bidder: str
    source: str
    freedom: int
    share: float | None
    low: float | None
    high: float | None
    games: int
    means: tuple[tuple[str, float], ...] = ()
    note: str = ""


def variance_shares(results: Results, values: pd.DataFrame) -> Iterator[VarianceShare]:
    """Split the variance of each metric, of each bidder and of everyone; nothing for an experiment without factors.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
    if not results.experiment.factors:
        return
    metrics = measured(results.experiment)
    games = by_game(values[values["metric"].isin(metrics)])
    found: list[VarianceShare] = []
    for quantities in _equally_known(games):
        known = games[quantities].dropna()
        if why := _incomplete(results.experiment, known.index):
            found += (_unsplit(*quantity, len(known), why) for quantity in quantities)
        else:
            found += _split(results.experiment, known)
    yield from sorted(found, key=lambda one: (metrics.index(one.metric), one.bidder != EVERYONE, one.bidder))


def shares_say(found: Sequence[VarianceShare]) -> str:
    """Return the explanation of shares of variance, or the reason why there are none."""
    if any(one.source for one in found):
        return SAYS
    return f"No share of variance is known: {'; '.join(dict.fromkeys(one.note for one in found))}." if found else ""


def by_game(values: pd.DataFrame) -> pd.DataFrame:
    """Return rows of games with columns of quantities: the value of the game, or the mean over `at` and `about`."""
    whole = values["at"].isna() & (values["about"] == "")
    has_whole = whole.groupby([values["metric"], values["bidder"]]).transform("any")
    kept = values[whole | ~has_whole]
    return kept.groupby([*GAME, "metric", "bidder"], sort=True)["value"].mean().unstack(["metric", "bidder"])


def _equally_known(games: pd.DataFrame) -> list[list[tuple[str, str]]]:
    """Group quantities that have values in the same games, so that they can be analysed at once."""
    groups: dict[bytes, list[tuple[str, str]]] = {}
    for metric, bidder in _quantities(games):
        groups.setdefault(games[metric, bidder].notna().to_numpy().tobytes(), []).append((metric, bidder))
    return list(groups.values())


def _quantities(games: pd.DataFrame) -> list[tuple[str, str]]:
    metrics, bidders = (games.columns.get_level_values(name) for name in ("metric", "bidder"))
    return list(zip(map(str, metrics), map(str, bidders), strict=True))


def _incomplete(experiment: Experiment, games: pd.Index[Any]) -> str:
    """Say that arms of the planned crossing have no game, so effects of factors can't be separated; empty if not."""
    planned = sum(1 for _ in combined(experiment.factors, experiment.crossing))
    cells = set(zip(games.get_level_values("arm"), games.get_level_values("condition"), strict=True))
    if len(cells) == planned * len({condition for _, condition in cells}):
        return ""
    arms = len({arm for arm, _ in cells})
    under = "" if arms < planned else ", but not under every condition"
    return f"{arms} of the {planned} planned arms have values{under}: without all, factors can't be told apart"


def _unsplit(metric: str, bidder: str, games: int, why: str) -> VarianceShare:
    return VarianceShare(metric, bidder, "", 0, None, None, None, games, note=why)


def _levels(experiment: Experiment, games: pd.Index[Any]) -> pd.DataFrame:
    """Return the level of each game, by factor, without factors that have a single level in these games."""
    arms = combined(experiment.factors, experiment.crossing)
    of_arm = {name_of(levels): [level.name for level in levels] for levels in arms}
    order = {one.name: [level.name for level in one.levels] for one in experiment.factors}
    order[CONDITION] = [one.name for one in experiment.conditions]
    found = pd.DataFrame([(*of_arm[arm], condition) for arm, condition, _ in games], columns=list(order))
    found = found.astype({name: pd.CategoricalDtype(levels) for name, levels in order.items()})
    return found.loc[:, found.nunique() > 1]


def _split(experiment: Experiment, known: pd.DataFrame) -> Iterator[VarianceShare]:
    repeats, table = known.index.get_level_values("repeat").to_numpy(), known.to_numpy()
    levels, draws = _levels(experiment, known.index), np.array(draws_of(experiment, repeats.tolist()))
    terms = sums_of_squares(table, levels, repeats)
    shares = omega_squared(terms)
    lows, highs = _intervals(table, levels, repeats, draws, shares)
    few = TOO_FEW if len(set(draws)) < FEWEST_BLOCKS else ""
    for column, (metric, bidder) in enumerate(_quantities(known)):
        if why := _why_no_share(table[:, column], terms[-1]):
            yield _unsplit(metric, bidder, len(known), why)
            continue
        for place, term in enumerate(terms):
            low, high = (None if few else float(bounds[place, column]) for bounds in (lows, highs))
            means = _means(table[:, column], levels[term.name]) if term.name in levels else ()
            share = max(0.0, float(shares[place, column]))
            yield VarianceShare(metric, bidder, term.name, term.freedom, share, low, high, len(known), means, few)


def _why_no_share(values: Floats, rest: Term) -> str:
    if constant(values):
        return f"all {len(values)} values are equal"
    return "" if rest.freedom else "too few games for all factors and their interactions"


def _intervals(
    table: Floats, levels: pd.DataFrame, repeats: NDArray[np.int64], draws: NDArray[np.int64], shares: Floats
) -> tuple[Floats, Floats]:
    """Return the intervals of all shares, by leaving out each draw in turn."""
    if len(found := np.unique(draws)) < FEWEST_BLOCKS:
        return shares, shares
    without = [
        omega_squared(sums_of_squares(table[kept], levels[kept], repeats[kept]))
        for kept in (draws != draw for draw in found)
    ]
    return jackknife(shares, np.array(without))


def _means(values: Floats, levels: pd.Series[str]) -> tuple[tuple[str, float], ...]:
    """Return the mean over the games of each level."""
    means = pd.Series(values, levels.index).groupby(levels, observed=True).mean()
    return tuple((str(level), float(mean)) for level, mean in means.items())


CONFIDENCE = 0.95
"""Confidence of the interval of a standard deviation."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of a metric over games that share their random draws, with its 95 % interval.

    The games are those of an arm under a condition. The interval is by chi-square, which assumes that values are normal
    (None: `note` says why there is none). `bidder` is a name, or "everyone" for the mean over the bidders of each game
    or the value of the game.
    """

    metric: str
    arm: str
    condition: str
    bidder: str
    games: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    note: str = ""


def spreads(results: Results, values: pd.DataFrame) -> Iterator[Spread]:
    """Yield the spread of every metric in every cell; nothing if the repeats of the experiment have different draws.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
    if not results.experiment.same_seed:
        return
    for metric in measured(results.experiment):
        own = values[values["metric"] == metric]
        bidders = [EVERYONE, *sorted(set(own["bidder"]) - {EVERYONE, ""})]
        for arm, condition in results.experiment.cells:
            for bidder in bidders:
                side = Side(arm=arm.name, condition=condition.name, bidder=bidder)
                found = mean_of(by_repeat(own, metric, side).to_numpy())
                if found.n or bidder == EVERYONE:
                    low, high = _interval(found)
                    yield Spread(
                        metric, arm.name, condition.name, bidder, found.n, found.mean, found.sd, low, high, found.note
                    )


def _interval(found: Mean) -> tuple[float | None, float | None]:
    if not found.sd:
        return None, None
    free, tail = found.n - 1, (1 - CONFIDENCE) / 2
    low, high = (float(found.sd * np.sqrt(free / stats.chi2.ppf(q, free))) for q in (1 - tail, tail))
    return low, high
