"""Power: how many games a planned comparison needs, by a pilot, and designs that can never find anything."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from harbor._cli.display.designs import power_tables
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._analysis.levels import Question, least_pairs, unreachable
from harbor.evaluation._analysis.power import draws, games_needed, pairs_for, pilot, planned, power_of, spread_limits
from harbor.evaluation._analysis.statistics import holm, paired, pairs_needed
from harbor.evaluation._experiments.choices import chosen, chosen_arms
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment as read
from harbor.evaluation._experiments.library import presets
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trial_runs import offline
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._running.runner import run_experiment
from support.commands import Done, harbor, mistake

SMALL = """
name = "small"
title = "Small"
question = "Does it help to plan?"
source = "here"
repeats = 2
metrics = ["profit", "spent"]
auction.items = { count = 2 }
auction.bidders = [{ name = "Ann", model = "@1" }, { name = "Ben", model = "@1", budget = 900 }]
arms = [
    { name = "plain" }, { name = "planless", auction.bidders.Ann = { planning = "none" } },
    { name = "other", auction.bidders.Ann = { planning = "static" } },
]
comparisons = [
    { metric = "profit", of = { arm = "plain", bidder = "Ann" }, against = { arm = "planless", bidder = "Ann" } },
    { metric = "spent", of = { bidder = "Ann" }, against = { bidder = "Ben" } },
]
"""


@pytest.fixture
def small(tmp_path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


@pytest.fixture
def experiment(small) -> Experiment:
    return read(str(small))


def needs(experiment, plain, planless, effect=20.0):
    """Return the games that a pilot says are needed to compare what Ann earned; None is a failed game."""
    held = [
        TrialRecord(arm, "all", n, n, "failed", "silent") if profit is None else
        TrialRecord(arm, "all", n, n, "finished", measurements=(Measurement("profit", float(profit), "Ann"),))
        for arm, profits in (("plain", plain), ("planless", planless)) for n, profit in enumerate(profits, 1)
    ]  # fmt: skip
    return games_needed(Results(experiment, tuple(held)), planned(experiment, "profit"), Question(effect))


def power(where: Path, *words: str) -> Done:
    return harbor("experiment", "power", "small.toml", "--effect", "100", *words, cwd=where.parent)


def test_games_are_counted_by_the_spread_of_paired_differences_and_for_holm_at_worst(experiment):
    found = needs(experiment, [10, 30, 20, None, 60, 7], [5, 10, 30, 8, 50, None])
    [need] = found.needs
    assert (need.pairs, need.missing, need.test) == (4, 2, "t")
    assert need.sd == pytest.approx(stdev([5, 20, -10, 10]))
    assert found.family == 4  # one of profit, and one of spending in each of three arms
    for games, alpha in ((need.games, 0.05), (need.games_holm, 0.05 / 4)):
        assert games.likely == pytest.approx(pairs_needed(20, need.sd, alpha), abs=2)
        assert games.least < games.likely < games.enough
    assert need.note.startswith("rough: 4 pairs")


def test_differences_without_spread_and_missing_pairs_are_explained_cells_and_one_line(experiment):
    for plain, planless, note in (
        ([5, 6, 7], [4, 5, 6], "all 3 values are equal"), ([5, None], [4, None], "one value has no spread"),
        ([None, 5], [4, None], "no values"),
    ):  # fmt: skip
        [need] = (found := needs(experiment, plain, planless, 4.0)).needs
        assert (need.games, need.games_holm) == (None, None)
        assert need.note == f"{note}: the pilot does not say how they vary"
        say = f"No number of games is known: {need.note}; give a larger pilot, or another metric"
        assert list(power_tables(found)) == [say]


@pytest.mark.slow
@given(st.floats(0.1, 1e4), st.floats(1, 50))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_smaller_effects_need_no_fewer_games(experiment, effect, factor):
    pilot = experiment, [1, 50, 20, 3], [2, 2, 9, 4]
    one, smaller = (needs(*pilot, each).needs[0] for each in (effect, effect / factor))
    assert one.games.likely <= smaller.games.likely
    assert one.games.likely <= one.games_holm.likely


# ---------------------------------------------------------------- the simulation


def drawn(kind, size, seed=14):
    """Differences of a law without an effect; of pilots they are many, so that a promise errs by simulation alone."""
    random = np.random.default_rng(seed)
    return random.normal(size=size) if kind == "mean" else random.exponential(size=size) - 1


@pytest.mark.parametrize("pairs", [5, 50])
@pytest.mark.parametrize("kind", ["mean", "skewed"])
def test_what_is_promised_is_held_by_new_samples_of_the_same_law(kind, pairs):
    effect = 3 / pairs**0.5
    promised = power_of(draws(drawn(kind, 2000), kind, effect)[:, :pairs], kind, effect, 0.05 / 3)
    held = power_of(effect + drawn(kind, (4000, pairs), 15), kind, effect, 0.05 / 3)
    assert promised == pytest.approx(held, abs=0.05)
    assert 0.1 < held < 0.95


@pytest.mark.parametrize("pairs", [8, 50])
def test_what_is_promised_of_a_yes_or_no_is_held(pairs):
    random, effect = np.random.default_rng(16), 0.4
    pilot, samples = (random.choice([-1.0, 0, 1], size, p=[0.1, 0.4, 0.5]) for size in (2000, (4000, pairs)))
    promised = power_of(draws(pilot, "binary", effect)[:, :pairs], "binary", effect, 0.05)
    assert promised == pytest.approx(power_of(samples, "binary", effect, 0.05), abs=0.05)


def test_no_fewer_pairs_are_named_than_can_reach_the_level_and_many_are_counted_by_the_formula_of_the_t_test():
    def least(values, kind, effect, level=0.05):
        return pairs_for(draws(np.array(values), kind, effect), kind, effect, level, 0.8)

    always = [1.0] * 9 + [0.0]
    assert least(always, "binary", 1.0) == least_pairs("binary", 0.05) == 6
    assert least(always, "binary", 1.0, 0.05 / 4) == 8
    assert least([1.0, 2.0, 4.0, 9.0], "skewed", 1e9) == 3
    many = drawn("mean", 2000)
    assert least(many, "mean", 0.1) == pytest.approx(pairs_needed(0.1, float(many.std())), rel=0.03)


def test_the_limits_of_the_spread_hold_in_eight_of_ten_pilots_and_are_exact_of_a_yes_or_no():
    pilots = [drawn("mean", 10, seed) for seed in range(200)]
    enough = [one.std(ddof=1) * spread_limits(one, "mean")[1] ** 0.5 >= 1 for one in pilots]
    assert np.mean(enough) == pytest.approx(0.8, abs=0.08)
    low, high = spread_limits(np.array([1.0, -1, 0, 0, 0, 0, 0, 0, 0, 1]), "binary")
    assert stats.binom.sf(2, 10, 0.3 * low) == pytest.approx(0.2)
    assert stats.binom.cdf(3, 10, 0.3 * high) == pytest.approx(0.2)


def test_what_can_not_be_asked_is_refused_by_name(experiment):
    for refused, said in (
        *((lambda of=of: Question(of), f"effect {of!r}") for of in (0.0, float("nan"), float("inf"))),
        *((lambda of=of: Question(1.0, **of), "give an alpha above 0")
          for of in ({"power": 1.0}, {"alpha": 0.0}, {"alpha": 0.9}, {"power": float("nan")})),
        (lambda: planned(experiment, "profits"), "unknown compared metric 'profits'; did you mean 'profit'"),
        (lambda: planned(experiment.model_copy(update={"comparisons": ()})), "'small' plans no comparison"),
        (lambda: needs(experiment, [5], [4]), "the pilot has 1 repeat, and one game does not say how games vary"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=said):
            refused()


async def test_a_pilot_holds_the_compared_games_alone_and_pays_for_no_model(experiment):
    paid = experiment.model_copy(update={"models": ("openai:gpt-4o",), "temperature": 0.7})
    results = await pilot(paid, planned(paid, "profit"), 2)
    games = [(game.repeat, game.arm, game.status) for game in results.records]
    assert games == [(n, arm, "finished") for n in (1, 2) for arm in ("plain", "planless")]
    assert results.simulated
    game = trials(paid, 1)[0]  # nothing but its models is changed
    [(name, settings_of)] = offline(game.config).models.items()
    assert (name, settings_of.use, settings_of.temperature) == ("openai:gpt-4o", "simulated", 0.7)
    assert offline(game.config).model_copy(update={"models": game.config.models}).bidders == game.config.bidders


def test_the_command_plays_a_pilot_and_labels_it_and_more_power_and_a_stricter_level_need_more_games(small):
    enough = []
    for level, alpha in ((0.8, 0.05), (0.95, 0.05), (0.8, 0.01)):
        asked = ("--power", f"{level}", "--alpha", f"{alpha}") if enough else ()
        done = power(small, "--repeats", "2", "--metric", "spent", "--json", *asked)
        told = json.loads(done.stdout)
        assert (told["simulated"], told["family"], len(told["needs"])) == (True, 4, 3)
        assert told["question"] == {"effect": 100.0, "power": level, "alpha": alpha}
        assert "the built-in model plays 2 repeats" in done.stderr
        enough.append(told["needs"][0]["games"]["enough"])
    assert enough[0] < min(enough[1:])
    assert sorted(path.name for path in small.parent.iterdir()) == ["small.toml"]


def test_the_command_reads_a_pilot_that_was_run(small, experiment):
    results = asyncio.run(run_experiment(chosen_arms(experiment, ["plain", "planless"]), small.parent / "pilot"))
    found = games_needed(replace(results, experiment=experiment), planned(experiment), Question(100.0)).needs
    told = json.loads(power(small, "--pilot", "pilot", "--json").stdout)["needs"]
    assert [need["pairs"] for need in told] == [2, 2, 2, 0]  # one arm was left out of the pilot
    assert [(need["sd"], need["games"]) for need in told] == [
        (need.sd, need.games and asdict(need.games)) for need in found
    ]
    small.write_text(SMALL.replace('"small"', '"other"', 1))
    said = mistake(power(small, "--pilot", "pilot"))
    assert said == "pilot 'pilot' is of experiment 'small'; give a folder of 'other', or name 'small'"


# ---------------------------------------------------------------- what a design can reach

MORTAL = """
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
    path.write_text(MORTAL)
    return path


