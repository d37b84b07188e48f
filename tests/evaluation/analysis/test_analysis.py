"""The analysis of records: what is averaged, paired, counted as missing, and which interval it takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf, isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._analysis.means import clustered_mean, counted_share, mean_of, share_of
from harbor.evaluation._analysis.statistics import holm, paired
from harbor.evaluation._experiments.choices import chosen_arms
from harbor.evaluation._experiments.design import EVERYONE, Experiment, measured
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement, metric_of

ANN, BEN = "Ann", "Ben"
BOTH = ("profit", "revenue")


def designed(*metrics, arms=("plain", "wise"), conditions=("poor",), **more):
    named = {"arms": [{"name": name} for name in arms], "conditions": [{"name": name} for name in conditions]}
    texts = {"name": "trial", "title": "A trial", "question": "Does it help?", "source": "here"}
    return Experiment.model_validate(texts | named | {"repeats": 3, "auction": {}, "metrics": metrics} | more)


def held(repeat, *measurements, arm="plain", condition="poor"):
    return TrialRecord(arm, condition, repeat, 100 + repeat, "finished", measurements=measurements)


def failed(repeat, arm="plain", condition="poor"):
    return TrialRecord(arm, condition, repeat, 100 + repeat, "failed", "the model fell silent")


def profits(ann, ben=0.0, metric="profit"):
    return Measurement(metric, ann, ANN), Measurement(metric, ben, BEN)


def of_ann(metric, values, **cell):
    """Return a game of each value of Ann, in order."""
    return [held(n, Measurement(metric, float(value), ANN), **cell) for n, value in enumerate(values, 1)]


def analysed(games, *metrics, **design):
    return analyse(Results(designed(*metrics or ("profit",), **design), tuple(games)))


def estimate(analysis, metric="profit", bidder=ANN, arm="plain", at=None):
    wanted = {"metric": metric, "bidder": bidder, "arm": arm, "condition": "poor", "about": "", "at": at}
    [found] = [one for one in analysis.estimates if all(getattr(one, name) == of for name, of in wanted.items())]
    return found


def numbers(found):
    return found.mean, found.sd, found.low, found.high, found.method


# ---------------------------------------------------------------- estimates


def test_a_bidder_has_the_t_interval_of_its_games_and_everyone_that_of_the_mean_over_the_bidders_of_each():
    pairs = [(10.0, 30.0), (0.0, 2.0), (7.0, -1.0)]
    analysis = analysed([held(n, *profits(*two), Measurement("revenue", n)) for n, two in enumerate(pairs, 1)], *BOTH)
    for bidder, means in ((ANN, [10, 0, 7]), (EVERYONE, [20, 1, 3])):
        found = estimate(analysis, bidder=bidder)
        assert numbers(found) == numbers(mean_of(means))
        assert (found.games, found.missing, found.why) == (3, 0, ())
    own = [(one.bidder, one.mean) for one in analysis.estimates if (one.metric, one.arm) == ("revenue", "plain")]
    assert own == [("", 2)]  # what is the game's own is nobody's


def test_failed_unfinished_and_unmeasured_games_are_counted_with_their_reasons_also_where_none_is_finished():
    games = [
        held(1, *profits(1.0)), held(2, Measurement("profit", None, ANN, missing="nothing was for sale")), failed(3),
        failed(4), TrialRecord("plain", "poor", 5, 105, "unfinished"),
        held(6, Measurement("profit", None, missing="the log opens no ascending auction")), held(7),
        failed(1, arm="wise"),
    ]  # fmt: skip
    found = estimate(analysis := analysed(games))
    assert (found.games, found.missing, found.mean, found.low) == (1, 6, 1, None)
    assert found.why == (
        "failed: the model fell silent (2)", "not measured in this game (1)", "nothing was for sale (1)",
        "the log opens no ascending auction (1)", "unfinished (1)",
    )  # fmt: skip
    assert found.note == "one value has no spread"
    none = estimate(analysis, bidder=EVERYONE, arm="wise")
    assert (none.games, none.missing, none.mean, none.method) == (0, 1, None, "none")


def test_a_binary_metric_takes_wilson_for_a_bidder_and_t_for_everyone():
    pairs = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (1.0, 1.0)]
    analysis = analysed([held(n, *profits(*two, "survived")) for n, two in enumerate(pairs, 1)], "survived")
    assert numbers(estimate(analysis, "survived")) == numbers(share_of([0, 1, 1, 1]))
    assert numbers(estimate(analysis, "survived", EVERYONE)) == numbers(mean_of([0, 0.5, 1, 1], "mean", (0, 1)))


@pytest.mark.parametrize(("metric", "values", "least", "most"), [
    ("acquisition_rate", (0.1, 0.5, 1.0), 0, 1), ("profit_ratio", (0.1, 0.5, 1.0), None, None),
    ("priority_initial", (1.0, 3.0), 1, 3), ("items_won", (1.0, 5.0), 0, None),
    ("final_profiling_error", (0.1, 0.3, 2.0), 0, None), ("winning_bid", (1.0, 2.0, 40.0), 0, None),
    ("rank", (2.0, 2.0, 1.0), 1, 2),
])  # fmt: skip
def test_an_interval_ends_where_its_unit_does_or_at_the_number_of_bidders_and_nowhere_else(metric, values, least, most):
    games = [held(n, *profits(value, value, metric)) for n, value in enumerate(values, 1)]
    found, free = estimate(analysed(games, metric), metric), mean_of(values, metric_of(metric).interval)
    assert least is None or free.low < least
    assert found.low == (free.low if least is None else least)
    assert found.high == (free.high if most is None else most)


def test_counts_out_of_counts_are_one_share_of_all_that_was_counted():
    counts = [((ANN, 1, 4), (BEN, 0, 6)), ((ANN, 9, 20), (BEN, 3, 10))]
    games = [
        held(n, *(Measurement("failed_bid_rate", hits / of, who, counted=of) for who, hits, of in own))
        for n, own in enumerate(counts)
    ]
    analysis = analysed(games, "failed_bid_rate")
    ann, everyone = (estimate(analysis, "failed_bid_rate", who) for who in (ANN, EVERYONE))
    assert numbers(ann) == numbers(counted_share([1 / 4, 9 / 20], [4, 20]))
    assert numbers(everyone) == numbers(counted_share([1 / 10, 12 / 30], [10, 30]))
    assert (ann.mean, ann.over, everyone.mean) == (10 / 24, "values", pytest.approx(13 / 40))


def test_what_is_measured_at_places_is_estimated_at_each_and_over_all_with_the_game_as_a_cluster():
    days, skewed = [(5.0, 6.0), (4.0, 5.0), (5.0, 4.0)], ("skewed", (0, inf))
    rows = [
        held(n, *(Measurement("balance", one, ANN, at=at) for at, one in enumerate(two, 1)))
        for n, two in enumerate(days, 1)
    ]
    second, whole = (estimate(analysed(rows, "balance"), "balance", at=at) for at in (2, None))
    assert numbers(second) == numbers(mean_of([6, 5, 4], *skewed))
    assert numbers(whole) == numbers(clustered_mean([5, 6, 4, 5, 5, 4], [1, 1, 2, 2, 3, 3], *skewed))
    assert (second.over, whole.over, whole.games) == ("games", "values", 3)


# ---------------------------------------------------------------- comparisons

WEIGHTS = {"plain": 0.9, "wise": 1.7}
WISER = {"metric": "profit", "of": {"arm": "wise", "bidder": ANN}, "against": {"arm": "plain", "bidder": ANN}}
RIVALS = {"metric": "profit", "of": {"bidder": ANN}, "against": {"bidder": BEN}}
EVERY = {"metric": "profit", "of": {"arm": "wise"}, "against": {"arm": "plain"}}


def weighted(repeats, conditions=("poor",)):
    """Return games in which Ann has a multiple of the repeat, by arm."""
    return [
        held(n, *profits(n * weight, n % 3), arm=arm, condition=condition)
        for n in range(1, repeats + 1)
        for arm, weight in WEIGHTS.items()
        for condition in conditions
    ]


def compared(games, comparison=WISER):
    """Return the difference of one planned comparison."""
    [found] = analysed(games, comparison["metric"], comparisons=[comparison]).differences
    return found


def test_what_a_metric_is_about_stands_by_number_where_it_is_numbered():
    abouts = ("2", "Lot 10", "10", "Lot 9", "1", "", "[10, 11)", "[2, 10)", "9" * 5000)
    rows = [Measurement("priority", 1.0, ANN, about, 1) for about in abouts]
    found = [one.about for one in analysed([held(1, *rows)], "priority").estimates if one.at == 1]
    assert found[-len(abouts) :] == ["", "1", "2", "10", "9" * 5000, "Lot 9", "Lot 10", "[2, 10)", "[10, 11)"]


def test_a_comparison_pairs_games_of_the_same_repeat():
    wise = of_ann("profit", [5.0, 51.0, -17.0, 12.0], arm="wise")
    found, test = compared(of_ann("profit", [3.0, 50.0, -20.0, 8.0]) + wise[::-1]), paired([2, 1, 3, 4])
    assert numbers(found) == numbers(test.difference)
    assert (found.p, found.effect, found.pairs, found.missing) == (test.p, test.effect, 4, 0)


def test_what_the_seller_gets_is_told_once_for_each_comparison_of_one_bidder_in_two_cells_if_it_is_measured():
    def rows(n, weight):
        return *profits(1.0, 2.0), Measurement("spent", 1.0, ANN), Measurement("revenue", n * weight)

    games = [held(n, *rows(n, weight), arm=arm) for n in range(1, 5) for arm, weight in WEIGHTS.items()]
    twice = [WISER, WISER | {"metric": "spent"}]
    for metrics, planned, sellers in ((("profit", "spent", "revenue"), twice, 1), (BOTH, [EVERY, RIVALS], 0)):
        found = analysed(games, *metrics, comparisons=planned).companions
        told = [one.mean for one in found if one.of.bidder == "the seller"]
        assert told == [pytest.approx(2.5 * (1.7 - 0.9))] * sellers
        assert sellers or not found
    assert not [one for one in analysed(weighted(4), comparisons=twice[:1]).companions if "seller" in one.of.bidder]


def test_a_yes_or_no_is_compared_by_mcnemars_test():
    games = of_ann("survived", [0, 0, 0, 0, 0, 1]) + of_ann("survived", [1] * 6, arm="wise")
    found = compared(games, WISER | {"metric": "survived"})
    assert (found.mean, found.p) == (pytest.approx(5 / 6), pytest.approx(2 / 2**5))  # five wins, no loss, one draw
    assert (found.method, found.low < 0, found.high) == ("t and McNemar", True, 1)


def test_a_comparison_goes_through_what_it_leaves_open_and_holm_through_all_of_it():
    both = ("poor", "rich")
    found = analysed(weighted(6, conditions=both), conditions=both, comparisons=[WISER, RIVALS]).differences
    arms = ("wise", "plain", "wise")
    assert [(one.of.arm, one.of.condition) for one in found] == [(arm, condition) for arm in arms for condition in both]
    assert all(one.against.condition == one.of.condition for one in found)
    assert [one.p_holm for one in found] == holm([one.p for one in found])
    assert found[0].p_holm == pytest.approx(6 * found[0].p)


def test_leaving_arms_out_leaves_the_family_as_it_was_planned():
    of = {arm: {"arm": arm, "bidder": ANN} for arm in ("plain", "wise", "keen")}
    planned = [{"metric": "profit", "of": of[arm], "against": of["plain"]} for arm in ("wise", "keen")]
    experiment = designed("profit", arms=(*of,), comparisons=[*planned, RIVALS])
    found = analyse(Results(chosen_arms(experiment, ["plain", "wise"]), tuple(weighted(8)))).differences
    assert [one.note for one in found if one.p is None] == ["arm not run: keen", "arm not run: keen"]
    assert [one.pairs for one in found] == [8, 0, 8, 8, 0]
    assert [one.p_holm for one in found] == holm([one.p for one in found])


def test_two_metrics_of_one_bidder_are_compared_game_by_game():
    both = ("matched_engagement", "unmatched_engagement")
    of = {"metric": both[0], "of": {"bidder": ANN}, "against": {"bidder": ANN, "metric": both[1]}}
    values = [(3.0, 1.0), (2.0, 2.0), (5.0, 1.0)]
    games = [held(n, *map(Measurement, both, pair, (ANN, ANN))) for n, pair in enumerate(values, 1)]
    [found] = analysed(games, *both, arms=("plain",), comparisons=[of]).differences
    assert numbers(found) == numbers(paired([2, 0, 4], "skewed").difference)


def test_what_is_measured_item_by_item_is_compared_by_the_mean_of_each_game_and_the_games_own_as_everyones():
    def bids(n, arm, *counts):
        rows = [Measurement("engagement", count, ANN, item, at) for at, (item, count) in enumerate(counts, 1)]
        return held(n, *rows, Measurement("survivors", 5.0 if arm == "wise" else float(n)), arm=arm)

    games = [bids(n, "plain", ("Vase", 1.0), ("Urn", 3.0)) for n in (1, 2)]
    games += [bids(n, "wise", ("Clock", 4.0), ("Urn", 4.0 + n)) for n in (1, 2)]
    found = compared(games, WISER | {"metric": "engagement"})
    assert (found.mean, found.pairs) == ((2.5 + 3) / 2, 2)
    assert compared(games, EVERY | {"metric": "survivors"}).mean == 3.5


# ---------------------------------------------------------------- correlations and ratings


def test_a_correlation_joins_bidder_and_place_over_all_games():
    def game(n, ann, ben=((3, 0), (2, 3), (1, 7))):
        pairs = [(who, at, pair) for who, own in ((ANN, ann), (BEN, ben)) for at, pair in enumerate(own, 1)]
        names = ("priority_initial", "bids")
        return held(
            n, *(Measurement(names[of], float(pair[of]), who, at=at) for of in (0, 1) for who, at, pair in pairs)
        )

    games = [game(1, [(1, 1), (2, 2)]), *(game(n, [(1, 1), (2, 2), (3, 4)]) for n in range(2, 7))]
    analysis = analysed(games, "priority_initial", correlations=[("priority_initial", "bids")])
    found = {one.bidder: one for one in analysis.correlations if one.arm == "plain"}
    assert (found[ANN].rho, found[BEN].rho) == (pytest.approx(1), pytest.approx(-1))
    whole = found.pop(EVERYONE)
    assert (set(found), whole.games, whole.pairs, found[ANN].pairs) == ({ANN, BEN}, 6, 35, 17)
    assert whole.low < whole.rho < whole.high
    assert whole.p < 1


def test_games_are_measured_by_what_is_correlated_and_rated_and_a_series_is_rated_by_each_of_its_auctions():
    experiment = designed("profit", correlations=[("bids", "won"), ("profit", "won")], trueskill=True)
    assert measured(experiment) == ("profit", "bids", "won", "rank")
    experiment = designed("series_rank", trueskill=True, auction={"series": {"auctions": 3}})
    assert measured(experiment) == ("series_rank",)
    ranks = [
        Measurement("series_rank", rank, name, at=at) for name, rank in ((ANN, 1.0), (BEN, 2.0)) for at in range(3)
    ]
    ann, ben = analyse(Results(experiment, (held(1, *ranks), held(2, *ranks)))).ratings
    assert (ann.bidder, ann.games, ben.games) == (ANN, 6, 6)
    assert ann.mu > 25 > ben.mu


# ---------------------------------------------------------------- all of it

FULL = designed(
    "profit", "survived", "bid_increase", conditions=("poor", "rich"), correlations=[("priority_initial", "bids")],
    comparisons=[WISER, EVERY | {"metric": "bid_increase"}], trueskill=True,
)  # fmt: skip
VALUES = st.sampled_from([0.0, 0.1, 1.0, 2.0, 1000.0])
MEASUREMENTS = st.lists(
    st.builds(
        Measurement, st.sampled_from(["profit", "bid_increase", "priority_initial", "bids"]), VALUES | st.none(),
        st.sampled_from([ANN, BEN]), at=st.sampled_from([None, 1, 2]), missing=st.just("lost"),
    ),
    max_size=8,
).map(tuple)  # fmt: skip


@st.composite
def any_results(draw):
    def game(repeat, arm, condition):
        rows = draw(st.none() | MEASUREMENTS)
        return failed(repeat, arm, condition) if rows is None else held(repeat, *rows, arm=arm, condition=condition)

    repeats = range(1, draw(st.integers(1, 6)) + 1)
    return Results(FULL, tuple(game(*cell) for cell in product(repeats, ("plain", "wise"), ("poor", "rich"))))


@pytest.mark.slow
@given(any_results(), st.randoms())
@settings(max_examples=5)
def test_records_of_any_shape_are_analysed_without_nan_whatever_their_order(results, random):
    analysis, shuffled = analyse(results), random.sample(results.records, len(results.records))
    again = analyse(replace(results, records=tuple(shuffled)))
    for kind in ("estimates", "differences", "correlations", "ratings", "spreads", "companions", "variance"):
        assert getattr(again, kind) == getattr(analysis, kind)
    for found in (*analysis.estimates, *analysis.differences, *analysis.correlations, *analysis.ratings):
        fields = (getattr(found, name) for name in type(found).__slots__)
        assert all(isfinite(value) for value in fields if isinstance(value, float))
    for found in analysis.estimates:
        assert found.games + found.missing == len(results.records) / 4
        assert sum(int(why.rpartition("(")[2][:-1]) for why in found.why) == found.missing
    assert {one.metric for one in analysis.estimates} >= set(measured(FULL))
