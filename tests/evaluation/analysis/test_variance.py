"""Shares of variance: worked examples from the literature and statsmodels, and what can't be shared out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.formula.api import ols

from harbor._cli.display.finding_tables import finding_tables
from harbor._cli.display.render import Table
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._analysis.variance import SAYS, jackknife, omega_squared, sums_of_squares
from harbor.evaluation._experiments.choices import chosen_arms
from harbor.evaluation._experiments.design import EVERYONE, Experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement

FILTRATION = [45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96]
"""Montgomery, Design and Analysis of Experiments, example 6.2: rates in standard order of factors A to D."""
LEVELS = pd.DataFrame([tuple(reversed(row)) for row in product("-+", repeat=4)], columns=list("ABCD"))


def games():
    """Games of three factors, one of three levels, in blocks."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(product("ab", "cd", "efg", range(6)), columns=["one", "two", "three", "block"])
    effects = 2.0 * (table["one"] == "a") + (table["two"] == "d") * (table["three"] == "g") + 0.5 * table["block"]
    return table.assign(value=effects + rng.normal(size=len(table)))


FACTORS, LAYOUT = ["one", "two", "three"], games()


def terms_of(table):
    return sums_of_squares(table[["value"]], table[FACTORS], table["block"])


def split(table):
    return {term.name: (term.freedom, float(term.squares[0])) for term in terms_of(table)}


def fitted(table, formula):
    """Fit a model by statsmodels, and return it with its analysis of variance."""
    fit = ols(f"value ~ C(block) + {formula}", table).fit()
    return fit, sm.stats.anova_lm(fit, typ=2)


MAIN, WHOLE = "C(one) + C(two) + C(three)", "(C(one) + C(two) + C(three)) ** 2"


def test_a_textbook_s_experiment_splits_as_printed():
    terms = sums_of_squares(np.array(FILTRATION)[:, None], LEVELS, [1] * 16)
    printed = {"A": 1870.5625, "B": 39.0625, "C": 390.0625, "D": 855.5625}
    found = {term.name: float(term.squares[0]) for term in terms}
    assert {name: found[name] for name in printed} == pytest.approx(printed)
    assert found["pairs of factors"] == pytest.approx(0.0625 + 1314.0625 + 1105.5625 + 22.5625 + 0.5625 + 5.0625)
    assert found["repeat"] == 0
    assert sum(found.values()) == pytest.approx(5730.9375)


def test_a_balanced_design_splits_as_by_statsmodels_and_its_shares_of_omega_squared_add_up_to_one():
    (fit, wanted), found = fitted(LAYOUT, WHOLE), split(LAYOUT)
    pairs = wanted[wanted.index.str.contains(":")]
    for name in FACTORS:
        assert found[name] == pytest.approx((wanted.loc[f"C({name})", "df"], wanted.loc[f"C({name})", "sum_sq"]))
    assert found["pairs of factors"] == pytest.approx((pairs["df"].sum(), pairs["sum_sq"].sum()))
    assert found["repeat"] == pytest.approx((5, wanted.loc["C(block)", "sum_sq"]))
    assert found["rest"] == pytest.approx((fit.df_resid, fit.ssr))
    shares = dict(zip(found, omega_squared(terms_of(LAYOUT))[:, 0], strict=True))
    for name in ("one", "pairs of factors", "repeat"):
        freedom, squares = found[name]
        assert shares[name] == pytest.approx((squares - freedom * fit.mse_resid) / (fit.centered_tss + fit.mse_resid))
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["one"] > 0.2 > shares["three"]


def test_where_games_are_missing_factors_are_adjusted_for_each_other_as_by_statsmodels():
    table = LAYOUT.drop(index=range(0, 72, 11)).reset_index(drop=True)
    (main, wanted), found = fitted(table, MAIN), split(table)
    for name in FACTORS:
        assert found[name] == pytest.approx((wanted.loc[f"C({name})", "df"], wanted.loc[f"C({name})", "sum_sq"]))
    pairs = sm.stats.anova_lm(main, fitted(table, WHOLE)[0]).loc[1]
    assert found["pairs of factors"] == pytest.approx((pairs["df_diff"], pairs["ss_diff"]))


def test_intervals_leave_out_each_repeat_and_stay_between_0_and_1():
    whole, without = np.array([0.25, 0.0, 1.0]), np.array([[0.16, -0.01, 1.0], [0.36, 0.01, 1.0], [0.25, 0.0, 1.0]])
    low, high = jackknife(whole, without)
    reach = 4.302652729749464 * np.sqrt(2 * np.array([0.4, 0.6, 0.5]).var())  # t of 2 degrees of freedom
    assert (low[0], high[0]) == pytest.approx((max(0, 0.5 - reach) ** 2, min(1, (0.5 + reach) ** 2)))
    assert (low[2], high[2]) == (1, 1)
    assert low[1] == 0 < high[1] < 0.3


