"""Rivals of a level: how they play each game that has them, how a mixture is drawn, and what is refused."""

from __future__ import annotations

from bisect import bisect_right
from decimal import Decimal
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder
from harbor._cli.shared.files import load
from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.finding import find, names
from harbor._games.beauty.game import BEAUTY
from harbor._games.beauty.rules import BeautyOpened, PrizeAwarded
from harbor._games.beauty.settings import BeautyRules
from harbor._games.first_price.game import FIRST_PRICE
from harbor._games.first_price.rules import Rivals, best_bid
from harbor._games.second_price.game import SECOND_PRICE
from harbor._games.sessions.measures import past_runs
from harbor._games.sessions.session import RunOpened, SessionOpened
from harbor._games.sessions.settings import Normal, Uniform
from harbor._runs.resolve import resolve
from harbor.events import Acted, ActedSealed, BidderLabelled, Signal
from harbor.games import Amount, Ask, AuctionConfig, Bid, Number, of_type
from support.best_response import best_response

PLAYERS = ("Ann", "Ben", "Cho", "Dee", "Eve")


def contest(shown=None, bound=100, **rules):
    """Return what a player of a beauty contest has seen: its opening, and numbers of a run if they were shown."""
    config = AuctionConfig(bidders=[Bidder(name, rule="random") for name in PLAYERS])
    opened = BEAUTY.build(BeautyRules(bound=bound, **rules), config).opened()
    assert isinstance(opened, BeautyOpened)
    if shown is None:
        return [opened]
    acts = [Acted(name, "run 1", Bid(Decimal(one)), unit="number") for name, one in zip(PLAYERS, shown, strict=False)]
    return [opened, RunOpened("run 1"), *acts, PrizeAwarded("run 1", (), None), RunOpened("run 2")]


def pick(level, seen, bound=100, seed=0):
    answer = BEAUTY.level(level, Ask("Ann", "run 2", 1, Number(Decimal(0), Decimal(bound))), seen, Random(seed))
    assert isinstance(answer, Bid)
    return answer.amount


@pytest.mark.parametrize("bound", [1, 1_000])
def test_the_first_step_answers_best_to_the_middle_of_the_range_and_each_other_to_the_step_below(bound):
    middle, seen = Decimal(bound) / 2, contest(bound=bound)
    for level in (1, 2, 3, 4):
        middle = best_response([middle] * 4, BeautyRules().fraction)
        assert abs(pick(level, seen, bound) - middle) <= Decimal("0.006")


def test_later_steps_begin_at_the_mean_that_the_last_run_showed_and_in_the_middle_if_it_showed_none():
    seen = contest([10, 20, 30, 40, 50])
    assert pick(1, seen) == round(best_response([Decimal(30)] * 4, BeautyRules().fraction), 2)
    assert pick(2, seen) < pick(1, seen) < 30
    assert pick(1, contest([])) == pick(1, contest())


@given(st.lists(st.integers(0, 100), max_size=5), st.integers(0, 10**6))
def test_level_0_picks_a_legal_number_on_either_side_of_where_the_contest_stands(shown, seed):
    mean = sum(shown) / len(shown) if shown else 50
    assert abs(float(pick(0, contest(shown), seed=seed)) - mean) <= min(mean, 100 - mean) + 0.01


def test_level_0_covers_the_whole_range_of_the_first_run():
    picks = [pick(0, contest(), seed=seed) for seed in range(200)]
    assert min(picks) < 5
    assert max(picks) > 95
    assert 45 < sum(picks) / 200 < 55


def test_in_a_second_price_auction_level_0_bids_at_random_and_all_others_their_value():
    seen = [Signal("Ann", {"run 1": Decimal("47.11")})]
    ask = Ask("Ann", "run 1", 1, Amount(Decimal(0), Decimal(100)))
    assert {SECOND_PRICE.level(level, ask, seen, Random(1)) for level in (1, 2, 3)} == {Bid(Decimal("47.11"))}
    bids = [SECOND_PRICE.level(0, ask, seen, Random(seed)).amount for seed in range(200)]
    assert min(bids) < 5
    assert max(bids) > 95


