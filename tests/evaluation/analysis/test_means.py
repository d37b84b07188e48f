"""Means with intervals: textbook numbers, scipy and statsmodels asked directly, and what no interval may do."""

from __future__ import annotations

from dataclasses import astuple
from math import inf, isfinite

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.proportion import proportion_confint

from harbor.evaluation._analysis.means import clustered_mean, counted_share, mean_of, share_of

FLOATS = st.floats(-1e6, 1e6)
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
"""Hours of sleep that one drug gave ten patients more than the other (Cushny and Peebles 1905, in Student 1908)."""
SKEWED = [0.1, 0.2, 0.2, 0.4, 0.9, 1.1, 3.0, 7.5]
NO_FAILURE = 1 - 0.05 ** (1 / 5)
"""What share of failures five games without one leave possible: 0.451."""


def ends(found) -> tuple[float, float]:
    return found.low, found.high


def test_t_gives_students_own_example():
    found = mean_of(SLEEP)
    assert (found.n, found.method) == (10, "t")
    assert (found.mean, found.sd) == pytest.approx((1.58, 1.229995), abs=1e-6)
    assert ends(found) == pytest.approx((0.7001142, 2.4598858), abs=1e-7)


def test_skewed_values_take_the_wider_of_students_t_and_of_halls_cubic_solved_by_scipy_whatever_their_unit():
    found, t = mean_of(SKEWED, "skewed"), mean_of(SKEWED)
    n, error, skewness = 8, stats.sem(SKEWED), stats.skew(SKEWED, bias=False) / np.sqrt(8)

    def cubic(truth):
        at = (np.mean(SKEWED) - truth) / error
        return at + skewness * at**2 / 3 + skewness**2 * at**3 / 27 + skewness / 6

    bound = stats.t.ppf(0.975, n - 2)
    low, high = (optimize.brentq(lambda truth, to=to: cubic(truth) - to, -100, 100) for to in (bound, -bound))
    assert (min(low, t.low), max(high, t.high)) == (t.low, high)
    assert ends(found) == pytest.approx((t.low, high))
    turned = mean_of([5 - 2 * value for value in SKEWED], "skewed")
    assert ends(turned) == pytest.approx((5 - 2 * high, 5 - 2 * t.low))


@given(st.lists(st.floats(0, 100).map(lambda value: value / 7), min_size=4, max_size=20))
def test_symmetric_values_have_a_symmetric_interval(half):
    found = mean_of([*half, *(-value for value in half)], "skewed")
    if found.low is not None:
        assert found.low + found.high == pytest.approx(0, abs=1e-6)


@given(st.lists(FLOATS, max_size=30))
def test_there_is_an_interval_around_the_mean_or_a_note_and_never_nan(values):
    kinds = (mean_of(values), mean_of(values, "skewed"), clustered_mean(values, range(len(values)), "skewed"))
    for found in kinds:
        assert all(isfinite(value) for value in astuple(found)[:5] if value is not None)
        assert (found.low is None) == (found.high is None) == bool(found.note) == (found.method == "none")
        if found.low is not None:
            assert found.low < found.high
            assert found.low - 1e-6 * abs(found.mean) <= found.mean <= found.high + 1e-6 * abs(found.mean)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(["mean", "skewed"]))
