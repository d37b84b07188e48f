"""The draw is the unit: games that share seed, items and order count as one in intervals, tests, ratings and power."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harbor.evaluation._analysis.between import OTHER_ROTATION, contrasts
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
from harbor.evaluation._report.page.verdict import headline, verdicts
from harbor.evaluation._report.plots.curves import mean_curve
from harbor.evaluation._report.tabular.formatting import MINUS

ANN, BEN, CHO = "Ann", "Ben", "Cho"
WISER = Comparison(metric="profit", of=Side(arm="wise", bidder=ANN), against=Side(arm="plain", bidder=ANN))


def design(repeats: int = 15, metrics=("profit",), rotate: str = "within", **changes) -> Experiment:
    """Three personas turn in three seats, so three repeats share a draw."""
    seats = [{"name": name, "model": "@1", "persona": f"@{place}"} for place, name in enumerate((ANN, BEN, CHO), 1)]
    arms = Variation(name="plain"), Variation(name="wise", auction={"rules": {"increment_share": 0.2}})
    settings = {
        "name": "turning", "title": "Turning", "question": "Does it help?", "source": "here", "repeats": repeats,
        "rotate_personas": rotate, "auction": {"bidders": seats}, "metrics": metrics, "arms": arms,
        "comparisons": (WISER.model_copy(update={"metric": metrics[0]}),),
    }  # fmt: skip
    return Experiment.model_validate(settings | changes)


def games(experiment: Experiment, values, metric: str = "profit") -> Results:
    """Records in which `values(arm, repeat, bidder)` was measured; None is a failed game."""
    records = []
    for arm, repeat in product(experiment.arms, range(1, experiment.repeats + 1)):
        own = {name: values(arm.name, repeat, name) for name in (ANN, BEN, CHO)}
        place = (arm.name, "all", repeat, 100 + (repeat - 1) // 3)
        found = tuple(Measurement(metric, value, name) for name, value in own.items())
        failed = TrialRecord(*place, "failed", "silent")
        records.append(failed if None in own.values() else TrialRecord(*place, "finished", measurements=found))
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


def of(found: Analysis):
    return next(one for one in found.estimates if (one.arm, one.bidder) == ("plain", ANN))


def ends(one) -> tuple[float, float]:
    return one.low, one.high


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
    assert (rivals.of.bidder, rivals.p, rivals.p_holm, one.p_holm) == ("rivals of Ann", None, None, one.p)
    assert (one.pairs, one.draws) == (rivals.pairs, rivals.draws) == (15, 5)


def test_a_yes_or_no_of_games_that_share_a_draw_is_a_share_of_counts_by_draw():
    won = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    one = of(analyse(games(design(metrics=("won",)), lambda _, repeat, __: float(won[repeat - 1]), "won")))
    assert ends(one) == pytest.approx(ends(counted_share(by_draw(won), [3] * 5)))
    assert one.method == "Korn-Graubard"


def test_a_rating_by_single_games_has_its_interval_by_draw():
    firsts = [1, 1, 1, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1]
    ranks = {ANN: firsts, BEN: [place % 3 + 1 for place in firsts], CHO: [(place + 1) % 3 + 1 for place in firsts]}
    plan = design(metrics=("rank",), trueskill=True, arms=(Variation(name="plain"),), comparisons=())
    [one, *_] = analyse(games(plan, lambda _, repeat, bidder: float(ranks[bidder][repeat - 1]), "rank")).ratings
    mus = [25 + 6.675 * {1: 1, 2: 0, 3: -1}[place] for place in firsts]
    assert (one.bidder, one.games, one.draws) == (ANN, 15, 5)
    assert one.per_game_low == pytest.approx(mean_of(by_draw(mus)).low, rel=1e-3)


def test_a_correlation_takes_draws_as_wholes():
    rng, names = np.random.default_rng(3), ("priority_initial", "bids")
    sides = rng.integers(1, 4, (15, 6)).astype(float), rng.integers(0, 5, (15, 6)).astype(float)

    def rows(game):
        return tuple(
            Measurement(name, side[game, at], ANN, at=at)
            for name, side in zip(names, sides, strict=True)
            for at in range(6)
        )

    held = [TrialRecord("plain", "all", n, n, "finished", measurements=rows(n - 1)) for n in range(1, 16)]
    plan = design(metrics=names, correlations=(names,), comparisons=())
    one = next(one for one in analyse(Results(plan, tuple(held))).correlations if one.rho is not None)
    assert ends(one) == pytest.approx(ends(spearman(*map(np.ravel, sides), np.repeat(np.arange(5), 18))))
    assert (one.games, one.draws) == (15, 5)


def test_power_and_what_a_design_can_reach_are_counted_in_whole_draws():
    experiment, results = design(), games(design(), noisy)
    [need] = games_needed(results, planned(experiment), Question(50.0)).needs
    assert (need.pairs, need.draws) == (15, 5)
    assert need.sd == pytest.approx(np.std(np.subtract(by_draw(WISE), by_draw(PLAIN)), ddof=1))
    assert {need.games.least % 3, need.games.likely % 3, need.games.enough % 3} == {0}
    said = unreachable(design(3, ("won",)))
    assert "won (1 draw)" in said
    assert "--repeats 6 or more" in said


def test_a_design_of_one_draw_has_no_interval_and_no_p_and_says_why():
    found = analyse(games(design(3), noisy))
    [one] = found.differences
    assert (one.pairs, one.draws, one.low, one.p, one.note) == (3, 1, None, None, ONE_DRAW_ONLY)
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


def test_the_band_of_a_curve_is_by_draw():
    columns = {"arm": "plain", "condition": "all", "repeat": range(1, 16), "at": 1, "value": PLAIN}
    rows = pd.DataFrame(columns | {"draw": np.repeat(range(1, 6), 3)})
    wanted = mean_of(by_draw(PLAIN))
    assert mean_curve(rows, "profit", (-np.inf, np.inf)).to_numpy() == pytest.approx(
        np.array([[wanted.mean, *ends(wanted)]])
    )


# ---------------------------------------------------------------- compare


def test_independent_experiments_are_compared_draw_by_draw_also_where_only_one_is_rotated():
    one, other = games(design(seed=1), noisy), games(design(seed=2), lambda *place: noisy(*place) * 1.1)
    found = next(each for each in contrasts({"one": one, "two": other}) if (each.bidder, each.arm) == (ANN, "plain"))
    wanted = stats.ttest_ind(np.multiply(1.1, by_draw(PLAIN)), by_draw(PLAIN), equal_var=False)
    assert (found.n, found.draws, found.against_draws) == (15, 5, 5)
    assert found.p == pytest.approx(wanted.pvalue)
    both = contrasts({"one": games(design(), noisy), "two": games(design(rotate="pool"), noisy)})
    assert {(each.how, each.why, each.p is None) for each in both} == {("independent", OTHER_ROTATION, False)}


# ---------------------------------------------------------------- clear results, and games that are missing


def single(values, metric: str = "profit", rotate: str = "pool") -> tuple[Results, Analysis]:
    results = games(design(15, (metric,), rotate), values, metric)
    return results, analyse(results)


def said(results: Results, found: Analysis) -> str:
    return headline(verdicts(results, found), found)


@pytest.mark.parametrize(("rotate", "p"), [("pool", 2.0**-14), ("within", 2.0**-4)])
def test_equal_differences_that_are_not_zero_have_a_sign_test_of_draws_and_many_are_shown_by_it(rotate, p):
    results, found = single(lambda arm, repeat, _: 37.0 * repeat + 100 * (arm == "wise"), rotate=rotate)
    [one], [told] = found.differences, verdicts(results, found)
    assert (one.p, one.p_holm, one.pairs, one.low, one.method) == (p, p, 15, None, "sign flips")
    assert told.shown == (p < 0.05)
    assert "was $100.00 higher" in told.finding
    if told.shown:
        assert told.limit == "The difference is shown at the 5 % level. There is no interval: all 15 values are equal."
        assert headline([told], found) == "The planned comparison shows a difference at the 5 % level."


@pytest.mark.parametrize(("metric", "ours", "theirs"), [
    ("profit", [100.0] * 15, 0.0), ("won", [1.0] * 15, 0.0), ("failed_bid_rate", [0.1, 0.2, 0.3] + [0.0] * 12, 0.0),
])  # fmt: skip
def test_repeats_of_one_seed_that_differ_alike_or_rarely_have_no_test_whatever_the_scale(metric, ours, theirs):
    within = Comparison(metric=metric, of=Side(arm="wise", bidder=ANN), against=Side(arm="wise", bidder=BEN))
    experiment = design(rotate="pool", same_seed=True, comparisons=(within,), metrics=(metric,))
    results = games(experiment, lambda _, repeat, name: ours[repeat - 1] if name == ANN else theirs, metric)
    [one] = (found := analyse(results)).differences
    assert one.mean == pytest.approx(np.mean(ours) - theirs)
    assert (one.p, one.low, one.high, one.method, one.note) == (None, None, None, "none", COPIES)
    assert "could not be tested" in said(results, found)


def test_a_yes_or_no_of_games_that_share_draws_is_tested_by_the_design_and_not_by_what_came_out():
    [one] = single(lambda arm, *_: float(arm == "wise"), "won", rotate="within")[1].differences
    assert (one.p, one.method) == (0.0625, "Clopper-Pearson")


def test_few_failures_have_an_interval_and_those_of_one_arm_are_tested_by_flipping_the_signs_of_games():
    for failures in range(6):
        shares = [0.1, 0.2, 0.1, 0.3, 0.1][:failures] + [0.0] * (15 - failures)
        one = of(single(lambda _, repeat, __, own=shares: own[repeat - 1], "failed_bid_rate")[1])
        assert one.low is not None
        assert 0 <= one.low <= one.mean <= one.high < 0.6
    [one] = single(lambda arm, repeat, _: 0.05 * (arm == "wise" and repeat <= 4), "failed_bid_rate")[1].differences
    assert (one.p, one.method) == (0.125, "sign flips")
    assert one.low < 0 < one.mean < one.high


def test_what_could_not_be_tested_is_not_told_as_no_difference():
    two = design(15, ("profit", "won"), "pool", comparisons=(WISER, WISER.model_copy(update={"metric": "won"})))
    results = games(two, lambda _, repeat, __: 100.0 * repeat + RNG.normal())
    assert said(results, analyse(results)) == (
        "None of the 2 planned comparisons shows a difference at the 5 % level after Holm's correction."
        " 1 of them could not be tested."
    )


def test_games_that_one_arm_lacks_more_often_are_in_the_headline_with_worst_case_limits_if_there_are_bounds():
    results, found = single(lambda arm, repeat, _: None if arm == "wise" and repeat <= 5 else 0.5, "won")
    [one] = found.differences
    assert (one.pairs, one.missing, one.missing_of, one.missing_against) == (10, 5, 5, 0)
    assert (one.worst_low, one.worst_high) == pytest.approx((-0.5 * 5 / 15, 0.5 * 5 / 15))
    told = said(results, found)
    assert "Of “wise” are missing 5 games, of “plain” none: whatever they gave" in told
    assert f"is in [{MINUS}0.1" in told
    results, found = single(lambda arm, repeat, _: None if arm == "wise" and repeat <= 7 else float(repeat**2 % 7))
    assert [(one.worst_low, one.worst_high) for one in found.differences] == [(None, None)]
    assert "missing 7 games, of “plain” none, which may make the difference." in said(results, found)
    alike = single(lambda arm, repeat, _: None if repeat == 3 + (arm == "wise") else float(repeat**2 % 7))
    assert "missing" not in said(*alike)


def test_a_comparison_one_of_whose_arms_failed_throughout_says_so_and_breaks_nothing():
    for metric in ("profit", "rank", "won"):
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
