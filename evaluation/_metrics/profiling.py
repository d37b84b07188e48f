"""Metrics of bidders' beliefs about the sale, of their profiles of rivals, and of how reliable predictions are.

A belief has these fields: the bidder's own budget, everyone's profit, and every item won with its price. The first
answer is compared with the truth, before any correction. If the model corrects its belief itself, every later answer is
compared as well, as in the paper's code. Source: Chen et al. 2023, sec. 3.2 and 4.1.
A profile is compared with the persona of the rival. Source: Harbor sec. 3.4 and 4.3; Brier 1950.
Predictions are reliable if, of the events predicted with a share of 0.7, a share of 0.7 comes true. Predictions are
put in bins whose centres are 0, 0.1 and so on to 1, so the first and the last bin are half as wide as the others.
Source: Murphy 1973 (reliability).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean
from typing import NamedTuple

from harbor._core.log.events import BidderLabelled, CatalogShown, LotClosed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Believed, Predicted, Profiled
from harbor.evaluation._metrics.behaviour import bids
from harbor.evaluation._metrics.measurement import Measurement, metric, shares_by_bidder
from harbor.evaluation._metrics.results import positions
from harbor.personas._catalog import traits

_NO_BELIEFS = "no bidder has written down beliefs"


@metric("corrected failure rate of beliefs about oneself", "share", "skewed", no_data=_NO_BELIEFS, better="lower")
def belief_error_rate_self(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the corrected failure rate of each bidder's beliefs about itself, a share: F / (C + F).

    F counts the wrong fields of all updates of the belief. C counts the fields that are right in the end. These are all
    fields, because the auctioneer corrects each wrong one. C is the same if the settings leave beliefs uncorrected, so
    that rates can be compared. If every field is wrong once, the rate is 1/2.

    Source: Chen et al. 2023, sec. 4.1, Fig. 2.
    """
    updates = of_type(entries, Believed)
    return _rates(name, [(one.bidder, one.errors_self + one.errors_self_again, one.fields_self) for one in updates])


