"""TrueSkill: by the package itself, over orders of the games, with intervals by resampling games."""

from __future__ import annotations

from random import Random

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor.evaluation._analysis.ratings import Skill, after_one, per_game, rate

WON = {"Ann": 1, "Ben": 2, "Cho": 3}
FEW = "fewer than 5 games to resample"
ANN_WINS, BEN_WINS = [[{"Ann": 1, "Ben": 2}]], [[{"Ann": 2, "Ben": 1}]]
RANKING = st.dictionaries(st.sampled_from(["Ann", "Ben", "Cho", "Dan"]), st.integers(1, 4), max_size=4)
RANKINGS = st.lists(RANKING, max_size=6)
MODEL = trueskill.TrueSkill(25, 25 / 3, draw_probability=0.1)


def test_games_are_rated_as_the_package_rates_them_one_after_the_other():
    start = MODEL.create_rating()
    expected = [rating for (rating,) in MODEL.rate([(start,)] * 3, [1, 2, 3])]
    twice = trueskill.rate_1vs1(*trueskill.rate_1vs1(start, start, env=MODEL), env=MODEL)
    drawn = trueskill.rate_1vs1(start, start, drawn=True, env=MODEL)
    for games, wanted in (([[WON]], expected), (ANN_WINS * 2, twice), ([[{"Ann": 1, "Ben": 1}]], drawn)):
        found = [of for skill in rate(games).values() for of in (skill.mu, skill.sigma)]
        assert found == pytest.approx([of for rating in wanted for of in (rating.mu, rating.sigma)])
    assert rate([[{"Ann": 1}]]) == {"Ann": Skill(25, 25 / 3, None, None, FEW)}
    assert rate([]) == {}


def test_the_interval_is_of_games_or_whole_series_and_there_is_none_where_they_are_alike_or_few():
    mixed, more = (rate(ANN_WINS * count + BEN_WINS * count, 5, 40)["Ann"] for count in (4, 12))
    assert mixed.low < min(mixed.mu, 25) <= max(mixed.mu, 25) < mixed.high
    assert more.high - more.low < (mixed.high - mixed.low) / 1.2
    assert rate(ANN_WINS * 24 + BEN_WINS, 10, 30)["Ann"].low > 25
    series = [ANN_WINS[0] * 2 + BEN_WINS[0]] * 4
    for games, note in ((ANN_WINS * 4, FEW), (series, FEW), (ANN_WINS * 8, "all games are alike")):
        found = rate(games, 2, 2)["Ann"]
        assert (found.low, found.high, found.note) == (None, None, note)
        assert found.mu > 25


@pytest.mark.slow
def test_the_interval_of_equal_bidders_covers_the_first_rating_nine_times_in_ten():
    draw, covered = Random(1), 0
    for _ in range(30):
        games = [[dict(zip(WON, draw.sample((1, 2, 3), 3), strict=True))] for _ in range(5)]
        ann = rate(games, orders=2, resamples=40)["Ann"]
        covered += ann.low is not None and ann.low <= 25 <= ann.high
    assert covered >= 25


def test_as_many_orders_as_asked_for_are_averaged_and_the_seed_decides_them():
    games, last = ANN_WINS + BEN_WINS + ANN_WINS, []
    for lost in range(3):  # the order is told by the place of the game that Ann loses
        ann, ben = MODEL.create_rating(), MODEL.create_rating()
        for game in range(3):
            if game == lost:
                ben, ann = trueskill.rate_1vs1(ben, ann, env=MODEL)
            else:
                ann, ben = trueskill.rate_1vs1(ann, ben, env=MODEL)
        last.append(ann.mu)
    assert min(abs(rate(games, orders=1)["Ann"].mu - mu) for mu in last) < 1e-9
    assert rate(games, orders=300)["Ann"].mu == pytest.approx(sum(last) / 3, abs=0.1)
    assert rate(games * 2, 5, 4, seed=1) == rate(games * 2, 5, 4, seed=1) != rate(games * 2, 5, 4, seed=2)


# ---------------------------------------------------------------- a game by itself


def test_after_one_game_of_three_the_first_has_31_675_and_the_last_18_325_and_equals_are_equal():
    assert after_one(WON) == pytest.approx({"Ann": 31.675, "Ben": 25, "Cho": 18.325}, abs=0.0005)
    found = after_one({"Ann": 2, "Ben": 1, "Cho": 2})
    assert found["Ann"] == found["Cho"] < 25 < found["Ben"]
    assert after_one({"Ann": 1}) == {"Ann": 25}


@pytest.mark.parametrize(("firsts", "lasts", "printed"), [(12, 0, 30.34), (8, 0, 28.56), (0, 7, 21.88), (0, 1, 24.55)])
def test_the_published_ratings_are_means_of_single_games_of_fifteen(firsts, lasts, printed):
    games = [{"Ann": 1, "Ben": 2, "Cho": 3}] * firsts + [{"Ann": 3, "Ben": 2, "Cho": 1}] * lasts
    games += [{"Ann": 2, "Ben": 1, "Cho": 3}] * (15 - firsts - lasts)
    found = per_game("Ann", [[game] for game in games])
    assert found.mean == pytest.approx(printed, abs=0.006)
    assert found.mean == pytest.approx(25 + 6.675 * (firsts - lasts) / 15, abs=0.0005)


def test_no_interval_leaves_what_a_single_game_can_give():
    found = per_game("Ann", [[game] for game in [WON] * 5 + [{"Ann": 3, "Ben": 2, "Cho": 1}]])
    assert found.high == pytest.approx(31.675, abs=0.0005)
    assert 18.325 < found.low < found.mean


@settings(max_examples=30)
@given(RANKINGS)
def test_everyone_is_rated_with_mu_in_its_interval_and_the_order_of_seats_does_not_matter(rankings):
    found = rate([[ranks] for ranks in rankings], 3, 3)
    assert list(found) == sorted({bidder for ranks in rankings for bidder in ranks})
    assert all(skill.note or skill.low < skill.mu < skill.high for skill in found.values())
    assert all(0 < skill.sigma <= 25 / 3 for skill in found.values())
    assert rate([[dict(reversed(ranks.items()))] for ranks in rankings], 3, 3) == found


def test_too_few_orders_or_resamples_are_refused():
    for orders, resamples in ((0, 2), (1, 1)):
        with pytest.raises(ValueError, match=f"orders {orders}, resamples {resamples}: ask for"):
            rate([[WON]], orders, resamples)
