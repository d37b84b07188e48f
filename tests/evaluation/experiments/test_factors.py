"""Crossed factors: a design names levels, and its arms are their combinations."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from itertools import combinations, product

import pytest

from harbor._cli.display.designs import design_tables
from harbor._cli.display.render import Table
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment as read
from harbor.evaluation._experiments.trial_runs import offline, run_trial
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._experiments.variations import Factor, combined
from harbor.evaluation._running.experiment_folder import read_results
from harbor.evaluation._running.runner import run_experiment

HEAD = """
name = "crossed"
title = "Crossed"
question = "How much is wording?"
source = "here"
repeats = 1
metrics = ["profit"]
[auction]
items = { count = 1 }
[[auction.bidders]]
name = "Ann"
[[auction.bidders]]
name = "Ben"
"""
PLANS = """
[[factors]]
name = "plans"
[[factors.levels]]
name = "planned"
label = "with a plan"
[[factors.levels]]
name = "planless"
auction.bidders."*" = { planning = "none" }
"""
THOUGHTS = """
[[factors]]
name = "thoughts"
[[factors.levels]]
name = "thinking"
[[factors.levels]]
name = "silent"
auction.bidders."*" = { chain_of_thought = false }
"""
BUDGETS = """
[[factors]]
name = "budgets"
[[factors.levels]]
name = "poor"
auction.bidders."*" = { budget = 5000 }
[[factors.levels]]
name = "rich"
order = "random"
auction.bidders."*" = { budget = 50000 }
"""
ARMS = """
[[arms]]
name = "one"
"""


def design(tmp_path, *parts: str, crossing: str = "whole"):
    path = tmp_path / "crossed.toml"
    path.write_text("".join((f'crossing = "{crossing}"', HEAD, *parts)))
    return read(str(path))


def two_level(*names: str) -> list[Factor]:
    return [Factor(name=name, levels=[{"name": f"{name}0"}, {"name": f"{name}1"}]) for name in names]


def test_arms_are_all_combinations_of_levels_with_the_changes_of_each(tmp_path):
    found = design(tmp_path, PLANS, THOUGHTS, BUDGETS)
    assert [arm.name for arm in found.arms] == [
        "-".join(names) for names in product(("planned", "planless"), ("thinking", "silent"), ("poor", "rich"))
    ]
    last = found.arms[-1]
    assert last.auction == {"bidders": {"*": {"planning": "none", "chain_of_thought": False, "budget": 50000}}}
    assert (last.order, found.arms[0].order) == ("random", None)
    assert found.arms[0].label == "with a plan, thinking, poor"
    assert len(trials(found)) == 8


def test_an_arm_of_a_crossing_is_chosen_by_its_name_and_the_rest_stays_planned(tmp_path):
    found = chosen(design(tmp_path, PLANS, THOUGHTS), arms=["planless-silent"])
    assert [arm.name for arm in found.arms] == ["planless-silent"]
    assert len(found.arms_left_out) == 3


async def test_a_crossed_design_is_read_back_from_its_folder_as_it_was_run(tmp_path):
    found = chosen(design(tmp_path, PLANS, THOUGHTS), arms=["planless-silent", "planned-silent"], repeats=2)
    await run_experiment(found, tmp_path / "run")
    kept = (await asyncio.to_thread(read_results, tmp_path / "run")).experiment
    assert (kept.arms, kept.arms_left_out, kept.factors) == (found.arms, found.arms_left_out, found.factors)


def test_half_of_a_crossing_holds_every_pair_of_levels_equally_often():
    three = Factor(name="e", levels=[{"name": "e0"}, {"name": "e1"}, {"name": "e2"}])
    factors = [*two_level("a", "b", "c", "d"), three]
    arms = [tuple(level.name for level in levels) for levels in combined(factors, "half")]
    assert len(arms) == len(set(arms)) == 2**3 * 3
    for one, other in combinations(range(5), 2):
        pairs = [(arm[one], arm[other]) for arm in arms]
        assert len({pairs.count(pair) for pair in set(pairs)}) == 1
        assert len(set(pairs)) == len(factors[one].levels) * len(factors[other].levels)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ((PLANS, PLANS.replace('"plans"', '"again"')), "factors 'plans' and 'again' both change auction.bidders.*.pl"),
        ((PLANS, PLANS), "factor name 'plans' is there twice"),
        (
            (PLANS, BUDGETS.replace('"*" = { budget = 5000 }', "Ann = { planning = 'static' }")),
            "factors 'plans' and 'budgets' both change auction.bidders.",
        ),
        ((PLANS, '[[factors]]\nname = "bare"\n'), "levels is missing; write [[levels]] once for each"),
        ((PLANS, '[[factors]]\nname = "empty"\nlevels = []\n'), "factor 'empty' has 0 levels; give it two or more"),
        ((PLANS, ARMS), "arms and factors are both given"),
        ((PLANS.replace("planless", "planned"),), "level name 'planned' is there twice"),
        ((PLANS.replace('"plans"', '"condition"'),), "factor 'condition' is called as conditions are"),
    ],
)
def test_contradictions_are_refused_in_one_line(tmp_path, parts, complaint):
    with pytest.raises(ConfigError, match=re.escape(complaint)) as refused:
        design(tmp_path, *parts)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ((PLANS, THOUGHTS), "crossing 'half' needs three factors of two levels, not 2; take 'whole'"),
        ((ARMS,), "crossing 'half' is of factors, and there are none"),
    ],
)
def test_half_of_too_little_is_refused(tmp_path, parts, complaint):
    with pytest.raises(ConfigError, match=complaint):
        design(tmp_path, *parts, crossing="half")


def test_arms_of_a_crossing_are_shown_by_their_names_alone():
    rows = {one.title: one.rows for one in design_tables(read("multiverse")) if isinstance(one, Table)}
    assert len(rows["Arms"]) == 96
    assert {tuple(row) for row in rows["Arms"]} == {("name",)}
    assert rows["Factors"][4]["levels"] == 'hinted: bidders."*".hints = true; unhinted: bidders."*".hints = false'


@pytest.mark.slow
async def test_of_the_factors_of_the_multiverse_the_built_in_model_heeds_beliefs_alone():
    design = read("multiverse").model_dump(mode="json", exclude={"arms", "arms_left_out"})
    experiment = Experiment.model_validate(design | {"crossing": "whole"})
    first = [factor.levels[0].name for factor in experiment.factors]
    of_arm = {"-".join(first): ""}
    for place, factor in enumerate(experiment.factors):
        for level in factor.levels[1:]:
            of_arm["-".join([*first[:place], level.name, *first[place + 1 :]])] = factor.name
    played = {
        trial.arm: await run_trial(replace(trial, config=offline(trial.config)), experiment.metrics)
        for trial in trials(experiment, 1)
        if trial.arm in of_arm
    }
    usual = played["-".join(first)].measurements
    assert {of_arm[arm] for arm, game in played.items() if game.measurements != usual} == {"beliefs"}
