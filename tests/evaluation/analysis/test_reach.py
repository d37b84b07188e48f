"""Designs whose tests can't reach their level are warned of before a game is paid for."""

from __future__ import annotations

import json
from html import unescape

import pytest

from harbor.evaluation._analysis.levels import unreachable
from harbor.evaluation._analysis.statistics import holm, paired
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment, presets
from support.commands import harbor

DESIGN = """
name = "mortal"
title = "Mortal"
question = "Who survives?"
source = "here"
repeats = 5
metrics = ["survived", "profit"]
auction = { items = { count = 1 }, bidders = [{ name = "Ann" }, { name = "Ben" }] }
arms = [{ name = "rich" }, { name = "poor", auction.bidders.Ann = { budget = 100 } }]
comparisons = [{ metric = "survived", of = { bidder = "Ann" }, against = { bidder = "Ben" } }]
"""


@pytest.fixture
def mortal(tmp_path):
    path = tmp_path / "mortal.toml"
    path.write_text(DESIGN)
    return path


def test_a_yes_or_no_at_five_repeats_can_never_be_found_and_the_repeats_that_can_are_named(mortal):
    design = experiment(str(mortal))
    assert unreachable(design) == (
        "2 of 2 planned comparisons can't reach p < 0.05 by Holm, whatever is found: survived (5 pairs);"
        " give --repeats 7 or more, or plan fewer comparisons"
    )
    for repeats in (6, 7):
        ps = [paired([1.0] * repeats, "binary").p for _ in range(2)]
        assert (min(holm(ps)) >= 0.05) is (repeats == 6) is bool(unreachable(chosen(design, repeats=repeats)))


def test_no_preset_plans_what_it_can_not_reach_and_one_repeat_reaches_nothing():
    assert {name for name in presets() if unreachable(experiment(name))} == set()
    alone = {name for name in presets() if unreachable(chosen(experiment(name), repeats=1))}
    assert alone == {name for name in presets() if experiment(name).comparisons}


@pytest.mark.slow
def test_it_is_said_at_show_estimate_and_before_the_first_game(mortal, tmp_path):
    words = "2 of 2 planned comparisons can't reach p < 0.05 by Holm"
    assert words in " ".join(harbor("experiment", "show", mortal).stdout.split())
    assert words in json.loads(harbor("experiment", "show", mortal, "--json").stdout)["unreachable"]
    assert f"harbor: warning: {words}" in harbor("estimate", mortal).stderr
    assert (
        f"harbor: warning: {words}" in harbor("experiment", "run", mortal, "--quiet", "--out", tmp_path / "run").stderr
    )
    assert harbor("report", tmp_path / "run").returncode == 0
    assert words in unescape((tmp_path / "run" / "report.html").read_text())


def test_comparisons_of_an_arm_that_is_left_out_count_in_the_family_alone_and_games_of_one_draw_are_no_pairs(mortal):
    design = chosen(experiment(str(mortal)), arms=["rich"], repeats=6)
    assert unreachable(design).startswith("1 of 1 planned comparisons that are run, in a family of 2, can't reach")
    assert "survived (1 pair)" in unreachable(chosen(design, repeats=1))
    assert unreachable(chosen(design, repeats=7)) == ""
    across = {"metric": "survived", "of": {"arm": "rich"}, "against": {"arm": "poor"}}
    values = experiment(str(mortal)).model_dump(mode="json") | {"same_seed": True, "comparisons": [across]}
    assert unreachable(Experiment.model_validate(values)) == ""
