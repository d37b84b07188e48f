"""Tables of parameters: CI runs a few cases, and `make studies` runs all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import Any

import pytest

from harbor.evaluation._experiments.library import presets

ONE_A_GAME = ("rationality", "water", "second-price", "beauty", "english-private")
"""Experiments that CI runs where a test is over all of Harbor's own."""


def some(values: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """Mark all values but those that CI keeps."""
    values = list(values)
    assert all(one in values for one in kept), f"CI keeps {[*kept]}, which are not all among {values}"
    return [pytest.param(one, marks=() if one in kept else pytest.mark.studies) for one in values]


def crossed(*axes: Sequence[Any]) -> list[Any]:
    """Cross values; CI keeps as many combinations as the longest axis has values, so that each value occurs.

    >>> [one.values for one in crossed("ab", "xyz") if not one.marks]
    [('a', 'x'), ('b', 'y'), ('a', 'z')]
    """
    kept = [tuple(axis[at % len(axis)] for axis in axes) for at in range(max(map(len, axes)))]
    return [pytest.param(*one, marks=() if one in kept else pytest.mark.studies) for one in product(*axes)]


EACH = some(sorted(presets()), ONE_A_GAME)