def test_no_interval_leaves_the_bounds_of_its_scale(values, kind):
    pairs = [n // 2 for n in range(len(values))]
    for found in (mean_of(values, kind, (0, 1)), clustered_mean(values, pairs, kind, (0, 1))):
        assert found.low is None or 0 <= found.low <= found.mean + 1e-9 <= found.high + 2e-9 <= 1 + 2e-9


def test_equal_values_without_bounds_have_no_interval_and_say_so():
    for value in (0.0, 0.1, 1e9, -3.7):
        clustered = clustered_mean([value] * 6, [1, 1, 2, 2, 3, 3])
        for found, count in ((mean_of([value] * 7), 7), (mean_of([value] * 25, "skewed"), 25), (clustered, 3)):
            assert (*ends(found), found.sd, found.method) == (None, None, 0.0, "none")
            assert found.note == f"all {count} values are equal"


def test_equal_values_on_a_bounded_scale_leave_what_the_rule_of_three_leaves():
    none, ranks = mean_of([0] * 5, "skewed", (0, 1)), mean_of([1.0] * 5, "mean", (1, 3))
    assert (*ends(none), none.method) == (0, pytest.approx(NO_FAILURE), "Clopper-Pearson")
    assert ends(ranks) == (1, pytest.approx(1 + 2 * NO_FAILURE))
    upper = proportion_confint(0, 5, method="beta")[1]
    assert ends(mean_of([2.0] * 5, "mean", (1, 3))) == pytest.approx((2 - upper, 2 + upper))


def test_a_few_values_among_zeros_have_a_reason_and_no_interval():
    assert mean_of([0, 0, 0, 0, 5, 0, 9, 1, 2, 0], "skewed").note == "mostly zero, and fewer than 5 values are not"
    assert mean_of([0, 0, 0, 0, 5, 0, 9, 1, 2, 3], "skewed").low is not None
    bids = clustered_mean([0, 0, 0, 0, 0, 3, 0, 2], [1, 1, 2, 2, 3, 3, 4, 4], "skewed")
    assert (bids.low, bids.note) == (None, "mostly zero, and fewer than 5 values are not")


def test_no_value_one_value_and_one_group_say_so():
    for found, mean, note in (
        (mean_of([]), None, "no values"), (mean_of([3]), 3, "one value has no spread"),
        (mean_of([3, 4], "skewed"), 3.5, "two values do not show how skewed they are"),
        (clustered_mean([1, 2, 3], ["a"] * 3), 2, "too few games"),
        (counted_share([0.5], [12]), 0.5, "one value has no spread"),
    ):  # fmt: skip
        assert (found.mean, found.low, found.note) == (mean, None, note)


# ---------------------------------------------------------------- shares


def test_wilson_gives_the_intervals_of_newcombe_and_refuses_what_is_no_yes_or_no():
    for ones, of, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        found = share_of([1] * ones + [0] * (of - ones))  # Newcombe 1998, Table I, method 3
        assert ends(found) == pytest.approx((low, high), abs=5e-5)
        assert (found.mean, found.method) == (ones / of, "Wilson")
    with pytest.raises(ValueError, match="0 and 1"):
        share_of([0, 0.5, 1])


def test_none_of_five_and_all_of_five_have_an_exact_interval():
    none, every = share_of([0] * 5), share_of([1] * 5)
    assert (*ends(none), none.method) == (0, pytest.approx(NO_FAILURE), "Clopper-Pearson")
    assert ends(every) == (pytest.approx(1 - NO_FAILURE), 1)
    assert none.high == pytest.approx(proportion_confint(0, 5, alpha=0.1, method="beta")[1])


def test_korn_and_graubards_interval_is_the_beta_interval_of_the_effective_count():
    hits, counts = np.array([1, 5, 0, 4, 2]), np.array([10, 12, 8, 11, 9])
    found, share = counted_share(hits / counts, counts), 12 / 50
    error = stats.sem(share + (hits - share * counts) / 10)
    effective = share * (1 - share) / error**2 * (stats.t.ppf(0.975, 49) / stats.t.ppf(0.975, 4)) ** 2
    yes, no = share * effective, (1 - share) * effective
    assert effective < 50
    assert ends(found) == pytest.approx((stats.beta.ppf(0.025, yes, no + 1), stats.beta.ppf(0.975, yes + 1, no)))
    assert (found.mean, found.method) == (share, "Korn-Graubard")
    hits, counts = np.random.default_rng(4).binomial(40, 0.2, 60), np.full(60, 40)  # they differ as by chance
    chance = proportion_confint(hits.sum(), counts.sum(), method="beta")
    assert ends(counted_share(hits / counts, counts)) == pytest.approx(chance, abs=0.002)


def test_where_nothing_was_found_each_game_counts_once():
    assert counted_share([0] * 5, [12, 30, 9, 9, 4]).high == pytest.approx(NO_FAILURE)
    assert counted_share([1] * 5, [12, 30, 9, 9, 4]).low == pytest.approx(1 - NO_FAILURE)


COUNTS = st.tuples(st.integers(0, 9), st.integers(1, 9)).map(lambda two: (min(two), two[1]))


@given(st.lists(COUNTS, min_size=2, max_size=9))
def test_a_share_of_counts_has_an_interval_within_0_and_1_around_it(found):
    hits, counts = (np.array(side) for side in zip(*found, strict=True))
    mean = counted_share(hits / counts, counts)
    assert 0 <= mean.low <= mean.mean + 1e-12
    assert mean.mean - 1e-12 <= mean.high <= 1
    assert mean.low < mean.high


# ---------------------------------------------------------------- clusters


@pytest.mark.parametrize("sizes", [[6] * 9, [1, 2, 3, 5, 8, 13]], ids=["one size", "different sizes"])
def test_a_clustered_mean_is_that_of_statsmodels_with_t_on_groups_less_one(sizes):
    rng, groups, count = np.random.default_rng(7), len(sizes), sum(sizes)
    games = np.repeat(np.arange(groups), sizes)
    values = rng.normal(size=count) + rng.normal(size=groups)[games]
    found = clustered_mean(values, games)
    fit = sm.OLS(values, np.ones(count)).fit(cov_type="cluster", cov_kwds={"groups": games}, use_t=True)
    assert (found.n, found.method) == (count, "cluster-robust t")
    assert (found.mean, *ends(found)) == pytest.approx((values.mean(), *fit.conf_int()[0]))


def test_skewed_groups_of_one_are_skewed_values():
    found = clustered_mean(SKEWED, range(8), "skewed", (0, inf))
    assert ends(found) == pytest.approx(ends(mean_of(SKEWED, "skewed", (0, inf))))
    assert found.method == "cluster-robust t and Hall's t"
