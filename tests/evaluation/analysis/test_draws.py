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
        "name": "turning", "title": "Turning", "question": "Does it help?", "source": "here", "repeats": repeats,
        "rotate_personas": rotate, "auction": {"bidders": seats}, "metrics": metrics,
        "arms": (Variation(name="plain"), Variation(name="wise", auction={"rules": {"increment_share": 0.2}})),
        "comparisons": (WISER.model_copy(update={"metric": metrics[0]}),),
    }  # fmt: skip
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


def ends(one) -> tuple[float, float]:
    return one.low, one.high


WITHIN = Comparison(metric="profit", of=Side(arm="wise", bidder=ANN), against=Side(arm="wise", bidder=BEN))


# ---------------------------------------------------------------- by draw


def test_an_estimate_has_the_interval_of_its_draws_and_says_how_many_they_are(found):
    one, wanted = of(found), mean_of(by_draw(PLAIN))
    assert (one.mean, *ends(one)) == pytest.approx((wanted.mean, *ends(wanted)))
    assert (one.games, one.draws, one.method) == (15, 5, "cluster-robust t")


def test_a_difference_is_tested_by_draw_and_what_rivals_gain_has_an_interval_by_draw_and_no_p(found):
    [one], [rivals], gains = found.differences, found.companions, np.subtract(by_draw(WISE), by_draw(PLAIN))
    wanted = paired(gains)
    assert (one.p, one.low, one.effect) == pytest.approx((wanted.p, wanted.difference.low, wanted.effect))
    assert ends(rivals) == pytest.approx(ends(paired(gains * (1 / 2 + 1 / 3) / 2).difference))
    assert (rivals.p, rivals.p_holm) == (None, None)
    assert (one.pairs, one.draws) == (rivals.pairs, rivals.draws) == (15, 5)


def test_where_every_repeat_is_a_draw_of_its_own_the_game_is_the_unit():
    one = of(analyse(games(design(rotate="pool"), noisy)))
    assert ends(one) == pytest.approx(ends(mean_of(PLAIN)))
    assert (one.games, one.draws, one.method) == (15, 15, "t")


def test_a_yes_or_no_of_games_that_share_a_draw_is_a_share_of_counts_by_draw():
    won = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    one = of(analyse(games(design(metrics=("won",)), lambda _, repeat, __: float(won[repeat - 1]), "won")))
    assert ends(one) == pytest.approx(ends(counted_share(by_draw(won), [3] * 5)))
    assert one.method == "Korn-Graubard"


