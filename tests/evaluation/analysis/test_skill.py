"""TrueSkill: by the package itself, over orders of the games."""

from __future__ import annotations

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor.evaluation._analysis.skill import Skill, rate

WON = {"Ann": 1, "Ben": 2, "Cho": 3}
DRAWN = {"Ann": 1, "Ben": 1}
RANKINGS = st.lists(
    st.dictionaries(st.sampled_from(["Ann", "Ben", "Cho", "Dan"]), st.integers(1, 4), max_size=4), max_size=6
)


def test_one_game_is_rated_as_the_package_rates_it():
    model = trueskill.TrueSkill(25, 25 / 3, draw_probability=0.1)
    expected = [rating for (rating,) in model.rate([(model.create_rating(),) for _ in WON], [1, 2, 3])]
    found = rate([WON])
    assert [skill.mu for skill in found.values()] == pytest.approx([rating.mu for rating in expected])
    assert [skill.sigma for skill in found.values()] == pytest.approx([rating.sigma for rating in expected])


def test_two_equal_games_are_rated_one_after_the_other():
    model = trueskill.TrueSkill(25, 25 / 3, draw_probability=0.1)
    once = trueskill.rate_1vs1(model.create_rating(), model.create_rating(), env=model)
    ann, ben = trueskill.rate_1vs1(*once, env=model)
    found = rate([{"Ann": 1, "Ben": 2}] * 2)
    assert (found["Ann"].mu, found["Ben"].mu) == pytest.approx((ann.mu, ben.mu))


def test_equal_ranks_are_a_draw_and_leave_equals_equal():
    found = rate([DRAWN])
    assert found["Ann"].mu == pytest.approx(25)
    assert found["Ben"].mu == pytest.approx(25)
    assert found["Ann"].sigma < 25 / 3


def test_the_spread_over_orders_is_that_of_the_orders_and_vanishes_where_all_games_are_alike():
    mixed = rate([{"Ann": 1, "Ben": 2}] * 4 + [{"Ann": 2, "Ben": 1}] * 4)
    alike = rate([{"Ann": 1, "Ben": 2}] * 8)
    assert mixed["Ann"].low < mixed["Ann"].mu < mixed["Ann"].high
    assert alike["Ann"].low == pytest.approx(alike["Ann"].high)


def test_as_many_orders_as_asked_for_are_averaged():
    rankings = [{"Ann": 1, "Ben": 2}, {"Ann": 2, "Ben": 1}, {"Ann": 1, "Ben": 2}]
    once, often = rate(rankings, orders=1)["Ann"], rate(rankings, orders=50)["Ann"]
    assert once.low == once.mu == once.high
    assert often.low < often.mu < often.high


def test_the_seed_decides_the_orders():
    rankings = [{"Ann": 1, "Ben": 2}] * 3 + [{"Ann": 2, "Ben": 1}] * 3
    assert rate(rankings, 5, seed=1) == rate(rankings, 5, seed=1) != rate(rankings, 5, seed=2)


@settings(max_examples=30)
@given(RANKINGS)
def test_the_order_of_seats_does_not_matter(rankings):
    turned = [dict(reversed(ranks.items())) for ranks in rankings]
    assert rate(turned, orders=3) == rate(rankings, orders=3)


@settings(max_examples=30)
@given(RANKINGS)
def test_everyone_is_rated_and_mu_lies_in_its_spread(rankings):
    found = rate(rankings, orders=3)
    assert list(found) == sorted({bidder for ranks in rankings for bidder in ranks})
    assert all(skill.low - 1e-9 <= skill.mu <= skill.high + 1e-9 for skill in found.values())
    assert all(0 < skill.sigma <= 25 / 3 for skill in found.values())


def test_who_only_ever_bids_alone_keeps_the_first_rating():
    assert rate([{"Ann": 1}]) == {"Ann": Skill(25, 25 / 3, 25, 25)}


def test_without_games_there_is_nobody_to_rate():
    assert rate([]) == {}


def test_no_orders_are_refused():
    with pytest.raises(ValueError, match="orders 0 is below 1"):
        rate([WON], orders=0)
