"""The analysis of records: what is averaged, paired, counted as missing, and which interval it takes."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor.evaluation._analysis.findings import Analysis, analyse
from harbor.evaluation._analysis.frames import frame
from harbor.evaluation._analysis.means import clustered_mean, counted_share, mean_of, share_of
from harbor.evaluation._analysis.statistics import holm, paired
from harbor.evaluation._experiments.choices import chosen_arms
from harbor.evaluation._experiments.design import EVERYONE, Experiment, measured
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement, metric_of

ANN, BEN = "Ann", "Ben"


def designed(*metrics, arms=("plain", "wise"), conditions=("poor",), **more):
    named = {"arms": [{"name": name} for name in arms], "conditions": [{"name": name} for name in conditions]}
    texts = {"name": "trial", "title": "A trial", "question": "Does it help?", "source": "here"}
    return Experiment.model_validate(texts | named | {"repeats": 3, "auction": {}, "metrics": metrics} | more)


def held(repeat, *measurements, arm="plain", condition="poor"):
    return TrialRecord(arm, condition, repeat, 100 + repeat, "finished", measurements=measurements)


def failed(repeat, arm="plain", condition="poor", why="the model fell silent"):
    return TrialRecord(arm, condition, repeat, 100 + repeat, "failed", why)


def profits(ann, ben=0.0):
    return Measurement("profit", ann, ANN), Measurement("profit", ben, BEN)


def of_ann(metric, values, **cell):
    """Return a game of each value of Ann, in order."""
    return [held(n, Measurement(metric, float(value), ANN), **cell) for n, value in enumerate(values, 1)]


def analysed(games, *metrics, **design):
    return analyse(Results(designed(*metrics or ("profit",), **design), tuple(games)))


def estimate(analysis, metric="profit", bidder=ANN, arm="plain", condition="poor", about="", at=None):
    wanted = {"metric": metric, "bidder": bidder, "arm": arm, "condition": condition, "about": about, "at": at}
    [found] = [one for one in analysis.estimates if all(getattr(one, name) == of for name, of in wanted.items())]
    return found


def numbers(found):
    return found.mean, found.sd, found.low, found.high, found.method


# ---------------------------------------------------------------- estimates


def test_a_bidder_has_the_t_interval_of_its_games_and_everyone_that_of_the_mean_over_the_bidders_of_each():
    analysis = analysed(held(n, *profits(*two)) for n, two in enumerate([(10.0, 30.0), (0.0, 2.0), (7.0, -1.0)], 1))
    for bidder, means in ((ANN, [10, 0, 7]), (EVERYONE, [20, 1, 3])):
        found = estimate(analysis, bidder=bidder)
        assert numbers(found) == numbers(mean_of(means))
        assert (found.games, found.missing, found.why) == (3, 0, ())


def test_what_is_the_games_own_is_nobodys_mean():
    found = analysed((held(n, Measurement("survivors", float(n))) for n in (1, 2, 3)), "survivors").estimates
    assert [(one.bidder, one.mean) for one in found if one.arm == "plain"] == [("", 2)]


def test_failed_unfinished_and_unmeasured_games_are_counted_with_their_reasons():
    games = [
        held(1, *profits(1.0)), held(2, Measurement("profit", None, ANN, missing="nothing was for sale")), failed(3),
        failed(4), TrialRecord("plain", "poor", 5, 105, "unfinished"),
        held(6, Measurement("profit", None, missing="the log opens no ascending auction")), held(7),
    ]  # fmt: skip
    found = estimate(analysed(games))
    assert (found.games, found.missing, found.mean, found.low) == (1, 6, 1, None)
    assert found.why == (
        "failed: the model fell silent (2)", "not measured in this game (1)", "nothing was for sale (1)",
        "the log opens no ascending auction (1)", "unfinished (1)",
    )  # fmt: skip
    assert found.note == "one value has no spread"


def test_a_cell_without_a_finished_game_has_its_metrics_without_numbers():
    analysis = analysed((failed(1), held(1, *profits(1.0), arm="wise")), "profit", "rank")
    for metric in ("profit", "rank"):
        found = estimate(analysis, metric, EVERYONE)
        assert (found.games, found.missing, found.mean, found.method) == (0, 1, None, "none")
    assert estimate(analysis, "profit", arm="wise").mean == 1
    assert estimate(analysis, "rank", EVERYONE, arm="wise").why == ("not measured in this game (1)",)


def test_a_binary_metric_takes_wilson_for_a_bidder_and_t_for_everyone():
    rows = [
        [Measurement("survived", float(n > least), who) for least, who in ((1, ANN), (2, BEN))] for n in range(1, 5)
    ]
    analysis = analysed((held(n, *row) for n, row in enumerate(rows, 1)), "survived")
    assert numbers(estimate(analysis, "survived")) == numbers(share_of([0, 1, 1, 1]))
    assert numbers(estimate(analysis, "survived", EVERYONE)) == numbers(mean_of([0, 0.5, 1, 1], "mean", (0, 1)))


def test_a_skewed_metric_takes_halls_t_too_also_where_it_is_broken_down():
    values = [(n % 7) ** 3 / 10 for n in range(30)]
    places = (("", None), ("Vase", 2))
    games = [held(n, *(Measurement("engagement", one, ANN, *of) for of in places)) for n, one in enumerate(values)]
    analysis = analysed(games, "engagement")
    whole, broken_down = (estimate(analysis, "engagement", about=about, at=at) for about, at in places)
    assert numbers(whole) == numbers(broken_down) == pytest.approx(numbers(mean_of(values, "skewed", (0, inf))))
    assert whole.method == "t and Hall's t"


@pytest.mark.parametrize(("metric", "values", "least", "most"), [
    ("acquisition_rate", (0.1, 0.5, 1.0), 0, 1), ("profit_ratio", (0.1, 0.5, 1.0), None, None),
    ("priority_initial", (1.0, 3.0), 1, 3), ("items_won", (1.0, 5.0), 0, None),
    ("final_profiling_error", (0.1, 0.3, 2.0), 0, None), ("winning_bid", (1.0, 2.0, 40.0), 0, None),
])  # fmt: skip
def test_an_interval_ends_where_its_unit_does_and_nowhere_else(metric, values, least, most):
    found = estimate(analysed(of_ann(metric, values), metric), metric)
    free = mean_of(values, metric_of(metric).interval)
    assert least is None or free.low < least
    assert found.low == (free.low if least is None else least)
    assert found.high == (free.high if most is None else most)


def test_ranks_lie_between_1_and_the_number_of_bidders():
    analysis = analysed((held(n, *ranks("rank", BEN if n < 3 else ANN)) for n in (1, 2, 3)), "rank")
    assert numbers(estimate(analysis, "rank")) == numbers(mean_of([2, 2, 1], "skewed", (1, 2)))
    assert (estimate(analysis, "rank").low, estimate(analysis, "rank").high) == (1, 2)


def test_counts_out_of_counts_are_one_share_of_all_that_was_counted():
    def failed_bids(repeat, *found):
        return held(repeat, *(Measurement("failed_bid_rate", hits / of, who, counted=of) for who, hits, of in found))

    games = (failed_bids(1, (ANN, 1, 4), (BEN, 0, 6)), failed_bids(2, (ANN, 9, 20), (BEN, 3, 10)))
    analysis = analysed(games, "failed_bid_rate")
    ann, everyone = (estimate(analysis, "failed_bid_rate", who) for who in (ANN, EVERYONE))
    assert numbers(ann) == numbers(counted_share([1 / 4, 9 / 20], [4, 20]))
    assert numbers(everyone) == numbers(counted_share([1 / 10, 12 / 30], [10, 30]))
    assert (ann.mean, ann.over, everyone.mean) == (10 / 24, "values", pytest.approx(13 / 40))


def test_bids_of_one_game_are_one_cluster():
    bids = {1: [0.1, 0.2], 2: [0.9], 3: [0.4, 0.4]}
    games = [held(n, *(Measurement("bid_increase", bid, ANN) for bid in own)) for n, own in bids.items()]
    found = estimate(analysed(games, "bid_increase"), "bid_increase")
    assert numbers(found) == numbers(clustered_mean([0.1, 0.2, 0.9, 0.4, 0.4], [1, 1, 2, 3, 3], "skewed"))
    assert (found.games, found.over, found.method) == (3, "values", "cluster-robust t and Hall's t")


def test_what_is_measured_at_places_is_estimated_at_each_and_over_all():
    days = [(5.0, 6.0), (4.0, 5.0), (5.0, 4.0)]
    rows = [[Measurement("health", value, ANN, at=at) for at, value in enumerate(two, 1)] for two in days]
    analysis = analysed((held(n, *row) for n, row in enumerate(rows, 1)), "health")
    second, whole = estimate(analysis, "health", at=2), estimate(analysis, "health")
    assert numbers(second) == numbers(mean_of([6, 5, 4]))
    assert (whole.mean, whole.method) == (pytest.approx(29 / 6), "cluster-robust t")
    assert (second.over, whole.over) == ("games", "values")


# ---------------------------------------------------------------- comparisons

WEIGHTS = {"plain": 0.9, "wise": 1.7}
WISER = {"metric": "profit", "of": {"arm": "wise", "bidder": ANN}, "against": {"arm": "plain", "bidder": ANN}}
RIVALS = {"metric": "profit", "of": {"bidder": ANN}, "against": {"bidder": BEN}}
EVERY = {"metric": "profit", "of": {"arm": "wise"}, "against": {"arm": "plain"}}


def weighted(repeats, ben=lambda n: n % 3, weights=WEIGHTS, conditions=("poor",)):
    """Return games in which Ann has a multiple of the repeat, by arm."""
    return [
        held(n, *profits(n * weight, ben(n)), arm=arm, condition=condition)
        for n in range(1, repeats + 1)
        for arm, weight in weights.items()
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


def test_beside_the_gain_of_a_bidder_stands_what_its_rivals_lose_on_average_in_no_family_of_tests():
    def game(n, arm, *profits):
        who = zip(profits, (ANN, BEN, "Cho"), strict=True)
        return held(n, *(Measurement("profit", one, name) for one, name in who), arm=arm)

    games = [game(n, "plain", 0.0, 10.0, 20.0) for n in (1, 2, 3, 4)]
    games += [game(n, "wise", 5.0 + n, 10.0 - n, 20.0 - 3 * n) for n in (1, 2, 3, 4)]
    analysis = analysed(games, comparisons=[WISER])
    [found], [own] = analysis.companions, analysis.differences
    assert numbers(found) == numbers(paired([-2, -4, -6, -8]).difference)
    assert (found.of.bidder, found.of.arm, found.against.arm) == ("rivals of Ann", "wise", "plain")
    assert (found.p_holm, own.p_holm) == (None, own.p)
    assert own.p is not None


@pytest.mark.parametrize(("metrics", "sellers"), [(("profit", "spent", "revenue"), 1), (("profit", "spent"), 0)])
def test_what_the_seller_gets_is_told_once_for_each_pair_of_cells_if_it_is_measured(metrics, sellers):
    def rows(n, weight):
        found = *profits(1.0, 2.0), Measurement("spent", 1.0, ANN), Measurement("revenue", n * weight)
        return [one for one in found if one.metric in metrics]

    games = [held(n, *rows(n, weight), arm=arm) for n in range(1, 5) for arm, weight in WEIGHTS.items()]
    found = analysed(games, *metrics, comparisons=[WISER, WISER | {"metric": "spent"}]).companions
    told = [one.mean for one in found if one.of.bidder == "the seller"]
    assert told == [pytest.approx(2.5 * (1.7 - 0.9))] * sellers


@pytest.mark.parametrize("comparison", [EVERY, RIVALS], ids=["of everyone", "of two bidders"])
def test_nobody_stands_beside_a_comparison_that_is_not_of_one_bidder_in_two_cells(comparison):
    assert analysed(weighted(4, lambda _: 1.0), comparisons=[comparison]).companions == ()


def test_a_yes_or_no_is_compared_by_mcnemars_test():
    games = of_ann("survived", [0, 0, 0, 0, 0, 1]) + of_ann("survived", [1] * 6, arm="wise")
    found = compared(games, WISER | {"metric": "survived"})
    assert (found.mean, found.p) == (pytest.approx(5 / 6), pytest.approx(2 / 2**5))  # five wins, no loss, one draw
    assert (found.method, found.low < 0, found.high) == ("t and McNemar", True, 1)


def test_a_failed_game_takes_its_pair_out_and_is_counted():
    games = [held(1, *profits(1.0)), failed(2), held(3, *profits(2.0)), held(4, *profits(4.0))]
    games += [held(n, *profits(10.0), arm="wise") for n in (1, 2, 3)] + [held(4, arm="wise")]
    found = compared(games)
    assert (found.mean, found.pairs, found.missing) == (8.5, 2, 2)


def test_a_comparison_goes_through_what_it_leaves_open_and_holm_through_all_of_it():
    both = ("poor", "rich")
    found = analysed(weighted(6, conditions=both), conditions=both, comparisons=[WISER, RIVALS]).differences
    arms = ("wise", "plain", "wise")
    assert [(one.of.arm, one.of.condition) for one in found] == [(arm, condition) for arm in arms for condition in both]
    assert all(one.against.condition == one.of.condition for one in found)
    assert [one.p_holm for one in found] == holm([one.p for one in found])
    assert found[0].p_holm == pytest.approx(6 * found[0].p)


def test_a_comparison_without_pairs_has_no_p_and_counts_in_the_family_all_the_same():
    rivals = {"metric": "profit", "of": {"arm": "plain", "bidder": ANN}, "against": {"arm": "plain", "bidder": BEN}}
    games = [held(n, *profits(float(n**2))) for n in (1, 2, 3)] + [failed(n, arm="wise") for n in (1, 2, 3)]
    empty, full = analysed(games, comparisons=[WISER, rivals]).differences
    assert (empty.pairs, empty.missing, empty.mean, empty.p, empty.p_holm) == (0, 3, None, None, None)
    assert empty.note == "no values"
    assert full.p_holm == pytest.approx(2 * full.p)


def test_leaving_arms_out_leaves_the_family_as_it_was_planned():
    of = {arm: {"arm": arm, "bidder": ANN} for arm in ("plain", "wise", "keen")}
    planned = [{"metric": "profit", "of": of[arm], "against": of["plain"]} for arm in ("wise", "keen")]
    experiment = designed("profit", arms=(*of,), comparisons=[*planned, RIVALS])
    keen = [held(n, *profits(n * (0.9 + 0.01 * (-1) ** n), n % 3), arm="keen") for n in range(1, 9)]
    found = analyse(Results(chosen_arms(experiment, ["plain", "wise"]), tuple(weighted(8)))).differences
    assert [one.note for one in found if one.p is None] == ["arm not run: keen", "arm not run: keen"]
    assert (len(found), [one.pairs for one in found]) == (5, [8, 0, 8, 8, 0])
    whole = analyse(Results(experiment, (*weighted(8), *keen))).differences
    held_too = [(one, other) for one, other in zip(found, whole, strict=True) if one.p is not None]
    assert all(one.p == other.p and one.p_holm >= other.p_holm for one, other in held_too)


def test_two_metrics_of_one_bidder_are_compared_game_by_game():
    both = ("matched_engagement", "unmatched_engagement")
    of = {"metric": both[0], "of": {"bidder": ANN}, "against": {"bidder": ANN, "metric": both[1]}}
    values = [(3.0, 1.0), (2.0, 2.0), (5.0, 1.0)]
    games = [held(n, *map(Measurement, both, pair, (ANN, ANN))) for n, pair in enumerate(values, 1)]
    [found] = analysed(games, *both, arms=("plain",), comparisons=[of]).differences
    assert (found.of.metric, found.against.metric) == both
    assert numbers(found) == numbers(paired([2, 0, 4], "skewed").difference)


def test_what_is_measured_item_by_item_is_compared_by_the_mean_of_each_game():
    def bids(n, arm, *counts):
        rows = [Measurement("engagement", count, ANN, item, at) for at, (item, count) in enumerate(counts, 1)]
        return held(n, *rows, arm=arm)

    games = [bids(n, "plain", ("Vase", 1.0), ("Urn", 3.0)) for n in (1, 2)]
    games += [bids(n, "wise", ("Clock", 4.0), ("Urn", 4.0 + n)) for n in (1, 2)]
    found = compared(games, WISER | {"metric": "engagement"})
    assert (found.mean, found.pairs) == ((2.5 + 3) / 2, 2)


def test_everyones_share_of_the_games_own_is_the_game():
    games = [held(n, Measurement("survivors", float(n))) for n in (1, 2)]
    games += [held(n, Measurement("survivors", 5.0), arm="wise") for n in (1, 2)]
    assert compared(games, EVERY | {"metric": "survivors"}).mean == 3.5


# ---------------------------------------------------------------- correlations and ratings


def planned_and_bid(repeat, ann, ben):
    def rows(metric, which):
        pairs = [(bidder, at, pair) for bidder, own in ((ANN, ann), (BEN, ben)) for at, pair in enumerate(own, 1)]
        return [Measurement(metric, float(pair[which]), bidder, at=at) for bidder, at, pair in pairs]

    return held(repeat, *rows("priority_initial", 0), *rows("bids", 1))


def test_a_correlation_joins_bidder_and_place_over_all_games():
    games = [planned_and_bid(n, [(1, 1), (2, 2), (3, 4)], [(3, 0), (2, 3), (1, 7)]) for n in range(1, 7)]
    games[0] = planned_and_bid(1, [(1, 1), (2, 2)], [(3, 0), (2, 3), (1, 7)])
    analysis = analysed(games, "priority_initial", correlations=[("priority_initial", "bids")])
    found = {one.bidder: one for one in analysis.correlations if one.arm == "plain"}
    assert set(found) == {EVERYONE, ANN, BEN}
    assert (found[ANN].rho, found[BEN].rho) == (pytest.approx(1), pytest.approx(-1))
    assert (found[EVERYONE].games, found[EVERYONE].pairs, found[ANN].pairs) == (6, 35, 17)
    assert found[EVERYONE].name == "priority_initial ~ bids"
    assert found[EVERYONE].low < found[EVERYONE].rho < found[EVERYONE].high
    assert found[EVERYONE].p < 1


def test_a_correlation_without_common_rows_says_so():
    games = [held(n, *profits(1.0), Measurement("bids", 2.0, ANN, at=1)) for n in (1, 2)]
    found = analysed(games, correlations=[("profit", "bids")]).correlations[0]
    assert (found.pairs, found.rho, found.note) == (0, None, "fewer than 3 pairs")


def ranks(metric, winner, at=None):
    return [Measurement(metric, float(1 if bidder == winner else 2), bidder, at=at) for bidder in (ANN, BEN)]


def test_who_wins_more_games_is_rated_higher():
    games = [held(n, *ranks("rank", ANN if n % 4 else BEN)) for n in range(1, 9)]
    ann, ben = analysed(games, trueskill=True).ratings
    assert (ann.bidder, ann.games, ann.orders) == (ANN, 8, 100)
    assert ann.mu > 25 > ben.mu
    assert ann.mu_low < ann.mu < ann.mu_high


def test_ratings_stand_in_the_order_of_the_design():
    ranked = [held(1, *ranks("rank", ANN), arm=arm) for arm in ("plain", "wise")]
    found = analysed(ranked, trueskill=True, arms=("wise", "plain")).ratings
    assert [one.arm for one in found] == ["wise", "wise", "plain", "plain"]


def test_a_series_is_rated_by_each_of_its_auctions():
    experiment = designed("series_rank", trueskill=True, auction={"series": {"auctions": 3}})
    assert measured(experiment) == ("series_rank",)
    games = [held(n, *(row for at in (1, 2, 3) for row in ranks("series_rank", ANN, at))) for n in (1, 2)]
    assert {one.bidder: one.games for one in analyse(Results(experiment, tuple(games))).ratings} == {ANN: 6, BEN: 6}


def test_games_are_measured_by_what_is_correlated_and_rated_too():
    experiment = designed("profit", correlations=[("bids", "won"), ("profit", "won")], trueskill=True)
    assert measured(experiment) == ("profit", "bids", "won", "rank")


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
    games = [
        draw(
            st.builds(failed, st.just(repeat), st.just(arm), st.just(condition))
            | st.builds(lambda rows, r, a, c: held(r, *rows, arm=a, condition=c), MEASUREMENTS, *map(st.just, cell))
        )
        for repeat in range(1, draw(st.integers(1, 6)) + 1)
        for arm in ("plain", "wise")
        for condition in ("poor", "rich")
        for cell in [(repeat, arm, condition)]
    ]
    return Results(FULL, tuple(games))


def all_of(analysis: Analysis) -> list[object]:
    """Give each kind of statistics."""
    kinds = ("estimates", "differences", "correlations", "ratings", "spreads", "companions", "variance")
    return [getattr(analysis, kind) for kind in kinds]


@pytest.mark.slow
@given(any_results(), st.randoms())
@settings(max_examples=15)
def test_records_of_any_shape_are_analysed_without_nan_whatever_their_order(results, random):
    shuffled = replace(results, records=tuple(random.sample(results.records, len(results.records))))
    analysis = analyse(results)
    assert all_of(analyse(shuffled)) == all_of(analysis)
    for found in (*analysis.estimates, *analysis.differences, *analysis.correlations, *analysis.ratings):
        fields = (getattr(found, name) for name in type(found).__slots__)
        assert all(isfinite(value) for value in fields if isinstance(value, float))
    for found in analysis.estimates:
        assert found.games + found.missing == len(results.records) / 4
        assert sum(int(why.rpartition("(")[2][:-1]) for why in found.why) == found.missing
    assert {one.metric for one in analysis.estimates} >= set(measured(FULL))


def test_resampling_does_not_hang_on_the_order_of_records():
    metrics = ("engagement", "bid_increase")
    games = [
        held(n, *(Measurement(metric, 1 / (n + place), ANN) for metric in metrics for place in range(1, 3)), arm=arm)
        for n in range(1, 26)
        for arm in ("plain", "wise")
    ]
    games += [held(26, Measurement("engagement", 3.0, BEN))]
    one, other = (
        analysed(order, *metrics, comparisons=[WISER | {"metric": "engagement"}]) for order in (games, games[::-1])
    )
    assert all_of(one) == all_of(other)


def test_the_table_of_measurements_has_a_row_each_and_a_type_a_column():
    table = frame(Results(designed("profit"), (held(1, *profits(1.0)), failed(2), held(3))))
    assert len(table) == 2
    assert [*table] == "arm condition repeat draw seed status metric bidder about at value missing counted".split()  # noqa: SIM905
    assert (str(table["at"].dtype), str(table["value"].dtype)) == ("Int64", "float64")
    assert [str(kind) for kind in frame(Results(designed("profit"), ())).dtypes] == [str(kind) for kind in table.dtypes]
