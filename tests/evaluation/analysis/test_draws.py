"""The draw is the unit: games that share seed, items and order count as one in intervals, tests, ratings and power."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harbor.evaluation._analysis.between import ONE_SIDE, OTHER_ROTATION, contrasts
from harbor.evaluation._analysis.comparisons import COPIES, ONE_DRAW_ONLY
from harbor.evaluation._analysis.correlations import spearman
from harbor.evaluation._analysis.findings import Analysis, analyse
from harbor.evaluation._analysis.levels import Question, unreachable
from harbor.evaluation._analysis.means import clustered_mean, counted_share, mean_of, per_draw
from harbor.evaluation._analysis.power import games_needed, planned
from harbor.evaluation._analysis.statistics import paired
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._report.comparing.side_by_side import Compared
from harbor.evaluation._report.comparing.side_by_side import verdict as compared_verdict
from harbor.evaluation._report.page.verdict import caveats, headline, verdicts
from harbor.evaluation._report.plots.curves import mean_curve
from harbor.evaluation._report.tabular.formatting import MINUS
from harbor.evaluation._report.tabular.listings import of_analysis
from harbor.evaluation._report.tabular.loading import Loaded

ANN, BEN, CHO = "Ann", "Ben", "Cho"
WISER = Comparison(metric="profit", of=Side(arm="wise", bidder=ANN), against=Side(arm="plain", bidder=ANN))


def design(repeats: int = 15, metrics=("profit",), rotate: str = "within", **changes) -> Experiment:
    """Three personas turn in three seats, so three repeats share a draw."""
    seats = [{"name": name, "model": "@1", "persona": f"@{place}"} for place, name in enumerate((ANN, BEN, CHO), 1)]
    settings = {
        "name": "turning",
        "title": "Turning",
        "question": "Does it help?",
        "source": "here",
        "repeats": repeats,
        "rotate_personas": rotate,
        "auction": {"bidders": seats},
        "arms": (Variation(name="plain"), Variation(name="wise", auction={"rules": {"increment_share": 0.2}})),
        "metrics": metrics,
        "comparisons": (WISER,),
    }
    return Experiment.model_validate(settings | changes)


def games(experiment: Experiment, values, metric: str = "profit", **changes) -> Results:
    """Records in which `values(arm, repeat, bidder)` was measured; None is a failed game."""
    records = []
    for arm in experiment.arms:
        for repeat in range(1, experiment.repeats + 1):
            of = {name: values(arm.name, repeat, name) for name in (ANN, BEN, CHO)}
            ended = TrialRecord(arm.name, "all", repeat, 100 + (repeat - 1) // 3, "finished", **changes)
            measured = tuple(Measurement(metric, value, name) for name, value in of.items() if value is not None)
            failed = replace(ended, status="failed", detail="silent")
            records.append(failed if None in of.values() else replace(ended, measurements=measured))
    return Results(experiment, tuple(records))


def by_draw(values: list[float]) -> list[float]:
    return [fmean(values[first : first + 3]) for first in range(0, len(values), 3)]


RNG = np.random.default_rng(7)
PLAIN = list(np.repeat(RNG.normal(1000, 200, 5), 3) + RNG.normal(0, 20, 15))
WISE = [value + gain for value, gain in zip(PLAIN, np.repeat(RNG.normal(50, 40, 5), 3), strict=True)]


def noisy(arm: str, repeat: int, bidder: str) -> float:
    own = (WISE if arm == "wise" else PLAIN)[repeat - 1]
    return own if bidder == ANN else own / (2 if bidder == BEN else 3)


@pytest.fixture(scope="module")
def found() -> Analysis:
    return analyse(games(design(), noisy))


def of(found: Analysis, arm: str = "plain", bidder: str = ANN):
    return next(one for one in found.estimates if (one.arm, one.bidder) == (arm, bidder))


# ---------------------------------------------------------------- by draw


def test_an_estimate_has_the_interval_of_its_draws_and_says_how_many_they_are(found):
    one, wanted = of(found), mean_of(by_draw(PLAIN))
    assert (one.mean, one.low, one.high) == pytest.approx((wanted.mean, wanted.low, wanted.high))
    assert (one.games, one.draws, one.method) == (15, 5, "cluster-robust t")


def test_a_difference_is_tested_by_draw(found):
    [one] = found.differences
    wanted = paired(np.subtract(by_draw(WISE), by_draw(PLAIN)))
    assert (one.p, one.low, one.effect) == pytest.approx((wanted.p, wanted.difference.low, wanted.effect))
    assert (one.pairs, one.draws) == (15, 5)


def test_what_rivals_gain_has_an_interval_by_draw_and_no_p(found):
    [one] = found.companions
    assert (one.p, one.p_holm, one.pairs, one.draws) == (None, None, 15, 5)
    rivals = np.subtract(by_draw(WISE), by_draw(PLAIN)) * (1 / 2 + 1 / 3) / 2
    assert (one.low, one.high) == pytest.approx((paired(rivals).difference.low, paired(rivals).difference.high))


def test_where_every_repeat_is_a_draw_of_its_own_the_game_is_the_unit():
    one = of(analyse(games(design(rotate="pool"), noisy)))
    assert (one.low, one.high) == pytest.approx((mean_of(PLAIN).low, mean_of(PLAIN).high))
    assert (one.games, one.draws, one.method) == (15, 15, "t")


def test_a_yes_or_no_of_games_that_share_a_draw_is_a_share_of_counts_by_draw():
    won = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    results = games(design(metrics=("won",), comparisons=()), lambda _, repeat, __: float(won[repeat - 1]), "won")
    one, wanted = of(analyse(results)), counted_share(by_draw(won), [3] * 5)
    assert (one.low, one.high, one.method) == (pytest.approx(wanted.low), pytest.approx(wanted.high), "Korn-Graubard")


def test_a_rating_by_single_games_has_its_interval_by_draw():
    ranks = {ANN: [1, 1, 1, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1], BEN: [2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]}

    def rank(arm: str, repeat: int, bidder: str) -> float:
        return float(
            ranks[bidder][repeat - 1] if bidder in ranks else 6 - sum(one[repeat - 1] for one in ranks.values())
        )

    for rotate, draws in (("within", 5), ("pool", 15)):
        results = games(design(metrics=("rank",), rotate=rotate, trueskill=True, comparisons=()), rank, "rank")
        one = next(one for one in analyse(results).ratings if one.bidder == ANN)
        mus = [25 + 6.675 * {1: 1, 2: 0, 3: -1}[place] for place in ranks[ANN]]
        wanted = mean_of(by_draw(mus) if draws == 5 else mus)
        assert (one.games, one.draws) == (15, draws)
        assert one.per_game_low == pytest.approx(wanted.low, rel=1e-3)


def test_a_correlation_takes_draws_as_wholes():
    rng, rows = np.random.default_rng(3), []
    experiment = design(
        metrics=("priority_initial", "bids"), correlations=(("priority_initial", "bids"),), comparisons=()
    )
    for repeat in range(1, 16):
        pairs = [(float(rng.integers(1, 4)), float(rng.integers(0, 5))) for _ in range(6)]
        measured = tuple(
            Measurement(name, value, ANN, at=at)
            for at, pair in enumerate(pairs, 1)
            for name, value in zip(("priority_initial", "bids"), pair, strict=True)
        )
        rows.append(TrialRecord("plain", "all", repeat, repeat, "finished", measurements=measured))
    one = next(one for one in analyse(Results(experiment, tuple(rows))).correlations if one.rho is not None)
    values = [
        [m.value for m in game.measurements if m.metric == name]
        for name in ("priority_initial", "bids")
        for game in rows
    ]
    x, y = (np.concatenate(values[first : first + 15]) for first in (0, 15))
    wanted = spearman(x, y, np.repeat(np.arange(5), 18))
    assert (one.low, one.high) == pytest.approx((wanted.low, wanted.high))
    assert (one.games, one.draws) == (15, 5)


def test_power_counts_whole_draws_and_its_pilot_is_of_draws():
    experiment, results = design(), games(design(), noisy)
    [need] = games_needed(results, planned(experiment), Question(50.0)).needs
    assert (need.pairs, need.draws) == (15, 5)
    assert need.sd == pytest.approx(np.std(np.subtract(by_draw(WISE), by_draw(PLAIN)), ddof=1))
    assert {need.games.least % 3, need.games.likely % 3, need.games.enough % 3} == {0}
    assert need.note == "rough: 5 draws say little of how differences vary"


def test_what_a_design_can_reach_is_counted_in_draws():
    won = design(3, ("won",), comparisons=(WISER.model_copy(update={"metric": "won"}),))
    assert "won (1 draw)" in unreachable(won)
    assert "--repeats 6 or more" in unreachable(won)


@pytest.mark.parametrize("repeats", [2, 3])
def test_a_design_of_one_draw_has_no_interval_and_no_p_and_says_why(repeats):
    found = analyse(games(design(repeats), noisy))
    [one] = found.differences
    assert (one.pairs, one.draws, one.low, one.p, one.note) == (repeats, 1, None, None, ONE_DRAW_ONLY)
    assert {(one.low, one.note) for one in found.estimates} == {(None, ONE_DRAW_ONLY)}


@given(
    st.lists(st.tuples(st.integers(1, 6), st.floats(-1e3, 1e3)), min_size=1, max_size=30),
)
def test_values_by_draw_have_the_mean_of_all_and_the_cluster_robust_interval(rows):
    draws, values = (np.array(column) for column in zip(*rows, strict=True))
    apart = per_draw(values, draws)
    assert len(apart) == len(set(draws))
    assert apart.mean() == pytest.approx(values.mean(), abs=1e-6)
    robust = clustered_mean(values, draws)
    if robust.low is not None:
        assert (robust.low, robust.high) == pytest.approx((mean_of(apart).low, mean_of(apart).high), abs=1e-6)


def test_tables_sentences_and_caveats_say_in_how_many_draws_games_are(found):
    results = games(design(), noisy)
    assert "15 pairs of games in 5 draws" in verdicts(results, found)[0].finding
    [row] = of_analysis(found, results.experiment)["comparisons"].rows
    assert (row[3].text, row[3].below) == ("15", "in 5 draws")
    few = games(design(6), noisy)
    assert "Few games: n = 2: intervals of so few draws say little." in caveats(few)


def test_the_band_of_a_curve_is_by_draw():
    rows = [
        {"arm": "plain", "condition": "all", "repeat": n, "draw": (n + 2) // 3, "at": 1, "value": value}
        for n, value in enumerate(PLAIN, 1)
    ]
    [[mean, low, high]] = mean_curve(pd.DataFrame(rows), "profit", (-np.inf, np.inf)).to_numpy()
    wanted = mean_of(by_draw(PLAIN))
    assert (mean, low, high) == pytest.approx((wanted.mean, wanted.low, wanted.high))


# ---------------------------------------------------------------- compare


def test_two_experiments_of_one_seed_each_are_compared_without_interval_or_p_and_it_is_said_why():
    one, other = (
        games(design(rotate="pool", same_seed=True, seed=seed), lambda _, repeat, __, seed=seed: 1e3 * seed + repeat)
        for seed in (1, 2)
    )
    found = contrasts({"one": one, "other": other})
    assert {(each.p, each.low, each.note) for each in found} == {(None, None, ONE_SIDE)}
    assert {each.mean for each in found} == {1000.0}
    shown = compared_verdict(Compared({"one": Loaded(one), "other": Loaded(other)}))
    assert shown.startswith("Nothing can be said")
    assert "all of one draw" in shown


def test_independent_experiments_are_compared_draw_by_draw():
    one, other = (games(design(seed=seed), noisy) for seed in (1, 2))
    shifted = games(design(seed=2), lambda *of: noisy(*of) * 1.1)
    for against in (other, shifted):
        found = next(
            each for each in contrasts({"one": one, "two": against}) if (each.bidder, each.arm) == (ANN, "plain")
        )
        factor = 1.1 if against is shifted else 1.0
        wanted = stats.ttest_ind([factor * value for value in by_draw(PLAIN)], by_draw(PLAIN), equal_var=False)
        assert (found.n, found.draws, found.against_draws) == (15, 5, 5)
        assert found.p == pytest.approx(wanted.pvalue)


# ---------------------------------------------------------------- clear results, and games that are missing


def single(values, metric: str = "profit", repeats: int = 15) -> tuple[Results, Analysis]:
    results = games(
        design(repeats, (metric,), "pool", comparisons=(WISER.model_copy(update={"metric": metric}),)), values, metric
    )
    return results, analyse(results)


def test_equal_differences_that_are_not_zero_are_shown_by_a_sign_test():
    results, found = single(lambda arm, repeat, _: 37.0 * repeat + 100 * (arm == "wise"))
    [one] = found.differences
    assert (one.p, one.low, one.method) == (2.0**-14, None, "sign flips")
    [said] = verdicts(results, found)
    assert said.shown
    assert "was $100.00 higher" in said.finding
    assert said.limit == "The difference is shown at the 5 % level. There is no interval: all 15 values are equal."
    assert headline([said], found) == "The planned comparison shows a difference at the 5 % level."


def test_equal_differences_of_fifteen_games_in_five_draws_have_the_sign_test_of_five():
    [one] = analyse(games(design(), lambda arm, repeat, _: 37.0 * repeat + 100 * (arm == "wise"))).differences
    assert (one.p, one.p_holm, one.pairs, one.draws) == (0.0625, 0.0625, 15, 5)


def test_repeats_of_one_seed_are_no_evidence_of_a_direction():
    within = Comparison(metric="profit", of=Side(arm="wise", bidder=ANN), against=Side(arm="wise", bidder=BEN))
    experiment = design(rotate="pool", same_seed=True, comparisons=(within,))
    [one] = analyse(games(experiment, lambda *of: 100.0 * (of[2] == ANN))).differences
    assert (one.mean, one.p, one.low, one.method, one.note) == (100, None, None, "none", COPIES)


@pytest.mark.parametrize(
    ("metric", "ours"),
    [("rank", [1.0] * 15), ("won", [1.0] * 15), ("failed_bid_rate", [0.1, 0.2, 0.3] + [0.0] * 12)],
)
def test_repeats_of_one_seed_that_differ_alike_or_rarely_have_no_test_whatever_the_scale(metric, ours):
    within = Comparison(metric=metric, of=Side(arm="wise", bidder=ANN), against=Side(arm="wise", bidder=BEN))
    experiment = design(rotate="pool", same_seed=True, comparisons=(within,), metrics=(metric,))
    theirs = {"rank": 3.0}.get(metric, 0.0)
    results = games(experiment, lambda _, repeat, name: ours[repeat - 1] if name == ANN else theirs, metric)
    [one] = (found := analyse(results)).differences
    assert (one.p, one.low, one.high, one.note) == (None, None, None, COPIES)
    assert "could not be tested" in headline(verdicts(results, found), found)


def test_a_yes_or_no_of_games_that_share_draws_is_tested_by_the_design_and_not_by_what_came_out():
    won = WISER.model_copy(update={"metric": "won"})
    results = games(design(metrics=("won",), comparisons=(won,)), lambda arm, *_: float(arm == "wise"), "won")
    [one] = analyse(results).differences
    assert (one.p, one.method) == (0.0625, "Clopper-Pearson")


def test_a_rotated_experiment_and_one_that_is_not_are_compared_as_independent_draws():
    found = contrasts({"one": games(design(), noisy), "two": games(design(rotate="pool"), noisy)})
    assert {(each.how, each.why) for each in found} == {("independent", OTHER_ROTATION)}
    assert all(each.p is not None for each in found)


def test_ranks_that_differ_alike_use_that_a_rank_is_at_most_the_number_of_bidders():
    results, found = single(
        lambda arm, _, name: {ANN: 3.0, BEN: 2.0, CHO: 1.0}[name] - 2 * (arm == "wise") * (name == ANN), "rank"
    )
    [one] = found.differences
    assert (one.mean, one.method) == (-2, "Clopper-Pearson")
    assert one.low == -2 < one.high < 0
    assert one.p == pytest.approx(2 * 0.5**15)
    assert verdicts(results, found)[0].shown


@pytest.mark.parametrize("failures", [0, 1, 2, 3, 4, 5])
def test_few_failures_have_an_interval_as_none_and_many_do(failures):
    share = {1: 0.1, 2: 0.2, 3: 0.1, 4: 0.3, 5: 0.1}
    _, found = single(lambda _, repeat, __: share.get(repeat, 0.0) if repeat <= failures else 0.0, "failed_bid_rate")
    one = of(found)
    assert one.low is not None
    assert 0 <= one.low <= one.mean <= one.high < 0.6


@pytest.mark.parametrize(("failures", "p"), [(1, 1.0), (3, 0.25), (4, 0.125)])
def test_rare_failures_that_only_one_arm_has_are_tested_by_flipping_the_signs_of_games(failures, p):
    _, found = single(lambda arm, repeat, _: 0.05 * (arm == "wise" and repeat <= failures), "failed_bid_rate")
    [one] = found.differences
    assert (one.p, one.method) == (p, "sign flips")
    assert one.low < 0 < one.mean < one.high


def test_what_could_not_be_tested_is_not_told_as_no_difference():
    results, found = single(noisy, repeats=1)
    assert headline(verdicts(results, found), found) == "The planned comparison could not be tested."
    two = design(15, ("profit", "won"), "pool", comparisons=(WISER, WISER.model_copy(update={"metric": "won"})))
    results = games(two, lambda _, repeat, __: 100.0 * repeat + RNG.normal())
    analysis = analyse(results)
    assert headline(verdicts(results, analysis), analysis) == (
        "None of the 2 planned comparisons shows a difference at the 5 % level after Holm's correction."
        " 1 of them could not be tested."
    )


def test_games_that_one_arm_lacks_more_often_are_in_the_headline_with_worst_case_limits():
    def half(arm: str, repeat: int, _: str) -> float | None:
        return None if arm == "wise" and repeat <= 5 else 0.5

    results, found = single(half, "won")
    [one] = found.differences
    assert (one.missing, one.missing_of, one.missing_against) == (5, 5, 0)
    assert (one.worst_low, one.worst_high) == pytest.approx((-0.5 * 5 / 15, 0.5 * 5 / 15))
    told = headline(verdicts(results, found), found)
    assert "Of “wise” are missing 5 games, of “plain” none: whatever they gave" in told
    assert f"is in [{MINUS}0.1" in told


def test_games_that_one_arm_lacks_of_a_metric_without_bounds_are_told_without_limits():
    results, found = single(lambda arm, repeat, _: None if arm == "wise" and repeat <= 7 else float(repeat**2 % 7))
    [one] = found.differences
    assert (one.worst_low, one.worst_high) == (None, None)
    assert "Of “wise” are missing 7 games, of “plain” none, which may make the difference." in headline(
        verdicts(results, found), found
    )


def test_games_that_both_arms_lack_alike_are_not_in_the_headline():
    results, found = single(lambda arm, repeat, _: None if repeat == 3 + (arm == "wise") else float(repeat**2 % 7))
    assert "missing" not in headline(verdicts(results, found), found)


@pytest.mark.parametrize("metric", ["profit", "rank", "won", "failed_bid_rate"])
def test_a_comparison_one_of_whose_arms_failed_throughout_says_so_and_breaks_nothing(metric):
    results, found = single(lambda arm, *_: None if arm == "wise" else 1.0, metric)
    [one] = found.differences
    assert (one.pairs, one.missing_of, one.missing_against, one.p) == (0, 15, 0, None)
    assert "could not be tested" in headline(verdicts(results, found), found)


def test_games_that_only_one_cell_was_planned_to_have_are_not_missing():
    results = games(design(rotate="pool"), noisy)
    fewer = replace(results, records=tuple(one for one in results.records if one.arm == "plain" or one.repeat <= 5))
    [one] = analyse(fewer).differences
    assert (one.pairs, one.missing, one.missing_of, one.missing_against) == (5, 0, 0, 0)


def test_draws_whose_games_differ_but_have_one_mean_are_not_called_equal():
    turns = {1: 100.0, 2: -100.0, 0: 0.0}
    results = games(design(), lambda arm, repeat, _: turns[repeat % 3] * (arm == "wise"))
    found = analyse(results)
    assert "gave exactly" not in verdicts(results, found)[0].finding
    assert not any(
        each.is_equal
        for each in contrasts({"one": results, "two": games(design(), lambda *_: 0.0)})
        if each.arm == "wise"
    )