def designed(**more) -> Experiment:
    levels = {"one": ("a", "b"), "two": ("c", "d")}
    factors = [{"name": name, "levels": [{"name": level} for level in both]} for name, both in levels.items()]
    common = {"name": "trial", "title": "A trial", "question": "Does it help?", "source": "here", "repeats": 6}
    return Experiment.model_validate(common | {"auction": {}, "factors": factors, "metrics": ["profit"]} | more)


def held(experiment, value):
    """Hold games in which profits were `value(arm, condition, repeat)`: of nobody, or by bidder; None: not measured."""
    played = []
    for n in range(1, experiment.repeats + 1):
        for arm, condition in experiment.cells:
            found = value(arm.name, condition.name, n)
            by_bidder = found if isinstance(found, dict) else {"": found}
            rows = (Measurement("profit", float(one), who) for who, one in by_bidder.items() if one is not None)
            played.append(TrialRecord(arm.name, condition.name, n, n, "finished", measurements=tuple(rows)))
    return Results(experiment, tuple(played))


CONDITIONS = [{"name": "poor"}, {"name": "rich"}]


def test_the_variance_of_each_bidder_and_of_everyone_is_split_with_the_means_of_levels():
    def value(arm, _, repeat):
        return {"Ann": 10.0 * arm.startswith("b") + repeat, "Ben": (arm == "a-d") + (repeat * 7) % 5}

    found = analyse(held(designed(), value)).variance
    assert {(one.metric, one.bidder) for one in found} == {("profit", name) for name in ("Ann", "Ben", EVERYONE)}
    ann = {one.source: one for one in found if one.bidder == "Ann"}
    assert list(ann) == ["one", "two", "pairs of factors", "repeat", "rest"]
    assert (ann["one"].means, ann["one"].games) == ((("a", 3.5), ("b", 13.5)), 24)
    assert (ann["one"].share, ann["rest"].share) == pytest.approx((600 / (600 + 70), 0), rel=0.01, abs=1e-9)
    assert all(one.low <= one.share <= one.high for one in found if one.share > 0)


def test_several_conditions_are_one_factor_more_and_without_factors_there_are_no_shares():
    results = held(designed(conditions=CONDITIONS), lambda _, where, n: n + 5.0 * (where == "rich"))
    assert {one.source: one for one in analyse(results).variance}["condition"].share > 0.5
    plain = designed(factors=[], arms=[{"name": "a"}, {"name": "b"}])
    assert analyse(held(plain, lambda _, __, n: n)).variance == ()


@pytest.mark.parametrize(("repeats", "value", "note"), [
    (6, lambda *_: 1.0, "all 24 values are equal"),
    (4, lambda arm, _, n: n * 1.5 + len(arm) * n % 3 + (arm > "b"), "fewer than 5 repeats to resample"),
    (1, lambda arm, *_: ord(arm[0]) * ord(arm[2]) % 7, "too few games for all factors and their interactions"),
])  # fmt: skip
def test_what_has_no_share_or_interval_says_why(repeats, value, note):
    found = analyse(held(designed(repeats=repeats), value)).variance
    assert {(one.low, one.note) for one in found} == {(None, note)}


def test_where_planned_arms_have_no_values_there_is_a_reason_and_no_share_and_the_terminal_shows_the_means_of_arms():
    def shown(results):
        blocks = list(finding_tables(results, analyse(results)))
        return [one.title for one in blocks if isinstance(one, Table)], "\n".join(
            one for one in blocks if isinstance(one, str)
        )

    for names in (["a-c", "b-c"], ["a-c", "b-d"]):
        results = held(chosen_arms(designed(), names), lambda arm, _, n: n + 3.0 * (arm == "a-c") + n % 2)
        (found,) = analyse(results).variance
        assert (found.source, found.share) == ("", None)
        assert found.note.startswith("2 of the 4 planned arms have values: ")
    titles, lines = shown(results)
    assert titles == ["profit: profit of a bidder, dollars"]
    assert "No share of variance is known: 2 of the 4 planned arms have values" in lines
    titles, lines = shown(held(designed(), lambda arm, _, n: n * 1.5 + (n % 2) * (arm > "b")))
    assert (titles, SAYS in lines) == (["Shares of variance"], True)
    lacking = held(
        designed(conditions=CONDITIONS), lambda arm, where, n: n + 1.0 if (arm, where) != ("a-c", "rich") else None
    )
    assert "but not under every condition" in analyse(lacking).variance[0].note
    assert analyse(Results(designed(), ())).variance == ()


def test_shares_of_each_bidder_add_up_to_one_also_where_games_are_missing_or_chance_explains_all():
    drawn = np.random.default_rng(0)
    for _ in range(5):
        whole = held(designed(), lambda *_: drawn.normal())
        for results in (whole, Results(whole.experiment, whole.records[3:])):
            shares = [one.share for one in analyse(results).variance]
            assert all(0 <= share <= 1 for share in shares)
            assert sum(shares) == pytest.approx(1)