def test_a_yes_or_no_at_five_repeats_can_never_be_found_and_the_repeats_that_can_are_named(mortal):
    design = read(str(mortal))
    assert unreachable(design) == (
        "2 of 2 planned comparisons can't reach p < 0.05 by Holm, whatever is found: survived (5 pairs);"
        " give --repeats 7 or more, or plan fewer comparisons"
    )
    for repeats in (6, 7):
        ps = [paired([1.0] * repeats, "binary").p for _ in range(2)]
        assert (min(holm(ps)) >= 0.05) is (repeats == 6) is bool(unreachable(chosen(design, repeats=repeats)))


def test_no_preset_plans_what_it_can_not_reach_and_one_repeat_reaches_nothing():
    assert {name for name in presets() if unreachable(read(name))} == set()
    alone = {name for name in presets() if unreachable(chosen(read(name), repeats=1))}
    assert alone == {name for name in presets() if read(name).comparisons}


@pytest.mark.slow
def test_it_is_said_at_show_estimate_and_before_the_first_game(mortal, tmp_path):
    words = "2 of 2 planned comparisons can't reach p < 0.05 by Holm"
    assert words in " ".join(harbor("experiment", "show", mortal).stdout.split())
    assert words in json.loads(harbor("experiment", "show", mortal, "--json").stdout)["unreachable"]
    assert f"harbor: warning: {words}" in harbor("estimate", mortal).stderr
    run = tmp_path / "run"
    assert f"harbor: warning: {words}" in harbor("experiment", "run", mortal, "--quiet", "--out", run).stderr
    assert harbor("report", run).returncode == 0
    assert words in unescape((run / "report.html").read_text())


def test_comparisons_of_an_arm_that_is_left_out_count_in_the_family_alone_and_games_of_one_draw_are_no_pairs(mortal):
    design = chosen(read(str(mortal)), arms=["rich"], repeats=6)
    assert unreachable(design).startswith("1 of 1 planned comparisons that are run, in a family of 2, can't reach")
    assert "survived (1 pair)" in unreachable(chosen(design, repeats=1))
    assert unreachable(chosen(design, repeats=7)) == ""
    across = {"metric": "survived", "of": {"arm": "rich"}, "against": {"arm": "poor"}}
    values = read(str(mortal)).model_dump(mode="json") | {"same_seed": True, "comparisons": [across]}
    assert unreachable(Experiment.model_validate(values)) == ""
