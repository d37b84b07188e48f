"""A table of `make studies`: how often tests find the effect with the power that `harbor experiment power` promises.

Promises come from large pilots, so that their only error is that of the method. The tests use new samples of the same
law, in families with Holm's correction whose other members have no effect.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from harbor.evaluation._analysis.pivots import p_values, untestable
from harbor.evaluation._analysis.power import draws, pairs_for, power_of, spread_limits
from harbor.evaluation._analysis.statistics import holm, rejects

SIZES, SAMPLES, PILOT = (5, 10, 20, 50), 2000, 4000
ALPHA, POWER = 0.05, 0.8
LAWS = {
    "normal": ("mean", lambda random, size: random.normal(size=size)),
    "ranks .6 .3 .1": ("mean", lambda random, size: random.choice([1.0, 2, 3], size, p=[0.6, 0.3, 0.1]) - 1.5),
    "exponential": ("skewed", lambda random, size: random.exponential(size=size) - 1),
    "lognormal(1)": ("skewed", lambda random, size: random.lognormal(size=size) - np.exp(0.5)),
    "60 % zeros": ("skewed", lambda random, size: random.exponential(size=size) * (random.random(size) > 0.6) - 0.4),
}


def tested(samples, kind):
    return np.where(untestable(samples, kind), 1, p_values(samples, kind))


def held(kind, law, effect, pairs, family):
    """Return how often Holm finds the effect, in its direction, among comparisons without one."""
    random = np.random.default_rng(pairs)
    samples = effect + law(random, (SAMPLES, pairs))
    ps = [tested(one, kind) for one in (samples, *(law(random, (SAMPLES, pairs)) for _ in range(family - 1)))]
    found = [holm(list(row))[0] < ALPHA for row in np.transpose(ps)]
    return float(np.mean(found & (samples.mean(axis=1) > 0)))


@pytest.mark.parametrize("family", [1, 4])
@pytest.mark.parametrize("name", LAWS)
def test_promised_power(benchmark, figure, name, family):
    kind, law = LAWS[name]

    def both(pairs):
        pilot = law(np.random.default_rng(99), PILOT)
        effect = (3.2 if family == 1 else 4.2) * float(pilot.std()) / pairs**0.5
        promise = power_of(draws(pilot, kind, effect)[:, :pairs], kind, effect, ALPHA / family)
        return promise, held(kind, law, effect, pairs, family)

    found = benchmark.pedantic(lambda: [both(pairs) for pairs in SIZES], rounds=1)
    for pairs, (promise, kept) in zip(SIZES, found, strict=True):
        told = f"promised {promise:.3f}, held {kept:.3f}"
        figure(f"power, {name}, {pairs} pairs, family of {family}", "within 0.05", told)
    assert all(abs(promise - kept) <= 0.05 for promise, kept in found)


@pytest.mark.parametrize("family", [1, 4])
def test_promised_power_of_a_yes_or_no(benchmark, figure, family):
    def law(random, size):
        return random.choice([-1.0, 0, 1], size, p=[0.25, 0.5, 0.25])

    def both(pairs):
        effect = min(0.9, 2.2 / pairs**0.5)
        random, changed = np.random.default_rng(pairs), max(0.5, effect)
        chances = [(changed - effect) / 2, 1 - changed, (changed + effect) / 2]
        promise = power_of(draws(law(random, PILOT), "binary", effect)[:, :pairs], "binary", effect, ALPHA / family)
        samples = random.choice([-1.0, 0, 1], (SAMPLES, pairs), p=chances)
        ps = [tested(one, "binary") for one in (samples, *(law(random, (SAMPLES, pairs)) for _ in range(family - 1)))]
        return promise, float(np.mean([holm(list(row))[0] < ALPHA for row in np.transpose(ps)]))

    found = benchmark.pedantic(lambda: [both(pairs) for pairs in SIZES], rounds=1)
    for pairs, (promise, kept) in zip(SIZES, found, strict=True):
        told = f"promised {promise:.3f}, held {kept:.3f}"
        figure(f"power, yes or no, {pairs} pairs, family of {family}", "within 0.05", told)
    assert all(abs(promise - kept) <= 0.05 for promise, kept in found)


PILOTS, REACHED = 100, 10_000
REFERENCE_PILOTS = 20
PILOT_LAWS = {
    "normal": ("mean", 0.7, lambda random, size: random.normal(size=size)),
    "exponential": ("skewed", 0.7, lambda random, size: random.exponential(size=size) - 1),
    "yes or no": ("binary", 0.2, lambda random, size: random.choice([-1.0, 0, 1], size, p=[0.15, 0.5, 0.35])),
}
"""Kind, effect and law of differences. Yes-or-no differences already include the effect."""
REFERENCE = {"normal": (0.923, 0.2), "exponential": (0.846, 0.35), "yes or no": (0.869, 0.2)}
"""Independent reference: the mean power after 10 pairs, and the share of pilots that lead to less than 0.8."""


def told(powers):
    return f"mean {powers.mean():.3f}, below {POWER} in {np.mean(powers < POWER):.0%}"


def holds_beside(powers, mean, below):
    """Return whether power, and the share of pilots with too little, are at most two standard errors worse."""
    less, counted = np.mean(powers < POWER), 1 / len(powers) + 1 / REFERENCE_PILOTS
    pooled = (less * len(powers) + below * REFERENCE_PILOTS) / (len(powers) + REFERENCE_PILOTS)
    allowed = 2 * (pooled * (1 - pooled) * counted) ** 0.5
    return mean - powers.mean() <= 2 * powers.std(ddof=1) * counted**0.5 and less - below <= allowed


@pytest.mark.parametrize("pilot_pairs", [5, 10, 20])
@pytest.mark.parametrize("name", PILOT_LAWS)
def test_power_that_small_pilots_lead_to(benchmark, figure, name, pilot_pairs):
    """Measure the actual power with the number of games that a pilot names as enough."""
    kind, effect, law = PILOT_LAWS[name]

    @cache
    def power(pairs):
        samples = law(np.random.default_rng(pairs), (REACHED, pairs)) + (0 if kind == "binary" else effect)
        return float(np.mean(rejects(samples, kind) & (samples.mean(axis=1) > 0)))

    def reached(seed):
        pilot = law(np.random.default_rng(seed), pilot_pairs)
        if not pilot.any():
            return np.nan  # no pair differs: such a pilot is refused
        _, high = spread_limits(pilot, kind)
        return power(pairs_for(draws(pilot, kind, effect, high), kind, effect, ALPHA, POWER))

    def found(first):
        powers = np.array([reached(seed) for seed in range(first, first + PILOTS)])
        return powers[~np.isnan(powers)]

    def judged():
        one = found(0)
        if pilot_pairs != 10:
            return told(one)
        if holds_beside(one, *REFERENCE[name]):
            return f"{told(one)}: pass"
        again = found(1000)
        return f"{told(one)}, again {told(again)}: {'pass' if holds_beside(again, *REFERENCE[name]) else 'OUTSIDE'}"

    mean, below = REFERENCE[name] if pilot_pairs == 10 else ("", "")
    aim = f"{mean} ({REFERENCE_PILOTS} pilots), below 0.8 in {below:.0%}" if mean else ""
    figure(f"power reached, {name}, pilot of {pilot_pairs}", aim, benchmark.pedantic(judged, rounds=1))
