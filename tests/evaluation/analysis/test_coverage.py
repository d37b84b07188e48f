"""How often intervals cover the truth and tests err, in small; `make studies` prints all of it."""

from __future__ import annotations

import numpy as np
import pytest

from harbor.evaluation._analysis.means import mean_of
from support import coverage
from support.coverage import LAWS, NULLS, Law, of_draws, of_means

SAMPLES = 2000
SLACK = 0.015
"""Three standard errors of a share of 95 % in so many samples."""
FEW, WIDE = 400, 0.03
"""The same for what is slow."""


@pytest.mark.parametrize(("law", "games", "least"), [
    ("normal, t", 5, 0.94), ("normal", 5, 0.94), ("heavy ties", 5, 0.94), ("exponential", 10, 0.93),
    ("lognormal(1)", 5, 0.9), ("lognormal(1)", 50, 0.93), ("60 % zeros", 10, 0.95),
    ("85 % zeros, others within 0 and 1", 10, 0.95),
])  # fmt: skip
def test_intervals_of_means_cover_nearly_as_often_as_they_say(law, games, least):
    assert of_means(LAWS[law], games, SAMPLES).share >= least - SLACK


def test_mostly_zero_values_always_have_an_interval_if_they_are_bounded_and_else_it_is_told_how_often():
    laws = ("85 % zeros, others within 0 and 1", "85 % zeros")
    bounded, unbounded = (of_means(LAWS[law], 10, SAMPLES) for law in laws)
    assert bounded.of == SAMPLES > unbounded.of


@pytest.mark.parametrize("law", ["60 % zeros", "85 % zeros, others within 0 and 1", "heavy ties", "normal, t"])
def test_intervals_of_many_samples_are_those_of_each(law):
    one = LAWS[law]
    rows = one.draw(np.random.default_rng(0), (50, 6))
    each = [mean_of(row, one.kind, one.bounds) for row in rows]
    alone = [[np.nan if end is None else end for end in (found.low, found.high)] for found in each]
    np.testing.assert_allclose(np.transpose(coverage.intervals(rows, one)), alone)


def test_skewed_values_are_not_covered_by_t_alone():
    law = LAWS["lognormal(1)"]
    assert of_means(Law(law.draw, law.mean, "mean"), 5, SAMPLES).share < 0.88 - SLACK


def test_intervals_of_shares_counts_and_clusters_cover():
    assert coverage.of_shares(0.1, 20, SAMPLES).share >= 0.93 - SLACK
    assert coverage.of_counts(0.1, 0.1, 5, FEW).share >= 0.93 - WIDE
    assert coverage.of_clusters("mean", 10, FEW).share >= 0.92 - WIDE
    assert coverage.of_clusters("skewed", 10, FEW).share >= 0.92 - WIDE


def test_the_interval_of_rho_covers_at_5_games():
    assert coverage.of_rho(0.5, 5, 200).share >= 0.9


@pytest.mark.parametrize("lacking", [0, 0.2])
@pytest.mark.parametrize("likeness", [0, 0.6, 1])
@pytest.mark.parametrize("draws", [5, 15])
def test_intervals_by_draw_cover_however_alike_the_games_of_a_draw_are(draws, likeness, lacking):
    assert 0.93 - SLACK <= of_draws(likeness, draws, SAMPLES, lacking=lacking).share <= 0.97 + SLACK


def test_intervals_by_game_cover_too_seldom_where_games_of_a_draw_are_alike():
    unlike, alike, same = (of_draws(one, 5, SAMPLES, unit=lambda values, _: values).share for one in (0, 0.6, 1))
    assert unlike >= 0.93 - SLACK
    assert alike < 0.85
    assert same < 0.72


@pytest.mark.parametrize("null", [*NULLS, "normal, t", "exponential"])
def test_tests_find_few_differences_where_there_are_none(null):
    for games in (5, 20):
        assert coverage.found_differences((NULLS | LAWS)[null], games, SAMPLES).share <= 0.075


@pytest.mark.parametrize("law", ["normal, t", "exponential", "70 % zeros", "30 % yes"])
def test_a_family_is_wrong_no_more_often_than_one_test_and_its_intervals_agree_with_p(law):
    assert coverage.found_in_family(LAWS[law], 5, SAMPLES).share <= 0.05 + SLACK
    assert coverage.disagreeing(LAWS[law], 10, SAMPLES).hits == 0