@pytest.mark.parametrize(("rotate", "draws"), [("within", 5), ("pool", 15)])
def test_a_rating_by_single_games_has_its_interval_by_draw(rotate, draws):
    firsts = [1, 1, 1, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1]
    seconds = [2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    ranks = {ANN: firsts, BEN: seconds, CHO: [6 - one - two for one, two in zip(firsts, seconds, strict=True)]}
    alone = {"arms": (Variation(name="plain"),), "comparisons": ()}
    plan = design(metrics=("rank",), rotate=rotate, trueskill=True, **alone)
    results = games(plan, lambda _, repeat, bidder: float(ranks[bidder][repeat - 1]), "rank")
    one = next(one for one in analyse(results).ratings if one.bidder == ANN)
    mus = [25 + 6.675 * {1: 1, 2: 0, 3: -1}[place] for place in firsts]
    assert (one.games, one.draws) == (15, draws)
    assert one.per_game_low == pytest.approx(mean_of(by_draw(mus) if draws == 5 else mus).low, rel=1e-3)


def test_a_correlation_takes_draws_as_wholes():
    rng, names = np.random.default_rng(3), ("priority_initial", "bids")
    x, y = rng.integers(1, 4, (15, 6)).astype(float), rng.integers(0, 5, (15, 6)).astype(float)
    rows = [
        tuple(
            Measurement(name, side[game, at], ANN, at=at)
            for name, side in zip(names, (x, y), strict=True)
            for at in range(6)
        )
        for game in range(15)
    ]
    held = [TrialRecord("plain", "all", n, n, "finished", measurements=row) for n, row in enumerate(rows, 1)]
    plan = design(metrics=names, correlations=(names,), comparisons=())
    one = next(one for one in analyse(Results(plan, tuple(held))).correlations if one.rho is not None)
    assert ends(one) == pytest.approx(ends(spearman(x.ravel(), y.ravel(), np.repeat(np.arange(5), 18))))
    assert (one.games, one.draws) == (15, 5)


def test_power_counts_whole_draws_and_its_pilot_is_of_draws():
    experiment, results = design(), games(design(), noisy)
    [need] = games_needed(results, planned(experiment), Question(50.0)).needs
    assert (need.pairs, need.draws) == (15, 5)
    assert need.sd == pytest.approx(np.std(np.subtract(by_draw(WISE), by_draw(PLAIN)), ddof=1))
    assert {need.games.least % 3, need.games.likely % 3, need.games.enough % 3} == {0}
    assert need.note == "rough: 5 draws say little of how differences vary"


def test_what_a_design_can_reach_is_counted_in_draws():
    said = unreachable(design(3, ("won",)))
    assert "won (1 draw)" in said
    assert "--repeats 6 or more" in said


@pytest.mark.parametrize("repeats", [2, 3])
def test_a_design_of_one_draw_has_no_interval_and_no_p_and_says_why(repeats):
    found = analyse(games(design(repeats), noisy))
    [one] = found.differences
    assert (one.pairs, one.draws, one.low, one.p, one.note) == (repeats, 1, None, None, ONE_DRAW_ONLY)
    assert {(one.low, one.note) for one in found.estimates} == {(None, ONE_DRAW_ONLY)}


@given(st.lists(st.tuples(st.integers(1, 6), st.floats(-1e3, 1e3)), min_size=1, max_size=30))
def test_values_by_draw_have_the_mean_of_all_and_the_cluster_robust_interval(rows):
    draws, values = (np.array(column) for column in zip(*rows, strict=True))
    apart = per_draw(values, draws)
    assert len(apart) == len(set(draws))
    assert apart.mean() == pytest.approx(values.mean(), abs=1e-6)
    robust = clustered_mean(values, draws)
    if robust.low is not None:
        assert ends(robust) == pytest.approx(ends(mean_of(apart)), abs=1e-6)


def test_tables_sentences_and_caveats_say_in_how_many_draws_games_are(found):
    results = games(design(), noisy)
    assert "15 pairs of games in 5 draws" in verdicts(results, found)[0].finding
    [row] = of_analysis(found, results.experiment)["comparisons"].rows
    assert (row[3].text, row[3].below) == ("15", "in 5 draws")
    few = games(design(6), noisy)
    assert "Few games: n = 2: intervals of so few draws say little." in caveats(few)


def test_the_band_of_a_curve_is_by_draw():
    columns = {"arm": "plain", "condition": "all", "repeat": range(1, 16), "at": 1, "value": PLAIN}
    rows = pd.DataFrame(columns | {"draw": np.repeat(range(1, 6), 3)})
    [[mean, *band]] = mean_curve(rows, "profit", (-np.inf, np.inf)).to_numpy()
    wanted = mean_of(by_draw(PLAIN))
    assert (mean, *band) == pytest.approx((wanted.mean, *ends(wanted)))


# ---------------------------------------------------------------- compare


def test_two_experiments_of_one_seed_each_are_compared_without_interval_or_p_and_it_is_said_why():
    plans = [design(rotate="pool", same_seed=True, seed=seed) for seed in (1, 2)]
    one, other = (games(plan, lambda _, repeat, __, plan=plan: 1e3 * plan.seed + repeat) for plan in plans)
    found = contrasts({"one": one, "other": other})
    assert {(each.p, each.low, each.note) for each in found} == {(None, None, ONE_SIDE)}
    assert {each.mean for each in found} == {1000.0}
    shown = compared_verdict(Compared({"one": Loaded(one), "other": Loaded(other)}))
    assert shown.startswith("Nothing can be said")
    assert "all of one draw" in shown


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_independent_experiments_are_compared_draw_by_draw(factor):
    one, other = games(design(seed=1), noisy), games(design(seed=2), lambda *of: noisy(*of) * factor)
    found = next(each for each in contrasts({"one": one, "two": other}) if (each.bidder, each.arm) == (ANN, "plain"))
    wanted = stats.ttest_ind(np.multiply(factor, by_draw(PLAIN)), by_draw(PLAIN), equal_var=False)
    assert (found.n, found.draws, found.against_draws) == (15, 5, 5)
    assert found.p == pytest.approx(wanted.pvalue)


# ---------------------------------------------------------------- clear results, and games that are missing


def single(values, metric: str = "profit", repeats: int = 15) -> tuple[Results, Analysis]:
    results = games(design(repeats, (metric,), "pool"), values, metric)
    return results, analyse(results)


def said(results: Results, found: Analysis) -> str:
    return headline(verdicts(results, found), found)


def test_equal_differences_that_are_not_zero_are_shown_by_a_sign_test():
    results, found = single(lambda arm, repeat, _: 37.0 * repeat + 100 * (arm == "wise"))
    [one] = found.differences
    assert (one.p, one.low, one.method) == (2.0**-14, None, "sign flips")
    [told] = verdicts(results, found)
    assert told.shown
    assert "was $100.00 higher" in told.finding
    assert told.limit == "The difference is shown at the 5 % level. There is no interval: all 15 values are equal."
    assert headline([told], found) == "The planned comparison shows a difference at the 5 % level."


def test_equal_differences_of_fifteen_games_in_five_draws_have_the_sign_test_of_five():
    [one] = analyse(games(design(), lambda arm, repeat, _: 37.0 * repeat + 100 * (arm == "wise"))).differences
    assert (one.p, one.p_holm, one.pairs, one.draws) == (0.0625, 0.0625, 15, 5)


@pytest.mark.parametrize(("metric", "ours", "theirs"), [
    ("profit", [100.0] * 15, 0.0), ("rank", [1.0] * 15, 3.0), ("won", [1.0] * 15, 0.0),
    ("failed_bid_rate", [0.1, 0.2, 0.3] + [0.0] * 12, 0.0),
])  # fmt: skip
def test_repeats_of_one_seed_that_differ_alike_or_rarely_have_no_test_whatever_the_scale(metric, ours, theirs):
    within = (WITHIN.model_copy(update={"metric": metric}),)
    experiment = design(rotate="pool", same_seed=True, comparisons=within, metrics=(metric,))
    results = games(experiment, lambda _, repeat, name: ours[repeat - 1] if name == ANN else theirs, metric)
    [one] = (found := analyse(results)).differences
    assert one.mean == pytest.approx(np.mean(ours) - theirs)
    assert (one.p, one.low, one.high, one.method, one.note) == (None, None, None, "none", COPIES)
    assert "could not be tested" in said(results, found)


def test_a_yes_or_no_of_games_that_share_draws_is_tested_by_the_design_and_not_by_what_came_out():
    [one] = analyse(games(design(metrics=("won",)), lambda arm, *_: float(arm == "wise"), "won")).differences
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


@pytest.mark.parametrize("failures", range(6))
def test_few_failures_have_an_interval_as_none_and_many_do(failures):
    shares = [0.1, 0.2, 0.1, 0.3, 0.1][:failures] + [0.0] * (15 - failures)
    one = of(single(lambda _, repeat, __: shares[repeat - 1], "failed_bid_rate")[1])
    assert one.low is not None
    assert 0 <= one.low <= one.mean <= one.high < 0.6


@pytest.mark.parametrize(("failures", "p"), [(1, 1.0), (3, 0.25), (4, 0.125)])
def test_rare_failures_that_only_one_arm_has_are_tested_by_flipping_the_signs_of_games(failures, p):
    _, found = single(lambda arm, repeat, _: 0.05 * (arm == "wise" and repeat <= failures), "failed_bid_rate")
    [one] = found.differences
    assert (one.p, one.method) == (p, "sign flips")
    assert one.low < 0 < one.mean < one.high


def test_what_could_not_be_tested_is_not_told_as_no_difference():
    assert said(*single(noisy, repeats=1)) == "The planned comparison could not be tested."
    two = design(15, ("profit", "won"), "pool", comparisons=(WISER, WISER.model_copy(update={"metric": "won"})))
    results = games(two, lambda _, repeat, __: 100.0 * repeat + RNG.normal())
    assert said(results, analyse(results)) == (
        "None of the 2 planned comparisons shows a difference at the 5 % level after Holm's correction."
        " 1 of them could not be tested."
    )


def test_games_that_one_arm_lacks_more_often_are_in_the_headline_with_worst_case_limits():
    results, found = single(lambda arm, repeat, _: None if arm == "wise" and repeat <= 5 else 0.5, "won")
    [one] = found.differences
    assert (one.missing, one.missing_of, one.missing_against) == (5, 5, 0)
    assert (one.worst_low, one.worst_high) == pytest.approx((-0.5 * 5 / 15, 0.5 * 5 / 15))
    told = said(results, found)
    assert "Of “wise” are missing 5 games, of “plain” none: whatever they gave" in told
    assert f"is in [{MINUS}0.1" in told


def test_games_that_one_arm_lacks_of_a_metric_without_bounds_are_told_without_limits():
    results, found = single(lambda arm, repeat, _: None if arm == "wise" and repeat <= 7 else float(repeat**2 % 7))
    assert [(one.worst_low, one.worst_high) for one in found.differences] == [(None, None)]
    told = "Of “wise” are missing 7 games, of “plain” none, which may make the difference."
    assert told in said(results, found)


def test_games_that_both_arms_lack_alike_are_not_in_the_headline():
    lacking = single(lambda arm, repeat, _: None if repeat == 3 + (arm == "wise") else float(repeat**2 % 7))
    assert "missing" not in said(*lacking)


@pytest.mark.parametrize("metric", ["profit", "rank", "won", "failed_bid_rate"])
def test_a_comparison_one_of_whose_arms_failed_throughout_says_so_and_breaks_nothing(metric):
    results, found = single(lambda arm, *_: None if arm == "wise" else 1.0, metric)
    [one] = found.differences
    assert (one.pairs, one.missing_of, one.missing_against, one.p) == (0, 15, 0, None)
    assert "could not be tested" in said(results, found)


def test_games_that_only_one_cell_was_planned_to_have_are_not_missing():
    results = games(design(rotate="pool"), noisy)
    fewer = replace(results, records=tuple(one for one in results.records if one.arm == "plain" or one.repeat <= 5))
    [one] = analyse(fewer).differences
    assert (one.pairs, one.missing, one.missing_of, one.missing_against) == (5, 0, 0, 0)


def test_draws_whose_games_differ_but_have_one_mean_are_not_called_equal():
    turns = {1: 100.0, 2: -100.0, 0: 0.0}
    results = games(design(), lambda arm, repeat, _: turns[repeat % 3] * (arm == "wise"))
    assert "gave exactly" not in verdicts(results, analyse(results))[0].finding
    found = contrasts({"one": results, "two": games(design(), lambda *_: 0.0)})
    assert not any(one.is_equal for one in found if one.arm == "wise")
