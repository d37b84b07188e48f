"""Repeats of one draw: nothing varies but the model's replies, and what is reported is their spread."""

from __future__ import annotations

import json

import pytest

from harbor._config.auction import check
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._analysis.comparisons import ONE_DRAW
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._analysis.power import planned
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import OWN_NOISE, Experiment, model_slots
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._report.page.notebook_view import load
from harbor.evaluation._report.page.page import commands, render
from harbor.evaluation._report.paper.exports import latex
from harbor.evaluation._report.tabular.listings import of_analysis
from harbor.evaluation._report.tabular.loading import Loaded
from support.commands import harbor, mistake
from support.folders import TINY


@pytest.fixture(scope="module")
def design() -> Experiment:
    about = {"name": "noise", "title": "Noise", "question": "How much do its games differ?", "source": "nobody"}
    ann, ben = ({"name": name, "persona": slot} for name, slot in (("Ann", "@1"), ("Ben", "@2")))
    auction = {"items": {"count": 4}, "bidders": [ann | {"model": "@1"}, ben | {"rule": "minimum-raise"}]}
    static = {"name": "static", "auction": {"bidders": {"Ann": {"planning": "static"}}}}
    sides = ({"arm": "adaptive"}, {"arm": "static"}), ({"bidder": "Ann"}, {"bidder": "Ben"})
    about |= {"repeats": 4, "metrics": ["profit"], "order": "random", "auction": auction}
    about["comparisons"] = [{"metric": "profit", "of": of, "against": against} for of, against in sides]
    return check(Experiment, about | {"arms": [{"name": "adaptive"}, static]}, "noise")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("same-seed") / "folder"
    done = harbor("experiment", "run", TINY, "--same-seed", "--repeats", 3, "--out", folder, "--json")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_repeats_of_one_draw_are_the_first_of_the_design_but_for_their_number(design):
    found = trials(chosen(design, same_seed=True))
    assert [one.draw for one in found] == [str(number) for number in (1, 1, 2, 2, 3, 3, 4, 4)]
    for arm in ("adaptive", "static"):
        own = [one for one in found if one.arm == arm]
        assert len({one.config.model_copy(update={"name": ""}).model_dump_json() for one in own}) == 1
        assert len({one.path for one in own}) == len({one.config.name for one in own}) == 4
    as_designed = trials(design)
    assert [one.config for one in found[:2]] == [one.config for one in as_designed[:2]]
    assert {one.draw for one in as_designed} == {""}
    assert len({one.config.seed for one in as_designed}) == 4


def results(design: Experiment, profits: list[float]) -> Results:
    same = chosen(design, same_seed=True)
    records = tuple(
        TrialRecord(
            *(one.arm, one.condition, one.repeat, one.config.seed, "finished"),
            measurements=(Measurement("profit", profits[one.repeat - 1], "Ann"), Measurement("profit", 0.0, "Ben")),
        )
        for one in trials(same)
        if one.repeat <= len(profits)
    )
    return Results(same, records)


def test_the_spread_of_an_arm_is_the_standard_deviation_of_its_games_with_an_interval_by_chi_square(design):
    found = analyse(results(design, [10, 12, 14, 16]))
    [ann] = [one for one in found.spreads if (one.arm, one.bidder) == ("adaptive", "Ann")]
    assert (ann.games, ann.mean, ann.note) == (4, 13, "")
    assert ann.sd == pytest.approx(2.5819889)
    assert (ann.low, ann.high) == pytest.approx((1.4626673, 9.6269873), rel=1e-4)  # sd * sqrt(3 / 9.3484), (3 / 0.2158)
    between, *within = found.differences  # arms are not compared over repeats of one draw, but bidders of one game are
    assert (between.pairs, between.missing, between.mean, between.p, between.note) == (0, 0, None, None, ONE_DRAW)
    assert [(one.pairs, one.mean, one.note) for one in within] == [(4, 13, "")] * 2


def test_without_any_spread_there_is_no_interval_no_test_and_no_crash(design):
    found = analyse(results(design, [10, 10, 10, 10]))
    told = {(one.sd, one.low, one.high, one.note) for one in found.spreads}
    assert told == {(0.0, None, None, "all 4 values are equal")}
    assert [one.p for one in found.differences] == [None] * 3
    assert "all 4 values are equal" in latex(of_analysis(found, design)["spreads"], "spreads", "spreads")
    assert {spread.note for spread in analyse(results(design, [10])).spreads} == {"one value has no spread"}
    plain = Results(design, results(design, [10, 12, 14, 16]).records)
    assert analyse(plain).spreads == ()
    assert "own noise" not in render(Loaded(plain))


def test_a_run_with_one_seed_says_in_words_what_its_intervals_are_of(folder):
    path, said = folder
    assert said["same_seed"].startswith(OWN_NOISE)
    assert {one["sd"] for one in said["spreads"]} == {0.0}
    loaded = load(path)
    assert len({game.seed for game in loaded.results.records}) == 1
    page = render(loaded)
    assert "of the model&#39;s own noise alone" in page
    assert "The built-in model has no noise of its own." in page
    assert "are paired" not in page
    assert list(loaded.spreads["sd"].unique()) == [0.0]
    for command in (("resume", path), ("show", path / "experiment.json")):
        assert "model's own noise alone" in " ".join(harbor("experiment", *command).stdout.split())


def test_the_command_that_reproduces_a_published_experiment_repeats_its_seed_too():
    published = experiment("beauty")
    same = chosen(published, published.models[: len(model_slots(published))], repeats=2, same_seed=True)
    assert commands(same)[-1].endswith("--same-seed")


def test_one_draw_is_no_pilot_for_the_number_of_pairs(design, folder, tmp_path):
    with pytest.raises(ConfigError, match="same_seed"):
        planned(chosen(design, same_seed=True))
    sides = '[[comparisons]]\nmetric = "profit"\nof.arm = "adaptive"\nagainst.arm = "none"\n'
    (tmp_path / "tiny.toml").write_text(TINY.read_text() + sides)
    said = mistake(harbor("experiment", "power", tmp_path / "tiny.toml", "--effect", 100, "--pilot", folder[0]))
    assert "--same-seed" in said
