"""Profile vectors write a bidder's personas as numbers, and tastes say how well a listing suits them.

A listing is judged by the words that it shares with a text of tastes; no label is known.
Source: Harbor sec. 3.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

Profile = Mapping[str, float]
"""A weight per persona of a catalog, from -1 (certainly not) through 0 (unknown) to 1 (certainly)."""


def truth(mix: Mapping[str, float], catalog: Iterable[str]) -> dict[str, float]:
    """Return a bidder's share of each persona; all zeros for a bidder without a persona."""
    return {persona: mix.get(persona, 0.0) for persona in catalog}


def shares(profile: Profile, catalog: Iterable[str]) -> dict[str, float]:
    """Return a profile as a distribution: add one to each weight and normalise; if all are -1, it is uniform."""
    shifted = {persona: profile.get(persona, 0.0) + 1 for persona in catalog}
    total = sum(shifted.values())
    return {persona: weight / total if total else 1 / len(shifted) for persona, weight in shifted.items()}


def profile(distribution: Mapping[str, float]) -> dict[str, float]:
    """Return a distribution as a profile that `shares` reads back.

    The mean weight is zero, unless a weight would then be above one; in that case the largest weight is one.
    """
    scale = min(len(distribution), 2 / max(distribution.values()))
    return {persona: scale * share - 1 for persona, share in distribution.items()}


def in_percent(profile: Profile, catalog: Iterable[str]) -> dict[str, float]:
    """Return the shares of a profile in percent, rounded to a tenth; shares that round to zero are left out.

    >>> in_percent({"rural": 1, "urban": -1, "eco": -0.5}, ("rural", "urban", "eco"))
    {'rural': 80.0, 'eco': 20.0}
    """
    told = {persona: round(100 * share, 1) for persona, share in shares(profile, catalog).items()}
    return {persona: share for persona, share in told.items() if share}


def from_percent(percent: Mapping[str, float], catalog: Iterable[str]) -> dict[str, float]:
    """Return the profile with these shares in percent, normalised to 100; without any share all weights are 0."""
    known = {persona: max(0.0, percent.get(persona, 0.0)) for persona in catalog}
    total = sum(known.values())
    return profile({one: share / total for one, share in known.items()}) if total else dict.fromkeys(known, 0.0)


def foremost(profile: Profile) -> str:
    """Return the persona with the largest weight if that is above zero, else an empty name."""
    best = max(profile, key=lambda persona: profile[persona], default="")
    return best if best and profile[best] > 0 else ""


FULL_FIT = 0.25
"""Cosine of the vocabularies from which a listing counts as a perfect fit."""


@cache
def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    words = r"[a-z]{3,}"
    return HashingVectorizer(stop_words="english", alternate_sign=False, n_features=2**16, token_pattern=words)


@lru_cache(maxsize=4096)
def _likeness(one: str, other: str) -> float:
    vectors = _vectorizer().transform([one, other])
    vectors.data = vectors.data**0.5  # a word used twice is not twice the interest
    product = vectors[0].multiply(vectors[1]).sum()
    norms = (vectors[0].multiply(vectors[0]).sum() * vectors[1].multiply(vectors[1]).sum()) ** 0.5
    return float(product / norms) if norms else 0.0


def fit(tastes: Mapping[str, float], listing: str) -> float:
    """Return how well a listing suits tastes (share by text), from 0 to 1; one half if either is empty."""
    if not tastes or not listing:
        return 0.5
    likeness = sum(share * _likeness(text, listing) for text, share in tastes.items()) / sum(tastes.values())
    return min(1.0, likeness / FULL_FIT)
