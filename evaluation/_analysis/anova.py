"""The analysis of variance of a crossed design: sums of squares by factor, and the shares of variance they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from harbor.evaluation._analysis.arrays import Floats

PAIRS, BLOCKS, REST = "pairs of factors", "repeat", "rest"
"""What explains variance beside the factors: all interactions of two, the blocks, and all else."""
FEWEST_BLOCKS = 5
"""With fewer blocks an interval is a guess."""


@dataclass(frozen=True, slots=True)
class Term:
    """A source of variance, with its degrees of freedom and its sum of squares for each column of values."""

    name: str
    freedom: int
    squares: Floats


def sums_of_squares(values: ArrayLike, factors: pd.DataFrame, blocks: ArrayLike) -> list[Term]:
    """Split the sum of squares of values by factor, all interactions of two, block, and the rest.

    A factor is adjusted for blocks and all other factors, interactions for all of these, blocks for all else (type II);
    where every combination occurs equally often, no adjustment changes anything, and the terms add up to the whole.

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
    """Give the share of variance of each term, terms by columns; what chance alone would give counts to the rest.

    A share is that of the games of the design. It may be a little below 0, where a term explains less than chance
    would. The rest is what shares above 0 leave: between 0 and 1, and cut at 0, all shares add up to 1. A column
    without variance in the rest has NaN.
    Source: Hays, Statistics, 1963; Olejnik and Algina 2003.
    """
    *explained, rest = terms
    with np.errstate(invalid="ignore", divide="ignore"):
        noise = rest.squares / rest.freedom if rest.freedom else np.full_like(rest.squares, np.nan)
        whole = sum((term.squares for term in terms), noise)
        shares = np.array([(term.squares - term.freedom * noise) / whole for term in explained])
        return np.vstack([shares, 1 - np.maximum(0, shares).sum(axis=0)])


def jackknife(whole: Floats, without: Floats) -> tuple[Floats, Floats]:
    """Give 95 % intervals of shares from those found without each block in turn, cut at 0 and 1.

    They are made for the roots of shares, which are about as large as effects and so spread more evenly: of samples
    with 5 to 10 blocks they hold the true share in 82 to 99 %.

    Args:
        whole: the shares.
        without: the same without each block, blocks first.

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
    """Code labels so that the columns of a factor add up to zero over its levels: one column for each but the last."""
    levels, places = np.unique(np.asarray(labels), return_inverse=True)
    codes = np.vstack([np.eye(len(levels) - 1), -np.ones(len(levels) - 1)])
    found: Floats = codes[places]
    return found


def _products(one: Floats, other: Floats) -> Floats:
    found: Floats = (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
    return found


def _fit(design: Floats, columns: Floats) -> tuple[int, Floats]:
    """Give the rank of a design, and what it leaves of the sum of squares of each column."""
    weights, _, rank, _ = np.linalg.lstsq(design, columns)
    return int(rank), np.square(columns - design @ weights).sum(axis=0)


def _difference(name: str, larger: tuple[int, Floats], smaller: tuple[int, Floats]) -> Term:
    return Term(name, larger[0] - smaller[0], np.maximum(0.0, smaller[1] - larger[1]))
