"""The statistics: textbook numbers, scipy and statsmodels asked directly, and how often intervals hold the truth."""

from __future__ import annotations

from dataclasses import astuple
from math import isfinite, sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from harbor.evaluation._analysis.rank_correlation import spearman, weighted_rho
from harbor.evaluation._analysis.statistics import (
    bootstrap_mean,
    clustered_mean,
    holm,
    paired,
    pairs_needed,
    t_mean,
    wilson_mean,
)

FLOATS = st.floats(-1e6, 1e6)
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
"""Hours of sleep that one drug gave ten patients more than the other (Cushny and Peebles 1905, in Student 1908)."""


def holds(found, truth):
    return found.low <= truth <= found.high


# ---------------------------------------------------------------- means


def test_t_gives_students_own_example():
    found = t_mean(SLEEP)
    assert (found.n, found.method) == (10, "t")
    assert (found.mean, found.sd) == pytest.approx((1.58, 1.229995), abs=1e-6)
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-7)


@pytest.mark.parametrize(
    ("ones", "of", "low", "high"), [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]
)
def test_wilson_gives_the_intervals_of_newcombe(ones, of, low, high):
    found = wilson_mean([1] * ones + [0] * (of - ones))  # Newcombe 1998, Table I, method 3
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    assert (found.mean, found.method) == (ones / of, "Wilson")


def test_wilson_refuses_what_is_no_share():
    with pytest.raises(ValueError, match="0 and 1"):
        wilson_mean([0, 0.5, 1])


def test_a_bootstrap_is_that_of_scipy_and_leans_with_the_skew():
    sample = np.random.default_rng(4).exponential(size=40)
    found = bootstrap_mean(sample)
    theirs = stats.bootstrap((sample,), np.mean, n_resamples=9999, rng=1).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)
    assert found.high - found.mean > found.mean - found.low
    assert found == bootstrap_mean(sample)


def test_few_skewed_values_take_t():
    assert bootstrap_mean(SLEEP) == t_mean(SLEEP)


@given(st.lists(FLOATS, max_size=30))
def test_there_is_an_interval_around_the_mean_or_a_note_and_never_nan(values):
    for found in (t_mean(values), bootstrap_mean(values), clustered_mean(values, range(len(values)))):
        assert all(isfinite(value) for value in astuple(found)[:5] if value is not None)
        assert (found.low is None) == (found.high is None) == bool(found.note) == (found.method == "none")
        if found.low is not None:
            assert found.low < found.high
            assert found.low - 1e-6 * abs(found.mean) <= found.mean <= found.high + 1e-6 * abs(found.mean)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9, -3.7])
def test_equal_values_have_no_interval_and_say_so(value):
    for found in (t_mean([value] * 7), bootstrap_mean([value] * 25), clustered_mean([value] * 6, [1, 1, 2, 2, 3, 3])):
        assert (found.low, found.high, found.sd, found.method) == (None, None, 0.0, "none")
        assert found.note == f"all {found.n} values are equal"


def test_no_value_and_one_value_say_so():
    assert (t_mean([]).mean, t_mean([]).note) == (None, "no values")
    assert (t_mean([3]).mean, t_mean([3]).sd, t_mean([3]).note) == (3, None, "one value has no spread")


def test_t_intervals_hold_the_mean_95_times_in_100():
    samples = np.random.default_rng(1).normal(5, 2, size=(1000, 8))
    assert 0.93 <= np.mean([holds(t_mean(sample), 5) for sample in samples]) <= 0.97


def test_wilson_holds_a_share_about_95_times_in_100():
    samples = np.random.default_rng(2).random((1000, 50)) < 0.3
    assert 0.93 <= np.mean([holds(wilson_mean(sample), 0.3) for sample in samples]) <= 0.97


def test_bootstrap_intervals_of_skewed_values_hold_the_mean_nearly_as_often():
    samples = np.random.default_rng(3).exponential(size=(400, 50))
    found = [bootstrap_mean(sample) for sample in samples]
    assert {one.method for one in found} == {"bootstrap"}
    assert 0.91 <= np.mean([holds(one, 1) for one in found]) <= 0.97


