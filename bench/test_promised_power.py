"""How often tests find the effect that `harbor experiment power` promises they find: a table of `make studies`.

Promises are of large pilots, so that they err by their method alone; what is held is of new samples of the same law, in
families that are corrected by Holm and whose other members have no effect.
"""

from __future__ import annotations

import numpy as np
import pytest

from harbor.evaluation._analysis.pivots import p_values, untestable
from harbor.evaluation._analysis.simulated_power import draws, pairs_for, power_of, spread_limits
from harbor.evaluation._analysis.statistics import holm

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
    """How often Holm finds the effect among comparisons without one, and in its own direction."""
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


@pytest.mark.parametrize("pilot_pairs", [5, 10, 30])
@pytest.mark.parametrize("name", ["normal", "exponential"])
def test_games_that_small_pilots_name(benchmark, figure, name, pilot_pairs):
    """The power that is really reached with the games named as enough, for an effect of 0.7 standard deviations."""
    (kind, law), effect = LAWS[name], 0.7
    truth = [0.0, 0.0] + [
        power_of(draws(law(np.random.default_rng(98), PILOT), kind, effect)[:, :pairs], kind, effect, ALPHA)
        for pairs in range(2, 101)
    ]

    def reached(seed):
        pilot = law(np.random.default_rng(seed), pilot_pairs)
        _, high = spread_limits(pilot, kind)
        enough, likely = (
            pairs_for(draws(pilot, kind, effect, spread), kind, effect, ALPHA, POWER) for spread in (high, 1)
        )
        return truth[min(enough, 100)], truth[min(likely, 100)]

    found = np.array(benchmark.pedantic(lambda: [reached(seed) for seed in range(100)], rounds=1))
    enough, likely = (f"mean {one.mean():.2f}, at least 0.8 in {np.mean(one >= POWER - 0.02):.0%}" for one in found.T)
    figure(f"power reached, {name}, pilot of {pilot_pairs}", "0.8 in 80 %", f"enough: {enough}; likely: {likely}")
