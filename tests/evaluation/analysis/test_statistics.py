"""Paired tests, families and correlations: textbook numbers, scipy and statsmodels asked directly, and duality."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.meta_analysis import effectsize_smd

from harbor.evaluation._analysis.correlations import spearman, weighted_rho
from harbor.evaluation._analysis.levels import attainable
from harbor.evaluation._analysis.means import mean_of
from harbor.evaluation._analysis.statistics import holm, independent, paired, pairs_needed, rejects

SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
"""Hours of sleep that one drug gave ten patients more than the other (Cushny and Peebles 1905, in Student 1908)."""


# ---------------------------------------------------------------- pairs


def test_paired_gives_students_own_example():
    found = paired(SLEEP)
    assert found.difference == mean_of(SLEEP)
    assert (found.p, found.test) == (pytest.approx(0.002833, abs=1e-6), "t")
    d = 4.0621 / sqrt(10)  # t over the root of n
    assert found.effect == pytest.approx((1 - 3 / 35) * d, abs=1e-4)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9), st.sampled_from(["mean", "skewed", "binary"]))
def test_p_and_interval_never_contradict_each_other_and_rejects_says_the_same_whichever_side_is_subtracted(of, kind):
    values = np.sign(of) if kind == "binary" else np.array(of) / 4
    found, turned = paired(values, kind), paired(-values, kind)
    low, high = found.difference.low, found.difference.high
    assert (found.p is None) == (found.test == "none")
    assert (low is None) == (found.test in ("none", "sign flips"))
    assert turned.p == pytest.approx(found.p)
    if low is not None:
        assert (turned.difference.high, turned.difference.low) == pytest.approx((-low, -high))
    if found.p is None:
        assert not rejects([values], kind)[0]
    elif abs(found.p - 0.05) > 1e-9:
        assert low is None or (found.p < 0.05) == (low > 0 or high < 0)
        assert rejects([values], kind)[0] == (found.p < 0.05)


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=30))
@settings(max_examples=30)
def test_wins_and_losses_have_the_greater_p_of_t_and_of_mcnemars_exact_test(differences):
    wins, losses = differences.count(1), differences.count(-1)
    exact = mcnemar([[0, wins], [losses, 0]], exact=True).pvalue if wins + losses else 1.0
    t = stats.ttest_1samp(differences, 0).pvalue if len(set(differences)) > 1 else 0
    assert paired(differences, "binary").p == pytest.approx(max(exact, t))


def test_skewed_differences_have_the_greater_p_of_t_and_halls_t():
    assert paired(SLEEP, "skewed").p >= paired(SLEEP).p
    few = [0.1, 0.2, 0.4, 0.8, 1.6]
    error, skewness = stats.sem(few), stats.skew(few, bias=False) / sqrt(5)
    t = np.mean(few) / error
    cubic = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    assert paired(few, "skewed").p == pytest.approx(max(2 * stats.t.sf(cubic, 3), stats.ttest_1samp(few, 0).pvalue))


def test_equal_differences_have_a_sign_test_or_that_of_their_bounds_and_skewed_ones_the_latter_alone():
    for value, count, kind, most, p, test in (
        (3.0, 6, "mean", np.inf, 2 * 0.5**6, "sign flips"),
        (1.0, 9, "skewed", 1, 2 * 0.5**9, "Clopper-Pearson"),  # as great as can be
        (0.5, 9, "mean", 1, 2 * 0.5**9, "sign flips"),
        (0.5, 9, "skewed", 1, 2 * (1 / 1.5) ** 9, "Clopper-Pearson"),
        (3.0, 6, "skewed", np.inf, None, "none"),
    ):
        found = paired([value] * count, kind, most=most)
        assert (found.p, found.test) == (p if p is None else pytest.approx(p), test)
        if test == "Clopper-Pearson":
            assert (found.p < 0.05) == (found.difference.low > 0)
        else:
            assert (found.difference.low, found.effect) == (None, None)
            assert found.difference.note == f"all {count} values are equal"
    assert (paired([0.0] * 9, most=1).p, paired([2.0]).p) == (1, None)


@example([0, 0, 0, 0, 0.1, -0.2, -0.2, 0.3])  # their sum is 0 but for its rounding
@given(st.lists(st.sampled_from([0, 0, 0, 0, 0.1, -0.2, 0.3]), min_size=4, max_size=12))
@settings(max_examples=60)
def test_rare_differences_have_the_exact_p_of_all_flips_of_their_signs(differences):
    found, values = paired(differences, "skewed"), np.array(differences)
    if found.test == "sign flips":
        exact = stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf)
        assert found.p == pytest.approx(exact.pvalue)
    assert paired(differences, "skewed", most=1).p is not None or not values.any()


def test_the_effect_size_is_hedges_g_of_statsmodels_and_its_interval_that_of_a_noncentral_t():
    one, other = np.array(SLEEP), np.array(SLEEP) * 0.7 - 0.2
    found, between = paired(SLEEP), independent(one, other)
    d = np.mean(SLEEP) / np.std(SLEEP, ddof=1)
    low, high = (end / (1 - 3 / 35) for end in (found.effect_low, found.effect_high))
    assert stats.nct.sf(d * sqrt(10), 9, low * sqrt(10)) == pytest.approx(0.025, abs=1e-6)
    assert stats.nct.cdf(d * sqrt(10), 9, high * sqrt(10)) == pytest.approx(0.025, abs=1e-6)
    g, _ = effectsize_smd(one.mean(), one.std(ddof=1), 10, other.mean(), other.std(ddof=1), 10)
    huge = [paired([100, 100, 100, 100 + sd]) for sd in (1e-3, 1e-6, 1e-9)]
    assert between.effect == pytest.approx(g)
    assert all(tested.effect_low < tested.effect < tested.effect_high for tested in (between, *huge))
    assert all(tested.effect_low > 0 for tested in huge)


def test_no_effect_takes_a_test_below_what_it_can_attain():
    for pairs in range(1, 9):
        for kind, start in (("mean", 2), ("skewed", 3), ("binary", 2)):
            huge = np.ones(pairs) if kind == "binary" else 1e6 + np.arange(pairs)
            p = paired(huge, kind).p
            assert attainable(pairs, kind) == (1 if pairs < start else 0 if kind != "binary" else pytest.approx(p))
            assert p is None if pairs < start else p >= attainable(pairs, kind) - 1e-12
    assert attainable(5, "binary") > 0.05 > attainable(6, "binary")


def test_many_samples_are_tested_as_each_alone_at_any_level():
    samples = np.random.default_rng(2).exponential(size=(50, 7)) - 0.4
    for kind in ("mean", "skewed"):
        assert rejects(samples, kind, 0.01).tolist() == [paired(row, kind).p < 0.01 for row in samples]


# ---------------------------------------------------------------- families


def test_holm_gives_a_worked_family():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.none() | st.floats(0, 1), max_size=12), st.randoms())
@settings(max_examples=20)
def test_holm_never_lowers_a_p_never_beats_bonferroni_keeps_the_order_and_counts_what_has_no_p_as_one(ps, random):
    adjusted, count = holm(ps), len(ps)
    known = sorted((p, after) for p, after in zip(ps, adjusted, strict=True) if p is not None)
    assert all(p <= after + 1e-12 and after <= min(1, p * count) + 1e-12 for p, after in known)
    assert [after for _, after in known] == sorted(after for _, after in known)
    filled = holm([1.0 if p is None else p for p in ps])
    assert adjusted == [None if p is None else after for p, after in zip(ps, filled, strict=True)]
    order = random.sample(range(count), count)
    assert holm([ps[place] for place in order]) == [adjusted[place] for place in order]


# ---------------------------------------------------------------- ranks

IQ = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
HOURS_OF_TELEVISION = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]


def test_spearman_gives_a_textbook_example():
    found = spearman(IQ, HOURS_OF_TELEVISION, range(10))
    assert found.rho == pytest.approx(-29 / 165)
    assert -1 <= found.low < found.rho < found.high <= 1


def test_the_interval_of_rho_is_that_of_scipys_rho_without_each_game_in_fishers_z():
    rng, games = np.random.default_rng(9), np.repeat(np.arange(7), [3, 4, 5, 6, 5, 4, 3])
    x, y = rng.integers(1, 4, 30) + games / 5, rng.integers(1, 4, 30) + games / 7
    found, z = spearman(x, y, games), np.arctanh(stats.spearmanr(x, y).statistic)
    without = [np.arctanh(stats.spearmanr(x[games != one], y[games != one]).statistic) for one in range(7)]
    error = np.sqrt(6 / 7 * np.sum((without - np.mean(without)) ** 2))
    reach = stats.t.ppf(0.975, 6) * error
    assert (found.low, found.high) == pytest.approx((np.tanh(z - reach), np.tanh(z + reach)))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(z) / error, 6))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5)), min_size=3, max_size=25))
def test_pairs_that_count_several_times_have_the_rho_of_their_copies(pairs):
    x, y, times = (np.array(side) for side in zip(*pairs, strict=True))
    one, other = np.repeat(x, times), np.repeat(y, times)
    codes = [np.unique(side, return_inverse=True)[1] for side in (x, y)]
    found = weighted_rho(times[None].astype(float), *codes)[0]
    has_rho = min(len(set(one)), len(set(other))) > 1
    assert np.isnan(found) if not has_rho else abs(found - stats.spearmanr(one, other).statistic) < 1e-12


def test_what_has_no_rho_or_no_interval_says_why():
    one = "rho is 1 or -1, or rests on one game"
    for x, y, games, note in (
        ([1, 1, 1], [1, 2, 3], [1, 2, 3], "the values of one side are all equal"),
        ([1, 2], [1, 2], [1, 2], "fewer than 3 pairs"), (IQ, IQ[::-1], [1, 2] * 5, "fewer than 3 games to leave out"),
        ([1, 2, 3, 4], [1, 2, 3, 9], range(4), one), ([1, 2, 3, 4], [1, 2, 4, 3], [1, 2, 3, 3], one),
        ([1, 2, 2, 2], [1, 4, 2, 3], [1, 2, 3, 4], one),
    ):  # fmt: skip
        found = spearman(x, y, games)
        assert (found.low, found.p, found.note) == (None, None, note)
    assert spearman(IQ, HOURS_OF_TELEVISION, [1, 2] * 5).rho == pytest.approx(-29 / 165)


# ---------------------------------------------------------------- power


def test_small_middling_and_large_effects_need_what_tables_say_and_more_power_and_stricter_levels_need_more():
    for size, pairs in ((0.2, 199), (0.5, 34), (0.8, 15)):
        assert pairs_needed(size, 1) == pairs_needed(-3 * size, 3) == pairs
    assert (pairs_needed(0.5, 1, power=0.9), pairs_needed(0.5, 1, alpha=0.01)) == (44, 51)


@given(st.floats(0.05, 20), st.floats(1.01, 3), st.floats(0.1, 10))
def test_smaller_effects_stricter_levels_and_more_power_need_no_fewer_pairs(effect, factor, sd):
    pairs = pairs_needed(effect, sd)
    assert pairs <= pairs_needed(effect / factor, sd)
    assert pairs <= pairs_needed(effect, sd, alpha=0.05 / factor)
    assert pairs <= pairs_needed(effect, sd, power=0.9)


def test_no_number_of_pairs_is_made_up():
    for effect, sd in ((0, 1), (float("nan"), 1), (1, 0), (1, float("inf"))):
        with pytest.raises(ValueError, match="no number of pairs"):
            pairs_needed(effect, sd)