@metric("corrected failure rate of beliefs about others", "share", "skewed", no_data=_NO_BELIEFS, better="lower")
def belief_error_rate_others(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the corrected failure rate of each bidder's beliefs about others, a share: F / (C + F).

    F and C are as in `belief_error_rate_self`, but count the fields about other bidders.

    Source: Chen et al. 2023, sec. 4.1, Fig. 2.
    """
    updates = of_type(entries, Believed)
    return _rates(
        name, [(one.bidder, one.errors_others + one.errors_others_again, one.fields_others) for one in updates]
    )


def _rates(name: str, updates: Sequence[tuple[str, int, int]]) -> list[Measurement]:
    wrong, answers = Counter[str](), Counter[str]()
    for bidder, errors, compared in updates:
        wrong[bidder] += errors
        answers[bidder] += compared + errors
    return shares_by_bidder(name, wrong, answers, "there was nothing to believe about others")


NO_PROFILES = "nobody has profiled a rival whose persona is known"

EPSILON = 1e-6
"""The amount that is added to every share of the truth and of the profile, so that the divergence is finite.

With it, a uniform guess over ten personas has a divergence of 2.30 nats from one persona, and of 1.61 from two.
"""


class Judged(NamedTuple):
    """A bidder's profile of a rival after an item, with the truth: the rival's real share of each persona.

    `profile` has a weight from -1 to 1 for each persona, and `truth` a share from 0 to 1.

    >>> Judged("Ann", "Ben", "Vase", {"rural": 1.0, "urban": 0.0}, {"rural": 0.6, "urban": -0.6}).truth["rural"]
    1.0
    """

    bidder: str
    rival: str
    item: str
    truth: dict[str, float]
    profile: traits.Profile


@dataclass(frozen=True, slots=True)
class ProfilingError:
    """The divergence of a profile from the truth, in nats; a bidder made the profile of a rival after an item."""

    bidder: str
    rival: str
    item: str
    divergence: float


def divergence(truth: Mapping[str, float], profile: traits.Profile, epsilon: float = EPSILON) -> float:
    """Return the Kullback-Leibler divergence KL(truth || profile) in nats.

    Args:
        truth: the rival's share of each persona in the catalogue; the shares add up to one.
        profile: weights of personas from -1 to 1; they are turned into shares: shifted by one and normalised.
        epsilon: a number above zero that is added to every share of the truth and of the profile, before the shares
            are normalised again.

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


def hit(truth: Mapping[str, float], profile: traits.Profile) -> float:
    """Return 1 if the largest share in a profile belongs to a persona that the rival has, else 0; a tie counts as 0."""
    first, *more = _foremost(traits.shares(profile, truth))
    return float(not more and truth[first] > 0)


def brier(truth: Mapping[str, float], profile: traits.Profile) -> float:
    """Return the sum over personas of (share - truth)^2, from 0 to 2.

    A uniform guess over ten personas has 0.9 if the rival has one persona.
    """
    inferred = traits.shares(profile, truth)
    return sum((inferred[persona] - share) ** 2 for persona, share in truth.items())


def overconfidence(truth: Mapping[str, float], profile: traits.Profile) -> float:
    """Return the largest share in a profile minus the true share of that persona, from -1 to 1.

    If several personas have the largest share, the result is the mean over them.
    """
    inferred = traits.shares(profile, truth)
    return fmean(inferred[persona] - truth[persona] for persona in _foremost(inferred))


def _foremost(shares: Mapping[str, float]) -> list[str]:
    most = max(shares.values())
    return [persona for persona, share in shares.items() if math.isclose(share, most, abs_tol=1e-9)]


def truths(entries: Sequence[Entry]) -> dict[str, dict[str, float]]:
    """Map each bidder to its real share of each persona in the catalogue.

    Bidders without a persona, or with a persona that is not in the catalogue, are left out.
    """
    catalog = next((shown.personas for shown in of_type(entries, CatalogShown)), {})
    return {
        label.bidder: traits.truth(label.personas, catalog)
        for label in of_type(entries, BidderLabelled)
        if label.personas and all(persona in catalog for persona in label.personas)
    }


def judged(entries: Sequence[Entry]) -> list[Judged]:
    """Pair each profile that a bidder made of a rival with the truth, which is the rival's real share of each persona.

    The pairs are in the order of the log. A profile is left out if the rival has no persona, or one that is not in the
    catalogue.

    >>> events = [CatalogShown("Ann", {"rural": "farms"}), BidderLabelled("Ben", {"rural": 1.0}, "model")]
    >>> events.append(Profiled("Ann", "Ben", "Vase", {"rural": 0.5}, repaired=0))
    >>> judged([Entry(seq, 0.0, event) for seq, event in enumerate(events)])[0].truth
    {'rural': 1.0}
    """
    known = truths(entries)
    return [
        Judged(profiled.bidder, profiled.rival, profiled.closed, known[profiled.rival], profiled.weights)
        for profiled in of_type(entries, Profiled)
        if profiled.rival in known
    ]


def last(profiles: Sequence[Judged]) -> list[Judged]:
    """Return the last profile that each bidder made of each rival."""
    return list({(one.bidder, one.rival): one for one in profiles}.values())


def profiling_errors(entries: Sequence[Entry], epsilon: float = EPSILON) -> list[ProfilingError]:
    """Return how far each profile of a rival diverges from the truth, in the order of the log.

    A profile is a bidder's guess at the share of each persona in a rival; the truth is the rival's real shares. The
    divergence is KL(truth || profile) in nats. `epsilon` is added to every share, so that the divergence is finite. A
    profile is left out if the rival has no persona, or one that is not in the catalogue.

    >>> events = [CatalogShown("Ann", {"rural": "", "urban": ""}), BidderLabelled("Ben", {"rural": 1.0}, "model")]
    >>> events.append(Profiled("Ann", "Ben", "Vase", {}, repaired=0))
    >>> round(profiling_errors([Entry(seq, 0.0, event) for seq, event in enumerate(events)])[0].divergence, 2)
    0.69
    """
    return [
        ProfilingError(one.bidder, one.rival, one.item, divergence(one.truth, one.profile, epsilon))
        for one in judged(entries)
    ]


Score = Callable[[Mapping[str, float], traits.Profile], float]


def scored(name: str, profiles: Sequence[Judged], score: Score) -> list[Measurement]:
    """Return the score of each profile as a measurement of a bidder about a rival."""
    return [Measurement(name, score(one.truth, one.profile), one.bidder, one.rival) for one in profiles]


@metric("divergence of a profile from the truth", "nats", "skewed", of=LotClosed, no_data=NO_PROFILES, better="lower")
def profiling_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the divergence KL(truth || profile) in nats of each profile that a bidder made of a rival.

    `about` is the rival, and `at` the position of the item after which the profile was made. `EPSILON` is added to the
    shares of the truth and of the profile. Profiles of rivals without a persona are left out.

    Source: Harbor sec. 3.4, Fig. 5.
    """
    places = positions(entries)
    return [
        Measurement(name, one.divergence, one.bidder, one.rival, places.get(one.item))
        for one in profiling_errors(entries)
    ]


@metric(
    "divergence of the last profile from the truth", "nats", "skewed", of=LotClosed, no_data=NO_PROFILES, better="lower"
)
def final_profiling_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the divergence KL(truth || profile) in nats of the last profile that a bidder made of each rival.

    `about` is the rival. Profiles of rivals without a persona are left out.

    Source: Harbor sec. 4.3, Fig. 5 (measured at the end of the auction).
    """
    return scored(name, last(judged(entries)), divergence)


@metric("divergence of a uniform guess from the truth", "nats", "skewed", of=LotClosed, no_data=NO_PROFILES)
def uniform_profiling_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the divergence KL(truth || uniform) in nats for each rival of which a bidder made a profile.

    This is the error of a bidder that knows nothing and gives every persona the same share. `about` is the rival. If
    the rival has k of the n personas in the catalogue, in equal parts, the divergence is ln(n / k), apart from the
    small effect of `EPSILON`.

    Source: Harbor sec. 4.3, Fig. 5.
    """
    knows_nothing: traits.Profile = {}
    return [
        Measurement(name, divergence(one.truth, knows_nothing), one.bidder, one.rival) for one in last(judged(entries))
    ]


@metric(
    "last profiles that name the right persona", "share", "binary", of=LotClosed, no_data=NO_PROFILES, better="higher"
)
def final_profile_top1(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure whether the largest share in a bidder's last profile of a rival belongs to a persona of the rival.

    The value is 1 if it does, else 0; a tie of the largest shares counts as 0. `about` is the rival. Unlike the
    divergence, this value does not depend on how confident the profile is.

    Source: Harbor's own.
    """
    return scored(name, last(judged(entries)), hit)


@metric("Brier score of the last profile", "brier", "skewed", of=LotClosed, no_data=NO_PROFILES, better="lower")
def final_profile_brier(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the Brier score of a bidder's last profile of each rival: the sum over personas of (share - truth)^2.

    `about` is the rival. The score is from 0 to 2: if the rival has one persona, a uniform guess over ten personas has
    0.9, and a profile that is certain of a wrong persona has 2.

    Source: Brier 1950.
    """
    return scored(name, last(judged(entries)), brier)


@metric("how much surer the last profile is than right", "ratio", "mean", of=LotClosed, no_data=NO_PROFILES)
def final_profile_overconfidence(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the overconfidence of a bidder's last profile of each rival: its largest share minus the true share.

    `about` is the rival. The true share is the rival's real share of the persona with the largest share in the profile:
    1 or 0, or a part if the rival mixes two personas. So the value is from -1 to 1. The value of a single profile says
    little. The mean over games is 0 if profiles are as confident as they are correct, and negative if less confident.

    Source: Murphy 1973 (reliability), taken over all profiles.
    """
    return scored(name, last(judged(entries)), overconfidence)


def _smooth(shares: Mapping[str, float], epsilon: float) -> dict[str, float]:
    total = sum(shares.values()) + epsilon * len(shares)
    return {persona: (share + epsilon) / total for persona, share in shares.items()}


NO_INTEREST = "nobody has predicted how interested rivals are in an item"


def bin_of(share: float) -> int:
    """Return the bin of a share, from 1 to 11: the bin of the nearest tenth, or of the greater of two nearest tenths.

    >>> bin_of(0.04), bin_of(0.05), bin_of(1)
    (1, 2, 11)
    """
    return floor(share * 10 + 0.5) + 1


def binned(name: str, pairs: Iterable[tuple[str, float, float]]) -> list[Measurement]:
    """Measure the mean predicted and the mean observed value in each bin of each bidder.

    A pair is a bidder, a predicted and an observed value. The predicted value decides the bin, whose number is `at`.
    """
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for bidder, predicted, observed in pairs:
        found.setdefault((bidder, bin_of(predicted)), []).append((predicted, observed))
    return [
        Measurement(name, fmean(values), bidder, about, at, counted=len(own))
        for (bidder, at), own in sorted(found.items())
        for about, values in zip(("predicted", "observed"), zip(*own, strict=True), strict=True)
    ]


@metric("predicted interest beside bids", "share", no_data=NO_INTEREST, place="bin")
def interest_reliability(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure how often rivals bid on an item, by bins of the interest that a bidder predicted for them.

    For each bidder and each bin of predicted interest there are two values. With `about` "predicted", the value is the
    mean predicted interest; with "observed", it is the share of these predictions whose rival bid on the item. Only the
    last prediction of a bidder for a rival and an item counts, and only items whose bidding is over. `at` is the number
    of the bin, from 1 to 11: the bin of the nearest tenth.

    Source: Murphy 1973.
    """
    over = {end.item for end in of_type(entries, LotClosed)}
    bid_on = {(bid.bidder, bid.item) for bid in bids(entries)}
    told = ((event, one) for event in of_type(entries, Predicted) for one in event.predictions if event.item in over)
    said = {(event.bidder, one.rival, event.item): one.interest for event, one in told}
    return binned(name, ((bidder, share, (rival, item) in bid_on) for (bidder, rival, item), share in said.items()))


@metric("shares of last profiles beside personas", "share", of=LotClosed, no_data=NO_PROFILES, place="bin")
def profile_reliability(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure, in bins of the shares in a bidder's last profiles of rivals, the real shares of the same personas.

    For each bidder and each bin of shares there are two values. With `about` "predicted", the value is the mean share
    in the profiles; with "observed", it is the mean real share of these personas. The real share is 1 or 0, or a part
    if the rival mixes two personas. `at` is the number of the bin, from 1 to 11: the bin of the tenth nearest to the
    share in the profile.

    Source: Murphy 1973.
    """
    shares = ((one, traits.shares(one.profile, one.truth).items()) for one in last(judged(entries)))
    return binned(name, ((one.bidder, share, one.truth[persona]) for one, given in shares for persona, share in given))
