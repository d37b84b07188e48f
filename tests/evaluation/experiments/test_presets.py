"""Every published experiment is there, can be held, and measures every number that its paper prints; so is our own."""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections import Counter
from itertools import product

import pytest

from harbor._cli.shared.trust import named_by
from harbor._games.water.rules import WaterRules
from harbor.evaluation._analysis.findings import Analysis, analyse
from harbor.evaluation._analysis.levels import unreachable
from harbor.evaluation._analysis.ratings import MEANINGS
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._experiments.trial_runs import run_trial
from harbor.evaluation._experiments.trials import people, trial_count, trials
from harbor.evaluation._running.experiment_folder import read_results
from support.cases import EACH
from support.commands import harbor, process
from support.folders import ROOT

FEW = {"items": ("Item 4", "Item 5")}
MATCHED = {"count": 3, "matched": 1}
TABLE_1 = {"items": ("Widget A", "Gadget B", "Thingamajig C", "Doodad D")}
SMALL = {  # what is kept of each preset: all arms and conditions, of which none become equal, and a few seconds of play
    "rationality": {"items": ("Item A", "Item B", "Item E"), "repeats": 2},
    "adaptability": {"items": ("Item A", "Item D", "Item E", "Item F", "Item J")},
    "standard": {"items": ("Item A", "Item B", "Item C", "Item D")}, "multiverse": {"items": ("Item A", "Item B")},
    **dict.fromkeys(("intraspecific", "interspecific", "bidding"), FEW),
    **dict.fromkeys(("learning", "learning-people"), FEW | {"auctions": 2}),
    **dict.fromkeys(("planners", "by-item", "people"), TABLE_1),
    "persona-behaviour": MATCHED, "tom": MATCHED, "persona-profit": MATCHED | {"repeats": 2},
    "tom-everywhere": {"count": 3, "runs": 2}, "chain-of-thought": {}, "english-private": {}, "beauty": {"runs": 2},
    "profiling": {"count": 8}, "profiling-capacity": {"count": 6, "matched": 1}, "water": {"days": 3},
    "second-price": {"runs": 2}, "history": {"runs": 3},
}  # fmt: skip
PRESETS = set(SMALL)
PEOPLE = {"people", "learning-people"}
"""Those that a person at the terminal plays."""
PLACEBOS = {arm: f"{arm}-placebo" for arm in ("true", "inferred-strategy", "true-strategy", "second")}
"""The arms of the preset `tom` that know something of their rivals, each with its placebo."""


def cut(value: object, small: dict[str, object], key: str = "") -> object:
    """Cut a part of a design: numbers down to those that are given by key, items and their order to those named."""
    match value:
        case dict():
            return {inner: cut(one, small, key if key == "matched" else inner) for inner, one in value.items()}
        case list() if key in ("items", "order"):
            return [one for one in value if (one["name"] if isinstance(one, dict) else one) in small["items"]]
        case list():
            return [cut(one, small, key) for one in value]
        case int() if key in small:
            return min(value, small[key])
    return value


def tiny(name: str) -> Experiment:
    """A preset with all its arms, conditions and metrics, and less to play."""
    whole = experiment(name).model_dump(mode="json")
    if name == "water":
        whole["auction"]["rules"]["days"] = WaterRules().days  # what the preset leaves as it is
    return Experiment.model_validate(cut(whole, {"repeats": 1, **SMALL[name]}))


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_that_is_sent_as_json_names_nothing_but_harbors_own(name):
    assert named_by(experiment(name).model_dump(mode="json")) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_a_preset_that_is_run_small_yields_every_number_that_it_names(name, tmp_path):
    design, folder = tmp_path / "design.json", tmp_path / "run"
    design.write_text(tiny(name).model_dump_json())
    how = ("experiment", "run", design, "--quiet", "--out", folder)
    ended = process(*how, given="out\n" * 50) if name in PEOPLE else harbor(*how)
    assert ended.returncode == 0, ended.stderr
    results = read_results(folder)
    assert {record.status for record in results.records} == {"finished"}
    for measurement in (one for record in results.records for one in record.measurements):
        assert measurement.missing if measurement.value is None else math.isfinite(measurement.value), measurement
    found, ours = results.experiment, numbers(analyse(results))
    assert {metric for metric, *_ in ours} >= set(found.metrics)
    for arm, condition, published in product(found.arms, found.conditions, found.published):
        for value in published.values:
            if value.is_beside(arm.name, condition.name):
                assert (published.metric, arm.name, condition.name, value.bidder) in ours, published


