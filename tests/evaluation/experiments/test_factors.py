"""Crossed factors: a design names levels, and its arms are their combinations."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import pytest

from harbor._cli.display.designs import design_tables
from harbor._cli.display.render import Table
from harbor._config.auction import check
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment as read
from harbor.evaluation._experiments.trial_runs import offline, run_trial
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._experiments.variations import Factor, combined
from harbor.evaluation._running.experiment_folder import read_results
from harbor.evaluation._running.runner import run_experiment

ABOUT = {"name": "crossed", "title": "Crossed", "question": "?", "source": "here", "repeats": 1, "metrics": ["profit"]}
SALE = {"items": {"count": 1}, "bidders": [{"name": "Ann"}, {"name": "Ben"}]}


def level(name, whose="*", more=(), **settings):
    return {"name": name, **dict(more), **({"auction": {"bidders": {whose: settings}}} if settings else {})}


def factor(name, *levels):
    return {"name": name, "levels": list(levels)}


PLANNED, PLANLESS = level("planned", more={"label": "with a plan"}), level("planless", planning="none")
PLANS = factor("plans", PLANNED, PLANLESS)
THOUGHTS = factor("thoughts", level("thinking"), level("silent", chain_of_thought=False))
RICH = level("rich", budget=50_000, more={"order": "random"})
BUDGETS = factor("budgets", level("poor", budget=5_000), RICH)
CLASH = factor("budgets", level("poor", "Ann", planning="static"), RICH)


def design(*factors, **more):
    return check(Experiment, ABOUT | {"auction": SALE, "factors": list(factors)} | more, "crossed.toml")


def test_arms_are_all_combinations_of_levels_with_the_changes_of_each():
    found = design(PLANS, THOUGHTS, BUDGETS)
    crossed = product(("planned", "planless"), ("thinking", "silent"), ("poor", "rich"))
    assert [arm.name for arm in found.arms] == ["-".join(names) for names in crossed]
    last = found.arms[-1]
    assert last.auction == {"bidders": {"*": {"planning": "none", "chain_of_thought": False, "budget": 50_000}}}
    assert (last.order, found.arms[0].order) == ("random", None)
    assert found.arms[0].label == "with a plan, thinking, poor"
    assert len(trials(found)) == 8


async def test_a_chosen_part_of_a_crossing_is_read_back_from_its_folder_as_it_was_run(tmp_path):
    found = chosen(design(PLANS, THOUGHTS), arms=["planless-silent", "planned-silent"], repeats=2)
    assert {arm.name for arm in found.arms} == {"planless-silent", "planned-silent"}
    assert len(found.arms_left_out) == 2
    await run_experiment(found, tmp_path / "run")
    kept = (await asyncio.to_thread(read_results, tmp_path / "run")).experiment
    assert (kept.arms, kept.arms_left_out, kept.factors) == (found.arms, found.arms_left_out, found.factors)


def test_half_of_a_crossing_holds_every_pair_of_levels_equally_often():
    factors = [
        Factor(name=name, levels=[{"name": f"{name}{at}"} for at in range(2 + (name == "e"))]) for name in "abcde"
    ]
    arms = [tuple(level.name for level in levels) for levels in combined(factors, "half")]
    assert len(arms) == len(set(arms)) == 2**3 * 3
    for one, other in combinations(range(5), 2):
        pairs = Counter((arm[one], arm[other]) for arm in arms)
        assert len(set(pairs.values())) == 1
        assert len(pairs) == len(factors[one].levels) * len(factors[other].levels)


@pytest.mark.parametrize(("factors", "more", "complaint"), [
    ([PLANS, PLANS | {"name": "again"}], {}, "factors 'plans' and 'again' both change auction.bidders.*.pl"),
    ([PLANS, PLANS], {}, "factor name 'plans' is there twice"),
    ([PLANS, CLASH], {}, "factors 'plans' and 'budgets' both change auction.bidders."),
    ([PLANS, {"name": "bare"}], {}, "levels is missing; write [[levels]] once for each"),
    ([PLANS, factor("empty")], {}, "factor 'empty' has 0 levels; give it two or more"),
    ([PLANS], {"arms": [{"name": "one"}]}, "arms and factors are both given"),
    ([factor("plans", PLANNED, PLANNED)], {}, "level name 'planned' is there twice"),
    ([PLANS | {"name": "condition"}], {}, "factor 'condition' is called as conditions are"),
    ([PLANS, THOUGHTS], {"crossing": "half"}, "'half' needs three factors of two levels, not 2; take 'whole'"),
    ([], {"arms": [{"name": "one"}], "crossing": "half"}, "crossing 'half' is of factors, and there are none"),
])  # fmt: skip
def test_contradictions_are_refused_in_one_line(factors, more, complaint):
    with pytest.raises(ConfigError, match=rf"\A.*{re.escape(complaint)}.*\Z"):
        design(*factors, **more)


def test_arms_of_a_crossing_are_shown_by_their_names_alone():
    rows = {one.title: one.rows for one in design_tables(read("multiverse")) if isinstance(one, Table)}
    assert (len(rows["Arms"]), {tuple(row) for row in rows["Arms"]}) == (96, {("name",)})
    assert rows["Factors"][4]["levels"] == 'hinted: bidders."*".hints = true; unhinted: bidders."*".hints = false'


@pytest.mark.studies
async def test_of_the_factors_of_the_multiverse_the_built_in_model_heeds_beliefs_alone():
    design = read("multiverse").model_dump(mode="json", exclude={"arms", "arms_left_out"})
    experiment = Experiment.model_validate(design | {"crossing": "whole"})
    first = [factor.levels[0].name for factor in experiment.factors]
    of_arm = {"-".join(first): ""}
    for place, one in enumerate(experiment.factors):
        of_arm |= {"-".join([*first[:place], other.name, *first[place + 1 :]]): one.name for other in one.levels[1:]}
    played = {
        trial.arm: await run_trial(replace(trial, config=offline(trial.config)), experiment.metrics)
        for trial in trials(experiment, 1)
        if trial.arm in of_arm
    }
    usual = played["-".join(first)].measurements
    assert {of_arm[arm] for arm, game in played.items() if game.measurements != usual} == {"beliefs"}