# ---------------------------------------------------------------- the first-price auction

PRIORS = [Uniform(low=0, high=100), Uniform(low=20, high=60), Normal(mean=50, deviation=10)]


@pytest.mark.parametrize("count", [2, 3, 5])
def test_level_1_answers_best_to_bids_that_are_uniform(count):
    rivals = Rivals(count - 1, None, 100.0)
    for value in (1.0, 30.0, 77.0, 140.0):
        best = max(range(10_001), key=lambda cents: (value - cents / 100) * (cents / 100) ** (count - 1)) / 100
        assert abs(best_bid(1, value, rivals) - best) <= 0.011


@pytest.mark.parametrize(("steps", "count", "prior"), [(2, 5, PRIORS[2]), (3, 2, PRIORS[1]), (3, 3, PRIORS[2])])
def test_each_further_level_answers_best_to_the_level_below(steps, count, prior):
    rivals = Rivals(count - 1, prior, 200.0)
    theirs = sorted(best_bid(steps - 1, prior.quantile((place + 0.5) / 1_000), rivals) for place in range(1_000))

    def profit(bid):
        return (value - bid) * (bisect_right(theirs, bid) / len(theirs)) ** rivals.others

    for value in map(prior.quantile, (0.1, 0.5, 0.9)):
        best = max(profit(value * share / 500) for share in range(500))
        assert profit(best_bid(steps, value, rivals)) >= 0.99 * best


def test_among_uniform_values_all_levels_from_1_on_bid_the_equilibrium():
    for steps, count in ((1, 4), (2, 3), (3, 2)):
        assert abs(best_bid(steps, 80.0, Rivals(count - 1, PRIORS[0], 100.0)) - 80 * (count - 1) / count) < 0.01


