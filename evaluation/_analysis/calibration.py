"""How well profiles know how sure they may be, over many games: what no single game can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from scipy.optimize import minimize_scalar

from harbor.evaluation._metrics.profiling import Judged, divergence, overconfidence
from harbor.personas._catalog import traits

BINS = 10
TEMPERATURES = (0.05, 20.0)
"""Between which temperatures the best one is sought."""


def calibration_error(profiles: Sequence[Judged]) -> float:
    """Give the expected calibration error of the largest shares, from 0 to 1.

    Profiles are put into bins of equal width by their largest share. The error is the mean over bins, weighted by their
    profiles, of how far the mean largest share is from how much of it is true. It is biased upwards where bins hold few
    profiles. Source: Naeini, Cooper and Hauskrecht 2015.

    Raises:
        ValueError: there is no profile.
    """
    if not profiles:
        raise ValueError("there is no profile to calibrate; give profiles of rivals whose persona is known")
    gaps: dict[int, list[float]] = {}
    for one in profiles:
        largest = max(traits.shares(one.profile, one.truth).values())
        gaps.setdefault(min(BINS - 1, int(largest * BINS)), []).append(overconfidence(one.truth, one.profile))
    return sum(len(group) * abs(fmean(group)) for group in gaps.values()) / len(profiles)


class Tempered(NamedTuple):
    """The temperature at which profiles are nearest to the truth, and their mean divergence there in nats."""

    temperature: float
    divergence: float


def best_temperature(profiles: Sequence[Judged]) -> Tempered:
    """Find the temperature that makes profiles the most truthful on average.

    Shares are raised to the power of 1 over the temperature, and normalised: below 1 a profile becomes surer. The
    divergence that remains is what better calibration of all profiles alike could not mend. The temperature is chosen
    on the same profiles, so the remainder is a lower bound. Source: Guo et al. 2017 (temperature scaling).
    """

    def error(cold: float) -> float:
        return fmean(divergence(one.truth, tempered(one, 1 / cold)) for one in profiles)

    low, high = (1 / bound for bound in reversed(TEMPERATURES))
    found = minimize_scalar(error, bounds=(low, high), method="bounded")
    return Tempered(1 / float(found.x), float(found.fun))


def tempered(one: Judged, temperature: float) -> Mapping[str, float]:
    """Give a profile whose shares are those of another at a temperature."""
    shares = traits.shares(one.profile, one.truth)
    largest = max(shares.values())
    raised = {persona: (share / largest) ** (1 / temperature) for persona, share in shares.items()}
    total = sum(raised.values())
    return traits.profile({persona: share / total for persona, share in raised.items()})