# ---------------------------------------------------------------- clusters


def test_groups_of_one_size_have_the_t_interval_of_their_means():
    values = np.random.default_rng(5).normal(size=(7, 4)) + np.arange(7)[:, None]
    found, means = clustered_mean(values.ravel(), np.repeat(np.arange(7), 4)), t_mean(values.mean(axis=1))
    assert (found.mean, found.low, found.high) == pytest.approx((means.mean, means.low, means.high))
    assert (found.n, found.method) == (28, "cluster-robust")


def test_cluster_robust_intervals_hold_the_mean_where_naive_ones_do_not():
    rng, games = np.random.default_rng(6), np.repeat(np.arange(12), 8)
    robust, naive = [], []
    for _ in range(400):
        values = 10 + rng.normal(size=12)[games] + rng.normal(size=96)
        robust.append(holds(clustered_mean(values, games), 10))
        naive.append(holds(t_mean(values), 10))
    assert 0.92 <= np.mean(robust) <= 0.98
    assert np.mean(naive) < 0.75


def test_a_clustered_mean_is_that_of_statsmodels_with_t_on_groups_less_one():
    rng = np.random.default_rng(7)
    games = np.repeat(np.arange(9), 6)
    values = rng.normal(size=54) + rng.normal(size=9)[games]
    found = clustered_mean(values, games)
    fit = sm.OLS(values, np.ones(54)).fit(cov_type="cluster", cov_kwds={"groups": games})
    reach = stats.t.ppf(0.975, 8) * fit.bse[0]
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((found.mean - reach, found.mean + reach))


def test_one_group_has_no_interval():
    assert clustered_mean([1, 2, 3], ["a"] * 3).note == "too few games"


# ---------------------------------------------------------------- pairs


def test_paired_gives_students_own_example():
    found = paired(SLEEP)
    assert found.difference == t_mean(SLEEP)
    assert found.p == pytest.approx(0.002833, abs=1e-6)
    assert found.effect == pytest.approx(4.0621 / sqrt(10), abs=1e-4)  # d is t over the root of n


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=12))
@settings(max_examples=30)
def test_flipping_signs_of_wins_and_losses_is_mcnemars_exact_test(differences):
    wins, losses = differences.count(1), differences.count(-1)
    exact = mcnemar([[0, wins], [losses, 0]], exact=True).pvalue if wins + losses else 1.0
    assert paired(differences, skewed=True).p == pytest.approx(exact)


def test_equal_differences_have_the_p_of_flipping_their_signs_and_no_effect_size():
    found = paired([3.0] * 6)
    assert (found.p, found.effect, found.difference.low) == (pytest.approx(2 / 2**6), None, None)
    assert paired([0.0] * 6).p == 1
    assert paired([2.0]).p is None


def test_skewed_differences_have_the_p_of_flipping_signs():
    few = [0.1, 0.2, 0.4, 0.8, 1.6, -0.05]  # of 64 ways to flip, only two reach further: all to one side
    assert paired(few, skewed=True).p == pytest.approx(4 / 64)


# ---------------------------------------------------------------- families


PS = st.lists(st.none() | st.floats(0, 1), max_size=12)


def test_holm_gives_a_worked_family():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(PS)
@settings(max_examples=20)
def test_what_has_no_p_counts_in_the_family_as_if_it_were_one(ps):
    known = [place for place, p in enumerate(ps) if p is not None]
    filled = holm([1.0 if p is None else p for p in ps])
    assert [holm(ps)[place] for place in known] == [filled[place] for place in known]


@given(PS)
@settings(max_examples=20)  # statsmodels collects garbage in every call
def test_holm_never_lowers_a_p_never_beats_bonferroni_and_keeps_the_order(ps):
    adjusted, count = holm(ps), len(ps)
    known = sorted((p, after) for p, after in zip(ps, adjusted, strict=True) if p is not None)
    assert [p is None for p in ps] == [p is None for p in adjusted]
    assert all(p <= after + 1e-12 and after <= min(1, p * count) + 1e-12 for p, after in known)
    assert [after for _, after in known] == sorted(after for _, after in known)


