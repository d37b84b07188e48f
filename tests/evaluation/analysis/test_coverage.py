"""How often intervals cover the truth and tests err, in small; `make studies` prints all of it."""

from __future__ import annotations

import pytest

from support.coverage import (
    LAWS,
    NULLS,
    false_alarms,
    false_families,
    of_clusters,
    of_counts,
    of_means,
    of_rho,
    of_shares,
)

SAMPLES = 400
SLACK = 0.03
"""Nearly three standard errors of a share of 95 % in 400 samples."""


@pytest.mark.parametrize(
    ("law", "games", "least"),
    [
        ("normal, t", 5, 0.93),
        ("normal", 5, 0.93),
        ("ranks .6 .3 .1", 5, 0.93),
        ("ranks .1 .2 .7", 10, 0.93),
        ("exponential", 10, 0.92),
        ("lognormal(1)", 5, 0.88),
        ("lognormal(1)", 50, 0.92),
    ],
)
def test_intervals_of_means_cover_nearly_as_often_as_they_say(law, games, least):
    assert of_means(LAWS[law], games, SAMPLES).covered >= least - SLACK


@pytest.mark.parametrize("games", [10, 20])
def test_intervals_of_values_that_are_mostly_zero_cover_where_they_are_given(games):
    found = of_means(LAWS["60 % zeros"], games, SAMPLES)
    assert found.without > 0
    assert found.where_given >= 0.9 - SLACK


def test_skewed_values_are_not_covered_by_t_alone():
    law = LAWS["lognormal(1)"]
    assert of_means(type(law)(law.draw, law.mean, "mean"), 5, SAMPLES).covered < 0.88 - SLACK


def test_intervals_of_shares_counts_and_clusters_cover():
    assert of_shares(0.1, 20, SAMPLES).covered >= 0.93 - SLACK
    assert of_counts(0.1, 0.1, 5, SAMPLES).covered >= 0.93 - SLACK
    assert of_clusters("mean", 10, SAMPLES).covered >= 0.92 - SLACK
    assert of_clusters("skewed", 10, SAMPLES).covered >= 0.92 - SLACK


def test_the_interval_of_rho_covers_at_5_games():
    assert of_rho(0.5, 5, 200).covered >= 0.9


@pytest.mark.parametrize("null", NULLS)
def test_tests_find_few_differences_where_there_are_none(null):
    for games in (5, 20):
        assert false_alarms(null, games, 2000) <= 0.075


def test_a_family_is_wrong_no_more_often_than_one_test():
    draw = LAWS["exponential"].draw
    assert max(false_families(draw, kind, 5, 2000) for kind in ("mean", "skewed")) <= 0.065