def numbers(analysis: Analysis) -> set[tuple[str, str, str, str]]:
    """Metric, arm, condition and bidder of all numbers of an analysis; a correlation of equal values is a reason."""
    found = [(one.metric, one) for one in analysis.estimates if one.mean is not None]
    found += [(one.name, one) for one in analysis.correlations if one.rho is not None or one.note]
    found += [(name, one) for one in analysis.ratings for name in MEANINGS]
    return {(name, one.arm, one.condition, one.bidder) for name, one in found}


def test_the_question_of_personas_and_behaviour_is_tested_within_each_bidder():
    found = tiny("persona-behaviour")
    planned = {(one.metrics, one.of.bidder, one.against.bidder) for one in found.comparisons}
    asked = [(f"matched_{metric}", f"unmatched_{metric}") for metric in ("priority", "engagement")]
    assert planned == {(metrics, rival, rival) for metrics, rival in product(asked, ("Rival 1", "Rival 2"))}
    held = tuple(asyncio.run(run_trial(one, measured(found))) for one in trials(found, 2))
    assert [one.pairs for one in analyse(Results(found, held)).differences] == [2, 2, 2, 2]


def test_the_people_of_a_preset_play_the_seat_that_its_paper_gave_them():
    played = {name: who for name in PRESETS if (who := people(experiment(name)))}
    assert played == {name: {"person": "Person"} for name in PEOPLE}


def test_each_model_of_the_arena_takes_its_turn_as_the_learner():
    seats = {one.arm: one.config.bidders for one in trials(experiment("learning"), 1)}
    learners = {arm: "".join(one.model for one in bidders if one.learning) for arm, bidders in seats.items()}
    shares = {f"model-{at}": f"minimum-{share}" for at, share in ((3, 90), (4, 75), (5, 60))}
    assert learners == {"no-learning": "", "learning": "simulated", "model-2": "errs", **shares}


def test_a_placebo_arm_is_its_arm_but_for_the_placebo_and_is_compared_with_it():
    found = experiment("tom")
    games = {one.arm: one.config for one in trials(found, 1)}
    for arm, placebo in PLACEBOS.items():
        one, other = ({seat.name: seat for seat in games[name].bidders} for name in (arm, placebo))
        assert (one["Master"].placebo, other["Master"].placebo) == ("none", "uniform")
        assert other | {"Master": other["Master"].model_copy(update={"placebo": "none"})} == one
        assert games[arm].items == games[placebo].items
    assert {(one.of.arm, one.against.arm) for one in found.comparisons} >= set(PLACEBOS.items())
    sides = product(found.arms, found.published)
    beside = [arm.name for arm, one in sides if any(value.is_beside(arm.name, "all") for value in one.values)]
    assert Counter(beside) == dict.fromkeys(("none", *PLACEBOS), 3), "an arm that was not published has no number"


DESIGNS = sorted((ROOT / "bench").glob("*.toml"))


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_every_design_of_the_results_can_be_run_and_can_find_something(path):
    design = experiment(str(path))
    assert len(trials(design, 1)) == trial_count(design) / design.repeats
    assert unreachable(design) == ""
    assert f"bench/{path.name}" in (ROOT / "RESULTS.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------- from the shell


def test_the_list_names_every_preset_with_its_games():
    rows = {row["name"]: row for row in json.loads(harbor("experiment", "list", "--json").stdout)["experiments"]}
    assert set(rows) == PRESETS
    assert rows["tom"]["games"] == 135
    assert all(row["question"] and row["source"] for row in rows.values())


def test_designs_are_listed_and_shown_without_a_framework_or_statistics():
    heavy = "autogen_core langgraph langchain_core chromadb pandas statsmodels scipy matplotlib ray"
    shown = process("experiment", "show", "tom", env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert "Theory of mind" in shown.stdout
    assert "pydantic" in loaded
    assert not {*heavy.split()} & loaded


def test_a_design_shows_what_is_varied_measured_published_given_and_stood_in_for():
    shown = harbor("experiment", "show", "standard", "--full")
    assert shown.returncode == 0, shown.stderr
    told = "a rule|bidders.Challenger.max_bids = 4|descending|bid_increase_share|8712.5|GPT-4-Turbo|slot @2|120 games"
    assert [words for words in (*told.split("|"), "Deviations from the paper") if words not in shown.stdout] == []
    water = json.loads(harbor("experiment", "show", "water", "--json").stdout)
    assert {one["n"] for one in water["published"]} == {10}
    assert water["deviations"] == [one.model_dump() for one in experiment("water").deviations]
    given = json.loads(harbor("experiment", "show", "standard", "--model", "openai:gpt-4o", "--json").stdout)
    assert given["slots"] == {"@1": "openai:gpt-4o", "@2": "minimum-90", "@3": "minimum-60"}
    assert [words.split(",")[0] for words in given["standing_in"]] == ["model slot @2", "model slot @3"]
