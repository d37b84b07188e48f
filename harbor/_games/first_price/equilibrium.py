"""The equilibrium of the first-price auction whose bidders draw private values from one distribution that all know.

Each bids b(v) = E[Y | Y < v] = v - (integral of F(x)^m dx from the lowest value to v) / F(v)^m, where Y is the highest
value of its m rivals, and F the distribution. It is computed for values and bids that are no multiples of a cent; the
rounding to cents costs a bidder less than the cent.
Source: Krishna, Auction Theory, prop. 2.2 (Vickrey 1961 for uniform values).
"""

from __future__ import annotations

from functools import lru_cache

from harbor._games.sessions.priors import Distribution

NEGLIGIBLE = 1e-18
"""The chance F(x)^m / F(v)^m below which the integral leaves values x out; a double tells 1e-16 from nothing."""


@lru_cache(maxsize=4096)  # the label of a run and its rational bidders ask for the same bids
def equilibrium_bid(value: float, rivals: int, prior: Distribution) -> float:
    """Return the bid of a bidder in equilibrium, in dollars; without a rival it is 0.

    Args:
        value: dollars, in the support of the distribution.
        rivals: how many others bid.
        prior: the distribution of everyone's value.
    """
    from scipy.integrate import quad  # takes half a second, and few games need it

    below = prior.cdf(value)
    if not rivals or not below:  # nobody bids, or nobody's value is lower
        return float(value) if rivals else 0.0
    start = prior.quantile(below * NEGLIGIBLE ** (1 / rivals))
    shade, _ = quad(lambda x: (prior.cdf(x) / below) ** rivals, start, value)
    return float(value - shade)  # not numpy's: what is computed once for it is given to all who ask for the same value


def highest_bid(rivals: int, prior: Distribution) -> float:
    """Return the bid of the highest value there is, in dollars: the mean of the highest value among the rivals."""
    return equilibrium_bid(prior.highest, rivals, prior)
