"""Experiments side by side: pairs where seeds are shared, what differs in designs, and what can't be compared."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from harbor._cli.display.finding_tables import compared_tables
from harbor._core.basics.errors import ConfigError
from harbor.evaluation import Loaded, Measurement, compare
from harbor.evaluation._analysis.between import ONE_SIDE, OTHER_ITEMS, OTHER_SEEDS, UNTOLD, contrasts
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._analysis.statistics import independent
from harbor.evaluation._experiments.design import EVERYONE, Comparison, Experiment, Side, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._report.comparing.compared_page import render_compared, to_csv
from harbor.evaluation._report.comparing.side_by_side import Compared, differences_table, how, verdict, warnings
from support.browser import browser, findings, needs_browser, overflow, printed

BIDDERS = [{"name": "Ann", "model": "@1"}, {"name": "Ben", "model": "@1"}]
ONE, TWO, THREE = (
    Variation(name=name, auction={"bidders": {"Ann": {"budget": budget}}})
    for name, budget in (("one", 10_000), ("two", 20_000), ("three", 30_000))
)
NUMBERS = ("mean", "sd", "low", "high", "effect", "p", "method", "pairs")


def design(arms=(ONE,), seed=0, repeats=6, metrics=("profit", "rank"), items=2, **changes) -> Experiment:
    return Experiment(
        name="small", title="A small experiment", question="Who wins?", source="Nobody", repeats=repeats, seed=seed,
        auction={"bidders": BIDDERS, "items": {"count": items}}, arms=arms, metrics=metrics, **changes,
    )  # fmt: skip


def measured(experiment: Experiment, value) -> Results:
    """Games in which `value(trial)` was measured of each bidder and metric."""
    games = [
        TrialRecord(one.arm, one.condition, one.repeat, one.config.seed, "finished", measurements=tuple(
            Measurement(name, value(one), bidder) for name in experiment.metrics for bidder in ("Ann", "Ben")
        ))
        for one in trials(experiment)
    ]  # fmt: skip
    return Results(experiment, tuple(games))


def played(experiment: Experiment, salt: str = "", **changes) -> Results:
    """Games whose values hang on arm, repeat and salt alone, so that an arm has them in any experiment."""
    chances = {one: Random(f"{one} {salt}") for one in ((each.arm, each.repeat) for each in trials(experiment))}
    found = measured(experiment, lambda one: chances[one.arm, one.repeat].uniform(1, 2))
    return replace(found, records=tuple(replace(one, **changes) for one in found.records))


def apart(*results: Results, metrics=()) -> Compared:
    return Compared({f"side {number}": Loaded(one) for number, one in enumerate(results)}, metrics)


def test_an_experiment_and_its_copy_are_equal_and_every_difference_is_zero():
    found = apart(played(design()), played(design()))
    assert {(one.mean, one.pairs) for one in found.contrasts} == {(0, 6)}
    assert verdict(found).startswith("Equal: all")
    assert found.apart == found.origins_apart == []


def test_two_experiments_of_one_design_never_differ_where_each_is_a_single_draw():
    one, other = (played(design(same_seed=True), salt) for salt in ("one", "two"))
    found = contrasts({"one": one, "two": other})
    assert {(one.low, one.high, one.p, one.p_holm, one.note) for one in found} == {(None,) * 4 + (ONE_SIDE,)}
    assert not any(one.is_found for one in found)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1), st.integers(2, 9), st.text("abc", min_size=1, max_size=4))
def test_swapping_the_sides_flips_every_sign_and_changes_no_p(seed, repeats, salt):
    one, other = played(design()), played(design(seed=seed, repeats=repeats), salt)
    there, back = apart(one, other).contrasts, apart(other, one).contrasts
    for ours, theirs in zip(there, back, strict=True):
        assert ours.mean == pytest.approx(-theirs.mean)
        assert (ours.low is None) == (theirs.high is None)
        assert ours.low is None or ours.low == pytest.approx(-theirs.high)
        assert ours.p == pytest.approx(theirs.p)
        assert (ours.value, ours.n, ours.how) == (theirs.against, theirs.against_n, theirs.how)


@pytest.mark.parametrize(
    ("changes", "why"),
    [({}, ""), ({"repeats": 3}, ""), ({"seed": 1}, OTHER_SEEDS), ({"items": 3}, OTHER_ITEMS)],
    ids=["the same draws", "fewer of them", "other seeds", "other items"],
)
def test_games_are_pairs_only_where_they_share_seeds_and_items_and_it_is_said_why_not(changes, why):
    found = apart(played(design()), played(design(**changes), "other"))
    assert {(one.how, one.why) for one in found.contrasts} == {("independent" if why else "paired", why)}
    assert why in how(found)
    assert {one.pairs for one in found.contrasts} == {0 if why else changes.get("repeats", 6)}


def test_a_paired_difference_is_that_of_one_experiment_that_has_both_as_arms():
    planned = tuple(Comparison(metric=name, of=Side(arm="two"), against=Side(arm="one")) for name in ("profit", "rank"))
    both = analyse(played(design((ONE, TWO), comparisons=planned))).differences
    contrasts = apart(played(design()), played(design((TWO,)))).contrasts
    [one] = [one for one in contrasts if (one.bidder, one.metric) == ("everyone", "profit")]
    assert (one.against_arm, one.arm) == ("one", "two")
    assert [getattr(one, name) for name in NUMBERS] == [getattr(both[0], name) for name in NUMBERS]


def test_p_is_corrected_for_all_that_is_compared_and_fewer_metrics_are_fewer_tests():
    sides = played(design()), played(design(seed=1), "other")
    whole, part = apart(*sides), apart(*sides, metrics=["profit"])
    least = min(part.contrasts, key=lambda one: one.p)
    assert least.p_holm == pytest.approx(min(1, least.p * len(part.contrasts)))
    assert len(part.contrasts) < len(whole.contrasts)


def test_three_experiments_are_each_compared_with_the_first():
    found = apart(played(design()), played(design(), "a"), played(design(seed=1), "b"))
    assert {one.experiment: one.how for one in found.contrasts} == {"side 1": "paired", "side 2": "independent"}
    settings = [(one.experiment, one.setting, one.value, one.against) for one in found.apart]
    assert settings == [("side 2", "seed", "1", "0")]


@pytest.mark.parametrize(("salts", "heads"), [
    ("ab", ["metric", "bidder", "side 0", "side 1", "difference", "p"]),
    ("abc", ["metric", "bidder", "experiment", "side 0", "its mean", "difference", "p"]),
])  # fmt: skip
def test_a_mean_has_the_name_of_its_experiment_or_of_several_a_column_with_it(salts, heads):
    found = apart(*(played(design(), salt) for salt in salts))
    assert [column.head.text for column in differences_table(found, found.contrasts).columns] == heads


def test_what_only_one_has_is_named_and_arms_are_compared_by_their_names():
    found = apart(played(design((ONE, TWO))), played(design((TWO, THREE), metrics=("profit",))))
    assert {one.arm for one in found.contrasts} == {"two"}
    lacks = [("side 1", "arm", ["three"]), ("side 0", "arm", ["one"]), ("side 0", "metric", ["rank"])]
    assert list(found.only_in_one()) == lacks
    assert {"arms.one", "arms.three", "metrics"} <= {one.setting for one in found.apart}


def test_only_bidders_of_both_are_compared():
    def renamed(game: TrialRecord) -> TrialRecord:
        measured = [replace(one, bidder="Cho") if one.bidder == "Ben" else one for one in game.measurements]
        return replace(game, measurements=tuple(measured))

    ours = played(design(metrics=("profit",)))
    found = apart(ours, replace(ours, records=tuple(map(renamed, ours.records))))
    assert {one.bidder for one in found.contrasts} == {"Ann", EVERYONE}


@pytest.mark.parametrize(("other", "says"), [
    ({"metrics": ("revenue",)}, "have no metric in common"),
    ({"arms": (TWO, Variation(name="four"))}, "have no arm in common"),
])  # fmt: skip
def test_designs_with_nothing_in_common_are_refused_in_one_line_that_names_what_they_have(other, says):
    with pytest.raises(ConfigError, match=f"^[^\n]*{says}[^\n]*$"):
        apart(played(design((ONE, THREE))), played(design(**other)))


def test_a_public_copy_has_no_pairs_and_one_game_no_test():
    public = replace(played(design(), seed=None), public=True)
    assert {one.why for one in apart(played(design()), public).contrasts} == {UNTOLD}
    alone = apart(played(design(repeats=1)), played(design(repeats=1), "other"))
    assert {one.p for one in alone.contrasts} == {None}
    assert verdict(alone).startswith("Nothing can be said")


def test_games_that_failed_or_are_not_finished_are_told_of():
    broken = played(design(), status="failed", detail="no reply", measurements=())
    found = apart(played(design()), broken)
    assert list(warnings(found)) == ["side 1: 6 games failed (of 6 games)"]
    assert found.contrasts == []


def test_the_terminal_names_the_experiments_with_simulated_bidders():
    by_rules, simulated = (played(design(), players=(("Ann", player),)) for player in ("rational", "simulated"))
    assert next(compared_tables(apart(by_rules, simulated))).endswith(" Simulated bidders in side 1.")
    assert "Simulated" not in next(compared_tables(apart(by_rules, by_rules)))


def test_the_page_escapes_names_and_csv_has_no_formula():
    found = Compared({"<b>": Loaded(played(design())), "=1+1": Loaded(played(design(seed=1)))})
    header = render_compared(found).partition("<header>")[2].partition("</header>")[0]
    assert "<b>" not in header.replace("<b>small", "")
    assert "'=1+1" in to_csv(found)
    assert to_csv(found).splitlines()[0].endswith(",simulated")


def test_one_folder_twice_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="given 2 times"):
        compare(tmp_path, tmp_path / ".")


SAMPLES = st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=12)


@given(SAMPLES, SAMPLES, st.sampled_from(["binary", "mean", "skewed"]))
def test_p_of_independent_samples_is_below_5_percent_where_the_interval_leaves_out_zero(one, other, kind):
    found = independent(one, other, kind, 1.0)
    mean = found.difference
    assert (mean.low is None) == (found.p is None)
    if found.p is not None:
        assert (found.p < 0.05) == (mean.low > 0 or mean.high < 0)
        assert mean.low <= mean.mean <= mean.high


@pytest.mark.slow
@needs_browser
def test_the_page_is_sound_by_axe_in_light_and_dark_fits_a_phone_and_is_printed_whole(tmp_path):
    found, place = apart(played(design()), played(design(seed=1)), played(design(), "b")), tmp_path / "compared.html"
    place.write_text(render_compared(found), encoding="utf-8")

    def sound(shown: Page) -> tuple[list[str], bool, bool]:
        shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        return findings(shown), overflow(shown) <= 0, verdict(found)[:20] in shown.inner_text("body")

    with browser() as look:
        for how in (False, True):
            assert look(place, sound, phone=how, dark=how) == ([], True, True)
        paper = look(place, printed)
    assert paper.sheets >= 1
    assert all(name in paper.text for name in found.experiments)
