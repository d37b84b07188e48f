"""How well a listing suits a text of tastes, by the words that they share; no label is known."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

FULL_FIT = 0.25
"""The share of common vocabulary (cosine) from which a listing counts as a perfect fit."""


@cache
def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    words = r"[a-z]{3,}"
    return HashingVectorizer(stop_words="english", alternate_sign=False, n_features=2**16, token_pattern=words)


@lru_cache(maxsize=4096)
def _likeness(one: str, other: str) -> float:
    vectors = _vectorizer().transform([one, other])
    vectors.data = vectors.data**0.5  # a word said twice is not twice the interest
    product = vectors[0].multiply(vectors[1]).sum()
    norms = (vectors[0].multiply(vectors[0]).sum() * vectors[1].multiply(vectors[1]).sum()) ** 0.5
    return float(product / norms) if norms else 0.0


def fit(tastes: Mapping[str, float], listing: str) -> float:
    """Judge how well a listing suits tastes, given as share by text, from 0 to 1; one half where nothing is said."""
    if not tastes or not listing:
        return 0.5
    likeness = sum(share * _likeness(text, listing) for text, share in tastes.items()) / sum(tastes.values())
    return min(1.0, likeness / FULL_FIT)