@given(PS, st.randoms())
@settings(max_examples=20)
def test_holm_does_not_depend_on_the_order_of_the_family(ps, random):
    order = random.sample(range(len(ps)), len(ps))
    adjusted = holm(ps)
    assert holm([ps[place] for place in order]) == [adjusted[place] for place in order]


# ---------------------------------------------------------------- ranks

IQ = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
HOURS_OF_TELEVISION = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]


def test_spearman_gives_a_textbook_example():
    found = spearman(IQ, HOURS_OF_TELEVISION, range(10))
    assert found.rho == pytest.approx(-29 / 165)
    assert found.p == pytest.approx(0.627188, abs=1e-6)
    assert -1 <= found.low < found.rho < found.high <= 1


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5)), min_size=3, max_size=25)


@given(PAIRS)
def test_pairs_that_count_several_times_have_the_rho_of_their_copies(pairs):
    x, y, times = (np.array(side) for side in zip(*pairs, strict=True))
    one, other = np.repeat(x, times), np.repeat(y, times)
    codes = [np.unique(side, return_inverse=True)[1] for side in (x, y)]
    found = weighted_rho(times[None].astype(float), *codes)[0]
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)


def test_the_interval_of_rho_takes_games_as_wholes():
    rng, games = np.random.default_rng(8), np.repeat(np.arange(8), 10)
    x = rng.normal(size=8)[games] + 0.1 * rng.normal(size=80)
    y = rng.normal(size=8)[games] + 0.1 * rng.normal(size=80)
    whole, single = spearman(x, y, games), spearman(x, y, range(80))
    assert (whole.rho, whole.games, single.games) == (single.rho, 8, 80)
    assert whole.high - whole.low > 2 * (single.high - single.low)


def test_what_has_no_rho_or_no_interval_says_why():
    assert spearman([1, 1, 1], [1, 2, 3], [1, 2, 3]).note == "the values of one side are all equal"
    assert spearman([1, 2], [1, 2], [1, 2]).note == "fewer than 3 pairs"
    few = spearman(IQ, HOURS_OF_TELEVISION, [1, 2] * 5)
    assert (few.low, few.note) == (None, "fewer than 5 games to resample")
    assert few.rho == pytest.approx(-29 / 165)


# ---------------------------------------------------------------- power


@pytest.mark.parametrize(("size", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_small_middling_and_large_effects_need_what_tables_say(size, pairs):
    assert pairs_needed(size, 1) == pairs_needed(-3 * size, 3) == pairs


@given(st.floats(0.05, 20), st.floats(1.01, 3), st.floats(0.1, 10))
def test_smaller_effects_stricter_levels_and_more_power_need_no_fewer_pairs(effect, factor, sd):
    pairs = pairs_needed(effect, sd)
    assert pairs <= pairs_needed(effect / factor, sd)
    assert pairs <= pairs_needed(effect, sd, alpha=0.05 / factor)
    assert pairs <= pairs_needed(effect, sd, power=0.9)


def test_the_pairs_that_are_needed_find_the_effect_as_often_as_said():
    pairs = pairs_needed(0.6, 1)
    found = stats.ttest_1samp(np.random.default_rng(9).normal(0.6, 1, size=(4000, pairs)), 0, axis=1).pvalue < 0.05
    fewer = stats.ttest_1samp(np.random.default_rng(9).normal(0.6, 1, size=(4000, pairs // 2)), 0, axis=1).pvalue < 0.05
    assert 0.78 <= found.mean() <= 0.84
    assert fewer.mean() < 0.6


@pytest.mark.parametrize(("effect", "sd"), [(0, 1), (float("nan"), 1), (1, 0), (1, float("inf"))])
def test_no_number_of_pairs_is_made_up(effect, sd):
    with pytest.raises(ValueError, match="no number of pairs"):
        pairs_needed(effect, sd)