@given(st.integers(1, 2), st.integers(1, 20_000), st.integers(1, 200), st.sampled_from(PRIORS), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_levels_bid_legally_and_never_above_the_value(steps, cents, assets, prior, rivals):
    names = tuple(f"P{number}" for number in range(rivals + 1))
    config = AuctionConfig(bidders=[Bidder(name, rule="random") for name in names])
    rules = FIRST_PRICE.settings(distribution=prior, assets=assets)
    seen = [FIRST_PRICE.build(rules, config).opened(), Signal("P0", {"run 1": Decimal(cents) / 100})]
    answer = FIRST_PRICE.level(steps, Ask("P0", "run 1", 1, Amount(Decimal(0), Decimal(assets))), seen, Random(0))
    assert 0 <= answer.amount <= min(Decimal(cents) / 100, Decimal(assets))
    assert answer.amount == round(answer.amount, 2)


@pytest.mark.parametrize("rival", [{"rule": "level-2"}, {"rule": "levels", "levels": [0, 0, 0, 1]}], ids=str)
def test_without_a_distribution_of_values_levels_from_2_on_are_refused_in_one_line(rival):
    rules = {"game": "first-price", "runs": 1, "values": {"Ann": [50], "Ben": [60]}}
    bidders = [Bidder("Ann", rule="random"), Bidder("Ben", **rival)]
    with pytest.raises(ConfigError, match="from level 2 on it needs the distribution of values; give") as refused:
        resolve(AuctionConfig(rules=rules, bidders=bidders))
    assert "\n" not in str(refused.value)
    told = rules | {"distribution": {"kind": "normal", "mean": 50, "deviation": 10}}
    assert resolve(AuctionConfig(rules=told, bidders=bidders))
    lower = [Bidder("Ann", rule="level-1"), Bidder("Ben", rule="levels", levels=[0.5, 0.5])]
    assert resolve(AuctionConfig(rules=rules, bidders=lower))


# ---------------------------------------------------------------- mixtures


def played(seed=0, **levels):
    bidders = [Bidder("Ann", rule="levels", **levels), Bidder("Ben", rule="level-2")]
    return Auction(rules={"game": "beauty", "runs": 3, "history": 0}, seed=seed, bidders=bidders).run().log


def test_a_mixture_draws_one_level_per_game_which_its_label_tells_the_analyst():
    for seed in range(6):
        log = played(seed)
        label = of_type(log, BidderLabelled)[0].player
        numbers = [event.act.amount for event in of_type(log, ActedSealed) if event.bidder == "Ann"]
        assert len(numbers) == 3
        expected = {"levels (level 1)": [Decimal("25.00")] * 3, "levels (level 2)": [Decimal("12.50")] * 3}
        assert numbers == expected.get(label, numbers)
        assert (len(set(numbers)) == 3) == (label == "levels (level 0)")
        assert [one.act.amount for one in of_type(log, ActedSealed) if one.bidder == "Ben"] == [Decimal("12.50")] * 3


def test_the_levels_of_a_mixture_are_drawn_with_its_weights():
    labels = [of_type(played(seed, levels=[0, 0.75, 0.25]), BidderLabelled)[0].player for seed in range(80)]
    assert set(labels) == {"levels (level 1)", "levels (level 2)"}
    assert 45 <= labels.count("levels (level 1)") <= 75


@pytest.mark.parametrize(("levels", "line"), [
    ([0.2, 0.4, 0.3], "levels: has weights that add up to 0.9; make them add up to 1, such as [0.2, 0.4, 0.4]"),
    ([1.5, -0.5], "levels[0] 1.5: must be 1 or less"),
    ([float("nan"), 1], "levels[0] nan: is not a finite number"),
    (0.5, "levels 0.5: must be a list"),
])  # fmt: skip
def test_a_mixture_that_is_none_is_refused_in_one_line(levels, line):
    with pytest.raises(ConfigError) as refused:
        Bidder("Ann", rule="levels", levels=levels)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("rule", ["level-0", "levels"])
@pytest.mark.parametrize("game", names("game"))
def test_a_game_that_says_nothing_of_levels_refuses_rivals_of_one(rule, game):
    config = AuctionConfig(rules={"game": game}, bidders=[Bidder(name, rule=rule) for name in ("Ann", "Ben")])
    if find("game", game).level is not None:
        assert [bidder.player for bidder in resolve(config).bidders] == [rule, rule]
        return
    with pytest.raises(ConfigError, match=f"can't be played by the rule {rule!r}: the game does not say how"):
        resolve(config)


# ---------------------------------------------------------------- the presets for a class


@cache
def of_preset(preset, seed):
    return [entry.event for entry in Auction(**{**dict(load(preset)), "seed": seed}).run().log]


@pytest.mark.parametrize("preset", ["beauty", "second-price"])
def test_the_rivals_of_a_class_game_play_levels_and_nobody_is_told_that_they_are_rational(preset):
    config = load(preset)
    assert not config.rules.rational_rivals
    assert [bidder.rule for bidder in config.bidders] == [None, *["levels"] * (len(config.bidders) - 1)]
    assert not any("rational" in event.words for event in of_preset(preset, 0) if isinstance(event, SessionOpened))


@pytest.mark.parametrize("preset", ["beauty", "second-price"])
def test_in_a_class_game_the_rivals_differ_from_each_other_and_from_seed_to_seed(preset):
    seated = set()
    for seed in range(6):
        labels = [event.player for event in of_preset(preset, seed) if isinstance(event, BidderLabelled)]
        seated.add(tuple(labels[1:]))
    assert len(seated) > 2
    assert {level for labels in seated for level in labels} >= {"levels (level 0)", "levels (level 1)"}


def test_zero_is_not_what_wins_a_beauty_contest_among_levels():
    for seed in range(4):
        first = next(past_runs(of_preset("beauty", seed))).results
        assert [one.bidder for one in first if one.won]
        assert all(one.action > 5 for one in first if one.won)
