"""How often 95 % intervals cover the truth, and tests find what is not there: a table of `make studies`.

The unit is the game. Samples without an interval, for a reason that is told, count as not covered "of all".
"""

from __future__ import annotations

import pytest

from support.coverage import (
    LAWS,
    NULLS,
    SIZES,
    false_alarms,
    false_families,
    of_clusters,
    of_counts,
    of_means,
    of_rho,
    of_shares,
)

SAMPLES, FEWER = 4000, 1000
AIMS = {
    "normal, t": (0.93, 0.93, 0.93, 0.93),
    "normal": (0.93, 0.93, 0.93, 0.93),
    "ranks .6 .3 .1": (0.93, 0.93, 0.93, 0.93),
    "ranks .1 .2 .7": (0.93, 0.93, 0.93, 0.93),
    "exponential": (None, 0.92, 0.92, 0.92),
    "lognormal(1)": (0.88, 0.88, 0.88, 0.92),
}
GIVEN = 0.9
"""The aim where there are zeros, of the intervals that are given."""


@pytest.mark.parametrize("name", LAWS)
def test_coverage_of_means(benchmark, figure, name):
    found = benchmark.pedantic(lambda: [of_means(LAWS[name], games, SAMPLES) for games in SIZES], rounds=1)
    aims = [f"{aim} of all" if aim else "" for aim in AIMS.get(name, ())] or [f"{GIVEN} where given"] * len(SIZES)
    for games, aim, one in zip(SIZES, aims, found, strict=True):
        figure(f"coverage, {name}, {games} games", aim, str(one))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_coverage_of_shares(benchmark, figure, share):
    found = benchmark.pedantic(lambda: [of_shares(share, games, SAMPLES) for games in SIZES], rounds=1)
    for games, one in zip(SIZES, found, strict=True):
        figure(f"coverage, yes or no, {share} yes, {games} games", "", str(one))


@pytest.mark.parametrize(("share", "likeness"), [(0.02, 0.1), (0.1, 0.1), (0.1, 0.3), (0.3, 0.3)])
def test_coverage_of_counts(benchmark, figure, share, likeness):
    found = benchmark.pedantic(lambda: [of_counts(share, likeness, games, SAMPLES) for games in SIZES], rounds=1)
    for games, one in zip(SIZES, found, strict=True):
        figure(f"coverage, counts, share {share}, likeness {likeness}, {games} games", "", str(one))


@pytest.mark.parametrize("kind", ["mean", "skewed"])
def test_coverage_of_clusters(benchmark, figure, kind):
    found = benchmark.pedantic(lambda: [of_clusters(kind, games, SAMPLES) for games in SIZES], rounds=1)
    for games, one in zip(SIZES, found, strict=True):
        figure(f"coverage, 1 to 10 values a game, {kind}, {games} games", "", str(one))


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_coverage_of_rho(benchmark, figure, slope):
    found = benchmark.pedantic(lambda: [of_rho(slope, games, FEWER) for games in SIZES], rounds=1)
    for games, one in zip(SIZES, found, strict=True):
        figure(f"coverage, rho, slope {slope}, {games} games ({FEWER} samples)", "", str(one))


def test_false_alarms(benchmark, figure):
    found = benchmark.pedantic(
        lambda: {name: [false_alarms(name, games, SAMPLES) for games in SIZES] for name in NULLS}, rounds=1
    )
    for name, rates in found.items():
        figure(f"false alarms at 5 %, {name}", "about 0.05", " ".join(f"{rate:.3f}" for rate in rates))
    for kind, law in (("mean", "normal"), ("mean", "exponential"), ("skewed", "exponential"), ("skewed", "60 % zeros")):
        rates = [false_families(LAWS[law].draw, kind, games, SAMPLES) for games in SIZES]
        figure(f"false alarms of 4 by Holm, {law}, {kind}", "0.05", " ".join(f"{rate:.3f}" for rate in rates))
