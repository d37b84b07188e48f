"""The verdict in plain English: it says what the analysis found, no more, and what it does not say."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harbor.evaluation._analysis.comparisons import Difference
from harbor.evaluation._analysis.findings import Analysis, analyse
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._report.page.verdict import caveats, headline, verdicts
from harbor.evaluation._report.tabular.formatting import equation_of_p, write, write_interval

SIDES = Side(arm="one", condition="all"), Side(arm="two", condition="all")
NUMBERS = st.floats(-1e6, 1e6).filter(lambda number: abs(number) > 1)
SHARES = st.floats(0.0001, 1)


DESIGN = Experiment(
    name="small", title="A small experiment", question="Who wins?", source="Nobody 2024", repeats=6,
    auction={"bidders": [{"name": name, "model": "@1"} for name in ("Ann", "Ben")]},
    arms=(Variation(name="one"), Variation(name="two", label="second", auction={"seed": 3})), metrics=("profit",),
    comparisons=(Comparison(metric="profit", of=Side(arm="one"), against=Side(arm="two")),),
)  # fmt: skip


def finding(mean: float = 5.0, half: float = 2.0, p: float = 0.01, p_holm: float = 0.02) -> Difference:
    numbers = {"mean": mean, "sd": 1.0, "low": mean - half, "high": mean + half, "effect": 1.0, "p": p}
    return Difference("profit", *SIDES, pairs=6, missing=0, method="t", p_holm=p_holm, **numbers)


def results(player: str = "openai:gpt", status: str = "finished") -> Results:
    cells = [(arm, n) for arm in ("one", "two") for n in range(1, 7)]
    games = (TrialRecord(arm, "all", n, 7, status, players=(("Ann", player),)) for arm, n in cells)
    return Results(DESIGN, tuple(games))


def of(*found: Difference) -> Analysis:
    analysis = analyse(results())
    analysis.differences = found
    return analysis


@given(NUMBERS, st.floats(0.1, 1e6), SHARES, SHARES)
def test_a_sentence_has_sign_interval_and_p_of_the_analysis_and_claims_no_more_than_they_show(mean, half, p, p_holm):
    one = finding(mean, half, p, p_holm)
    (said,) = verdicts(results(), of(one))
    assert f"was {write(abs(mean), 'dollars')} {'higher' if mean > 0 else 'lower'} than “second”" in said.finding
    assert write_interval(one.low, one.high, "dollars") in said.finding
    assert equation_of_p(p) in said.finding
    assert said.shown == (p_holm < 0.05) == said.limit.startswith("The difference is shown")
    assert ("does not show that there is no difference" in said.limit) == (not said.shown and abs(mean) <= half)


def test_p_after_holm_is_told_with_the_size_of_its_family_and_the_headline_counts_what_is_shown():
    found = of(finding(), finding(p_holm=0.2))
    said = verdicts(results(), found)
    assert "0.200 after Holm for 2 comparisons" in said[1].finding
    assert said[1].limit == "The interval leaves out 0, but p after Holm is not below 0.05: it may be chance."
    assert headline(said, found) == (
        "1 of 2 planned comparisons shows a difference at the 5 % level after Holm's correction."
    )


def test_a_comparison_without_a_number_or_an_interval_says_why():
    unknown = dict.fromkeys(("mean", "sd", "low", "high", "effect", "p", "p_holm"))
    none = replace(finding(), **unknown, note="one draw")
    equal = replace(none, mean=0.0, note="all 6 values are equal")
    first, second = verdicts(results(), of(none, equal))
    assert str(first) == "Profit: “one” could not be compared with “second”: one draw."
    assert "“one” gave exactly what “second” gave, in each of 6 pairs of games." in second.finding
    assert second.limit == "There is neither an interval nor a test: all 6 values are equal."


def test_simulated_bidders_missing_games_and_few_games_are_told_once_for_all():
    said = caveats(replace(results("simulated"), records=results("simulated").records[:8]))
    assert said == [
        "Simulated bidders played in 8 of 8 games: the numbers say nothing about language models.",
        "Few games: n = 2: intervals of so few games say little.",
    ]
    assert caveats(results(status="failed")) == ["12 of 12 games are not finished or failed; they count as missing."]
    assert caveats(results()) == []


def test_a_design_without_comparisons_says_that_nothing_was_tested():
    found = of()
    (said,) = verdicts(results(), found)
    assert str(said) == "No comparison was planned, so nothing was tested."
    assert headline([said], found) == ""
