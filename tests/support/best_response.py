"""Best responses: in the beauty contest by a formula, in the first-price auction by search over all bids in cents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from harbor._core.asking.amounts import NUMBER_STEP
from harbor._games.first_price.rules import equilibrium_bid
from harbor._games.sessions.settings import Distribution

CENT = 0.01


def gain_share(
    players: int,
    prior: Distribution,
    bid_of: Callable[[float, int, Distribution], float] = equilibrium_bid,
    values: int = 200,
    points: int = 2000,
) -> float:
    """Return the gain of the best bids over everyone's bids, as a share of the mean profit from everyone's bids.

    Bids are whole cents, and the searching bidder wins ties.

    Args:
        players: number of bidders.
        prior: the distribution of values.
        bid_of: the bid by value, number of rivals and distribution. It rises with the value.
        values: number of equally likely values of the searching bidder.
        points: number of values at which the rivals' bids are computed. Bids between them are interpolated.
    """
    rivals = players - 1
    types = np.linspace(prior.lowest, prior.highest, points)
    bids = np.array([bid_of(one, rivals, prior) for one in types])
    below = np.array([prior.cdf(one) for one in types])

    def profit(value: float, bid: np.ndarray) -> np.ndarray:
        return (value - bid) * np.interp(bid + CENT / 2, bids, below) ** rivals

    every = np.arange(0, bids[-1] + CENT, CENT)
    own = [prior.quantile((place + 0.5) / values) for place in range(values)]
    reached = [profit(value, np.round(bid_of(value, rivals, prior), 2)) for value in own]
    best = [profit(value, every).max() for value in own]
    return float(sum(best) / sum(reached) - 1)


def best_response(others: Sequence[Decimal], fraction: Fraction) -> Decimal:
    """Return the number that hits the target if the others pick these: x = p (S + x) / n, so x = p S / (n - p)."""
    best = fraction * sum(map(Fraction, others), Fraction(0)) / (len(others) + 1 - fraction)
    return (Decimal(best.numerator) / Decimal(best.denominator)).quantize(NUMBER_STEP)
