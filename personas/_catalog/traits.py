"""Profile vectors write a bidder's personas as numbers, and tastes say how well a listing suits them.

A listing is judged by the words that it shares with a text of tastes; no label is known.
Source: Harbor sec. 3.4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import sqrt

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


_STOP_WORDS = frozenset(
    """
    about above across after afterwards again against all almost alone along already also although always among
    amongst amoungst amount and another any anyhow anyone anything anyway anywhere are around back became because
    become becomes becoming been before beforehand behind being below beside besides between beyond bill both
    bottom but call can cannot cant con could couldnt cry describe detail done down due during each eight either
    eleven else elsewhere empty enough etc even ever every everyone everything everywhere except few fifteen fifty
    fill find fire first five for former formerly forty found four from front full further get give had has hasnt
    have hence her here hereafter hereby herein hereupon hers herself him himself his how however hundred inc
    indeed interest into its itself keep last latter latterly least less ltd made many may meanwhile might mill
    mine more moreover most mostly move much must myself name namely neither never nevertheless next nine nobody
    none noone nor not nothing now nowhere off often once one only onto other others otherwise our ours ourselves
    out over own part per perhaps please put rather same see seem seemed seeming seems serious several she should
    show side since sincere six sixty some somehow someone something sometime sometimes somewhere still such system
    take ten than that the their them themselves then thence there thereafter thereby therefore therein thereupon
    these they thick thin third this those though three through throughout thru thus together too top toward
    towards twelve twenty two under until upon very via was well were what whatever when whence whenever where
    whereafter whereas whereby wherein whereupon wherever whether which while whither who whoever whole whom whose
    why will with within without would yet you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a list of literals has a line each
)
"""Words of three letters or more that `fit` ignores: they express no taste. Source: scikit-learn."""


def fit(tastes: Mapping[str, float], listing: str) -> float:
    """Return how well a listing suits tastes (share by text), from 0 to 1; one half if either is empty.

    Only words of three or more of the letters a to z count.
    """
    if not tastes or not listing:
        return 0.5
    likeness = sum(share * _likeness(text, listing) for text, share in tastes.items()) / sum(tastes.values())
    return min(1.0, likeness / FULL_FIT)


@lru_cache(maxsize=4096)
def _likeness(one: str, other: str) -> float:
    """Return the cosine of the roots of word counts. The roots: a word used twice is not twice the interest."""
    counts, others = _counts(one), _counts(other)
    shared = sum(sqrt(count * others[word]) for word, count in counts.items() if word in others)
    return shared / sqrt(counts.total() * others.total()) if shared else 0.0


@lru_cache(maxsize=4096)
def _counts(text: str) -> Counter[str]:
    return Counter(word for word in re.findall("[a-z]{3,}", text.lower()) if word not in _STOP_WORDS)
