"""The first-price auction: its equilibrium, who is told of it, and where there is none."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from harbor import Auction, Bidder, Simulated
from harbor._core.basics.errors import ConfigError
from harbor._core.log.log import Log, of_type, read_log
from harbor._games.first_price.game import FIRST_PRICE, policy, rational
from harbor._games.first_price.rules import equilibrium_bid, highest_bid
from harbor._games.game import build
from harbor._games.sessions import measures
from harbor._games.sessions.session import RunLabelled, SessionOpened
from harbor._games.sessions.settings import Normal, Uniform
from harbor._house.auctioneer import Sale
from harbor._house.checking import AS_TOLD, check
from harbor._runs.opening import opened_sale
from harbor._runs.resolve import resolve
from harbor.evaluation._metrics.measurement import measure
from harbor.events import ActedSealed, Paid
from harbor.games import CENT, Action, Bid, Withdraw, to_cents
from harbor.personas._catalog.catalogue import with_items
from support import forging
from support.turns import take_turn

NORMAL = Normal(mean=50, deviation=10)
UNIFORM = {"kind": "uniform", "low": 0, "high": 100}
NAMES = ("Ann", "Ben", "Cho", "Dee", "Eve")
COMPARED = ("payoff", "payoff_ratio", "deviation", "deviation_path")
PRIORS = st.one_of(
    st.builds(Normal, mean=st.integers(1, 9_000), deviation=st.integers(1, 3_000)),
    st.tuples(st.integers(0, 5_000), st.integers(1, 5_000)).map(lambda ends: Uniform(low=ends[0], high=sum(ends))),
)
RIVALS = st.integers(1, 9)
SHARES = st.floats(0.001, 0.999)
USUAL = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def auction(players: int = 2, rule: str = "rational", game: str = "first-price", seed: int = 0, **rules) -> Auction:
    bidders = [Bidder(name, rule=rule) for name in NAMES[:players]]
    return Auction(seed=seed, bidders=bidders, rules={"game": game, "runs": 1, **rules})


def of_values(*values: float, **rules) -> Auction:
    return auction(len(values), values={name: [one] for name, one in zip(NAMES, values, strict=False)}, **rules)


def events(log, kind):
    return of_type(getattr(log, "entries", log), kind)


# ---------------------------------------------------------------- the equilibrium


def test_a_bid_is_a_plain_number_whoever_asked_for_the_value_first():
    prior = Uniform(low=0, high=83)
    assert type(equilibrium_bid(np.float64(83), 2, prior)) is type(equilibrium_bid(83.0, 2, prior)) is float


@pytest.mark.parametrize(("players", "bids"), [
    (2, (34.7487, 42.0212, 47.1240)), (3, (37.1257, 45.3261, 51.5915)), (5, (38.4773, 47.3792, 54.7401)),
])  # fmt: skip
def test_equilibrium_bids_of_normal_values_are_those_of_the_reference_to_four_digits(players, bids):
    assert [equilibrium_bid(value, players - 1, NORMAL) for value in (40, 50, 60)] == pytest.approx(bids, abs=6e-5)


@USUAL
@given(st.integers(1, 200), st.integers(1, 10_000), SHARES)
def test_with_uniform_values_the_bid_is_the_value_times_n_minus_one_over_n(rivals, high, share):
    bid = equilibrium_bid(high * share, rivals, Uniform(low=0, high=high))
    assert bid == pytest.approx(high * share * rivals / (rivals + 1), rel=1e-9)


@USUAL
@given(PRIORS, RIVALS, SHARES)
def test_the_bid_is_the_mean_of_the_highest_rival_value_below_ones_own(prior, rivals, share):
    """By the density of the highest value, which the formula of the game does not use."""
    value = prior.quantile(share)

    def density(x):
        slope = (prior.cdf(x + width) - prior.cdf(x - width)) / (2 * width)
        return rivals * prior.cdf(x) ** (rivals - 1) * slope

    width = (value - prior.lowest) * 1e-5
    mean, _ = quad(lambda x: x * density(x), prior.lowest + width, value, limit=400)
    weight, _ = quad(density, prior.lowest + width, value, limit=400)
    assert equilibrium_bid(value, rivals, prior) == pytest.approx(mean / weight, rel=1e-3)


@USUAL
@given(PRIORS, RIVALS, st.tuples(SHARES, SHARES).filter(lambda pair: pair[1] - pair[0] > 1e-3))
def test_bids_rise_with_the_value_and_with_each_rival_and_stay_below_the_value(prior, rivals, shares):
    low, high = (prior.quantile(share) for share in shares)
    assert prior.lowest <= equilibrium_bid(low, rivals, prior) < equilibrium_bid(high, rivals, prior) < high
    assert equilibrium_bid(high, rivals, prior) < highest_bid(rivals, prior)
    assert equilibrium_bid(low, rivals, prior) < equilibrium_bid(low, rivals + 1, prior)


@USUAL
@given(st.integers(6, 900), st.integers(2, 100), RIVALS, st.floats(-3, 3))
def test_equal_values_in_other_money_are_bid_alike(deviation, factor, rivals, distance):
    mean = 9 * deviation + 1  # so far from 0 that nothing is cut off
    small, large = (Normal(mean=mean * one, deviation=deviation * one) for one in (1, factor))
    bid = equilibrium_bid(mean + distance * deviation, rivals, small)
    assert equilibrium_bid((mean + distance * deviation) * factor, rivals, large) == pytest.approx(bid * factor)


@USUAL
@given(PRIORS, RIVALS, st.integers(0, 99))
def test_a_best_response_to_rivals_in_equilibrium_gains_nothing(prior, rivals, hundredth):
    """Among all bids that some value makes, and those are all that could be better."""
    value = prior.quantile((hundredth + 0.5) / 100)
    others = [prior.quantile(share / 100) for share in range(1, 100)]
    gains = [(value - equilibrium_bid(x, rivals, prior)) * prior.cdf(x) ** rivals for x in others]
    own = (value - equilibrium_bid(value, rivals, prior)) * prior.cdf(value) ** rivals
    assert max(gains) <= own + 1e-9 * value


@pytest.mark.parametrize("prior", [NORMAL, Uniform(low=0, high=100), Uniform(low=900, high=1_000)])
def test_without_a_rival_nothing_is_bid_and_the_lowest_value_is_bid_whole(prior):
    assert equilibrium_bid(float(prior.mean), 0, prior) == 0
    assert equilibrium_bid(prior.lowest, 3, prior) == prior.lowest


# ---------------------------------------------------------------- through the rules


@pytest.mark.parametrize(("players", "revenue"), [(2, 44.358), (3, 50.0), (5, 54.95)])
def test_revenue_of_rational_bidders_is_the_mean_second_value(players, revenue):
    prices = [float(event.amount) for event in events(auction(players, runs=400, seed=players).run().log, Paid)]
    assert len(prices) == 400
    assert abs(fmean(prices) - revenue) < 3 * stdev(prices) / len(prices) ** 0.5


def test_rational_bidders_play_the_equilibrium_of_the_distribution_that_is_drawn_from():
    for prior, bids in ((NORMAL, [42.02, 47.12]), (UNIFORM, [25, 30])):
        log = of_values(50, 60, distribution=prior).run().log
        assert [float(event.act.amount) for event in events(log, ActedSealed)] == bids


def sale_of(one: Auction) -> Sale:
    sale = opened_sale(resolve(one), Log(), "run", "token")
    sale.settle({})
    return sale


def played(one: Auction, *actions: Action) -> Sale:
    sale = sale_of(one)
    take_turn(sale, {ask.bidder: action for ask, action in zip(sale.asks(), actions, strict=True)})
    return sale


def test_payoff_is_assets_over_assets_in_equilibrium_and_deviation_its_distance_from_one():
    sale = played(of_values(60, 50, distribution=NORMAL), Bid(Decimal(30)), Bid(Decimal(40)))
    [label] = events(sale.log, RunLabelled)
    assert label.actions == {"Ann": Decimal("47.12"), "Ben": Decimal("42.02")}
    assert label.assets == {"Ann": Decimal("112.88"), "Ben": Decimal(100)}  # Ann wins then: 100 - 47.12 + 60
    found = measures.Played.of(sale.log.entries)  # now Ben wins: 100 - 40 + 50
    assert found.payoffs() == {"Ann": [pytest.approx(100 / 112.88)], "Ben": [pytest.approx(1.1)]}
    assert found.deviations() == {"Ann": [pytest.approx(1 - 100 / 112.88)], "Ben": [pytest.approx(0.1)]}
    assert [row.bidder for row in measures.standings(sale.log.entries)] == ["Ben", "Ann"]
    sale = played(of_values(60, 50, distribution=NORMAL), Withdraw(), Withdraw("failed bids"))
    assert measures.Played.of(sale.log.entries).payoffs()["Ben"] == [pytest.approx(0.9)]


# ---------------------------------------------------------------- what is told


def opened(one: Auction) -> SessionOpened:
    return build(one).opened()


@pytest.mark.parametrize("game", ["second-price", "english-private"])
def test_where_truth_is_dominant_no_distribution_is_told(game):
    told = opened(auction(game=game, distribution=UNIFORM))
    assert (told.prior, "distribution" in told.words) == (None, False)


def test_a_bidder_reads_the_distribution_in_the_opening_and_nowhere_else():
    sale = sale_of(of_values(50, 60, distribution=NORMAL))
    ask, seen = sale.asks()[0], list(sale.seen_by("Ann"))
    assert rational(ask, seen) == Bid(Decimal("42.02"))
    place = next(number for number, event in enumerate(seen) if isinstance(event, SessionOpened))
    seen[place] = opened(of_values(50, 60, distribution=UNIFORM))
    assert rational(ask, seen) == Bid(Decimal(25))


def facts_of(one: Auction) -> dict:
    sale = sale_of(one)
    known = {**FIRST_PRICE.play.facts("Ann", sale.seen_by("Ann")), **sale.asks()[0].space.facts()}
    return json.loads(json.dumps(known, default=float))


@pytest.mark.parametrize(("rules", "amount"), [
    ({"distribution": NORMAL}, 42.02), ({"distribution": UNIFORM}, 25), ({"distribution": NORMAL, "assets": 30}, 30),
    ({}, 25),  # nothing is told: as if values were uniform from 0 on
])  # fmt: skip
def test_the_built_in_model_bids_by_what_its_prompt_tells(rules, amount):
    facts = facts_of(of_values(50, 60, rule="random", **rules))
    assert ("prior" in facts) is ("distribution" in rules)
    assert policy(facts, Simulated(), Random(0))["amount"] == pytest.approx(amount, abs=0.011)


# ---------------------------------------------------------------- where there is no equilibrium

WITHOUT = {
    "no distribution": ({"values": {"Ann": [50], "Ben": [60]}},
                        "bidders are told no distribution of values (rules.distribution)"),
    "binding assets": ({"assets": 45}, "assets of $45 cap bids, which go up to $50 (rules.assets)"),
    "values drawn once": ({"draw": "once", "runs": 2},
                          "values that stay the same become known from run to run (rules.draw)"),
}  # fmt: skip


@pytest.mark.parametrize(("rules", "reason"), WITHOUT.values(), ids=WITHOUT)
def test_without_an_equilibrium_rational_refuses_and_measures_are_missing_with_the_reason(rules, reason, tmp_path):
    with pytest.raises(ConfigError) as refused:
        auction(**rules).run(out=tmp_path / "run")
    said = f"can't be played by the rule 'rational': no equilibrium is known, as {reason}; change that, or the rule"
    assert str(refused.value) == f"bidder 'Ann' {said}"
    assert not (tmp_path / "run").exists()
    sale = sale_of(auction(rule="random", **rules))
    with pytest.raises(ConfigError, match="'Ann' can't be played by the rule 'rational'"):
        rational(sale.asks()[0], sale.seen_by("Ann"))
    log = auction(rule="random", **rules).run().log
    assert events(log, RunLabelled) == []
    missing = {(one.value, one.missing) for one in measure(COMPARED, log)}
    assert missing == {(None, f"no equilibrium is known: {reason}")}
    assert {(row.payoff, row.payoff_ratio, row.deviation) for row in measures.standings(log)} == {(None, None, None)}


@pytest.mark.parametrize(("players", "rules", "unsolved"), [
    (2, {"assets": 50}, ""),  # the limit of all bids: nobody's money binds
    (2, {"draw": "once"}, ""),  # in a single run nothing becomes known
    (2, {"assets": 55}, ""), (3, {"assets": 55}, "bids, which go up to $55.64"),
])  # fmt: skip
def test_where_nothing_binds_and_nothing_becomes_known_there_is_an_equilibrium(players, rules, unsolved):
    one = auction(players, rule="random", **rules)
    assert unsolved in opened(one).unsolved
    assert bool(opened(one).unsolved) == bool(unsolved)
    assert len(events(one.run().log, RunLabelled)) == (not unsolved)


# ---------------------------------------------------------------- distributions


FIFTIES = {"Ann": [50], "Ben": [50]}


@pytest.mark.parametrize(("rules", "line"), [
    ({"distribution": {"kind": "normal", "mean": 50, "deviation": 0.5}},
     "rules.distribution.deviation 0.5: must be 1 or more"),
    ({"distribution": {"kind": "normal", "mean": float("nan"), "deviation": 9}}, "mean nan: is not a finite number"),
    ({"distribution": {"kind": "uniform", "low": 9, "high": 9}},
     "high 9 is not at least 1 above low 9; set them further apart"),
    ({"distribution": {"kind": "unifrom", "low": 0, "high": 9}},
     "unknown distribution 'unifrom'; did you mean 'uniform'?"),
    ({"distribution": {"low": 0, "high": 9}}, "rules.distribution: is no distribution; write { kind ="),
    ({"values": {**FIFTIES, "Ann": [120]}, "distribution": UNIFORM},
     "$120 of 'Ann' is no value of the uniform distribution from $0 to $100, which gives $0.00 to $100.00"),
    ({"values": {**FIFTIES, "Ben": [141]}, "distribution": NORMAL}, "$141 of 'Ben' is no value of the normal"),
    ({"values": FIFTIES, "distribution": NORMAL, "runs": 2},
     "rules.values has 1 values for 'Ann'; give one for each of the 2 runs"),
    ({"distribution": NORMAL, "group": "M"}, "group 'M' and distribution are two distributions of values; drop"),
])  # fmt: skip
def test_a_distribution_that_cannot_be_drawn_from_or_contradicts_other_settings_is_refused_in_one_line(rules, line):
    with pytest.raises(ConfigError) as refused:
        build(auction(**rules))
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


@USUAL
@given(PRIORS, st.integers(0, 10**6))
def test_draws_lie_in_the_support_and_are_whole_cents_of_at_least_one(prior, seed):
    for value in (prior.draw(rng) for rng in [Random(seed)] for _ in range(20)):
        assert value == to_cents(value) >= CENT
        assert prior.lowest - 0.005 <= value <= prior.highest + 0.005


@USUAL
@given(PRIORS, SHARES)
def test_a_share_of_the_values_lies_below_its_quantile(prior, share):
    assert prior.cdf(prior.quantile(share)) == pytest.approx(share, rel=1e-6)
    assert (prior.cdf(prior.lowest), prior.cdf(prior.highest)) == (0, pytest.approx(1))


def test_draws_follow_their_distribution():
    for prior in (NORMAL, Normal(mean=5, deviation=20), Uniform(low=20, high=60)):
        drawn = [float(prior.draw(rng)) for rng in [Random(1)] for _ in range(4_000)]
        assert stats.kstest(drawn, np.vectorize(prior.cdf)).pvalue > 0.01


@pytest.mark.parametrize("game", ["first-price", "second-price", "english-private"])
def test_the_published_groups_draw_the_values_that_they_drew_before(game):
    drawn = build(auction(game=game, rule="random", runs=3, seed=7)).values
    assert [[*map(float, given_)] for given_ in drawn.values()] == [[62.11, 57.84, 63.2], [63.34, 28.83, 70.51]]


# ---------------------------------------------------------------- logs


def forged(folder, change, without=(), **rules):
    """Hold an auction, change the opening in its log, and return the log."""
    auction(rule="random", **rules).run(out=folder)
    lines = [line for line in forging.lines_of(folder / "events.jsonl") if line["type"] not in without]
    change(*forging.of_type(lines, "first_price_opened"))
    forging.write(folder / "events.jsonl", lines)
    return read_log(folder / "events.jsonl").entries


def test_a_log_without_a_distribution_is_read_and_measured_as_such_and_follows_unless_settings_tell_of_one(tmp_path):
    log = forged(tmp_path / "run", lambda opened: opened.pop("prior"), ["run_labelled"], runs=2)
    missing = f"no equilibrium is known: {WITHOUT['no distribution'][1]}"
    assert [one.missing for one in measure(["payoff"], log)] == [missing] * 2
    found = check(log, with_items(auction(rule="random", runs=2)))
    assert (found.follows, found.event) == (False, "first_price_opened")
    verdict = check(log, None)
    assert verdict.follows, verdict
    assert AS_TOLD in verdict.unchecked


def test_another_distribution_in_the_opening_of_a_log_is_found_by_the_settings(tmp_path):
    log = forged(tmp_path / "run", lambda opened: opened["prior"].update(mean=60))
    assert not check(log, with_items(auction(rule="random"))).follows
    assert not check(log, None).follows  # the labels tell the equilibrium of another distribution
