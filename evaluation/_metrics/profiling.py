"""How well bidders profile their rivals, and how much of each persona they see.

Source: Harbor sec. 3.4 and 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harbor._core.events import BidderLabelled, CatalogShown
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.thoughts import Profiled
from harbor.evaluation._metrics.measurement import Measurement, metric
from harbor.evaluation._metrics.results import positions
from harbor.personas._catalog import traits

_NO_PROFILES = "nobody has profiled a rival whose persona is known"

EPSILON = 1e-6
"""Added to all shares of both distributions; a uniform guess over ten then gives 2.30 nats, for a mix of two 1.61."""


@dataclass(frozen=True, slots=True)
class ProfilingError:
    """How far a profile is from the truth after an item, in nats (0: the truth)."""

    bidder: str
    rival: str
    item: str
    divergence: float


def divergence(truth: Mapping[str, float], profile: traits.Profile, epsilon: float = EPSILON) -> float:
    """Give KL(truth || profile) in nats.

    Args:
        truth: shares of personas, adding up to one; its keys are the catalog.
        profile: weights from -1 to 1; shifted by one and normalised.
        epsilon: above zero; added to every share of both before they are normalised again.

    Raises:
        ValueError: the shares of the truth do not add up to one, or epsilon is not above zero.
    """
    if not math.isclose(sum(truth.values()), 1, abs_tol=1e-6):
        raise ValueError(f"the shares of the truth add up to {sum(truth.values()):g}; give shares that add up to 1")
    if not epsilon > 0:
        raise ValueError(f"epsilon {epsilon!r} is not above zero; give a small positive number")
    inferred = traits.shares(profile, truth)
    real, guess = _smooth(truth, epsilon), _smooth(inferred, epsilon)
    return sum(share * math.log(share / guess[persona]) for persona, share in real.items() if share > 0)


def profiling_errors(entries: Sequence[Entry], epsilon: float = EPSILON) -> list[ProfilingError]:
    """Compare every profile in a log with the truth, in order.

    Rivals without a persona, or with one that is not in the catalog, have no truth to compare with.
    """
    catalogs = of_type(entries, CatalogShown)
    if not catalogs:
        return []
    truths = {
        label.bidder: traits.truth(label.personas, catalogs[0].personas)
        for label in of_type(entries, BidderLabelled)
        if label.personas and all(persona in catalogs[0].personas for persona in label.personas)
    }
    return [
        ProfilingError(
            profiled.bidder,
            profiled.rival,
            profiled.closed,
            divergence(truths[profiled.rival], profiled.weights, epsilon),
        )
        for profiled in of_type(entries, Profiled)
        if profiled.rival in truths
    ]


@metric("divergence of a profile from the truth", "nats", "skewed", no_data=_NO_PROFILES)
def profiling_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """KL(truth || profile) in nats of each profile that a bidder made of a rival (`about`) after the item at `at`.

    Both are smoothed by `EPSILON`. Rivals without a persona have no truth. Source: Harbor sec. 3.4, Fig. 5.
    """
    places = positions(entries)
    return [
        Measurement(name, one.divergence, one.bidder, one.rival, places.get(one.item))
        for one in profiling_errors(entries)
    ]


@metric("divergence of the last profile from the truth", "nats", "skewed", no_data=_NO_PROFILES)
def final_profiling_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """KL(truth || profile) in nats of the last profile that a bidder made of each rival (`about`).

    Source: Harbor sec. 4.3, Fig. 5 (measured at the end of the auction).
    """
    last = {(one.bidder, one.rival): one.divergence for one in profiling_errors(entries)}
    return [Measurement(name, error, bidder, rival) for (bidder, rival), error in last.items()]


def _smooth(shares: Mapping[str, float], epsilon: float) -> dict[str, float]:
    total = sum(shares.values()) + epsilon * len(shares)
    return {persona: (share + epsilon) / total for persona, share in shares.items()}
