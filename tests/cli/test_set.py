"""`--set models.NAME.KEY=VALUE` on every command that plays, and in every game of an experiment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor._cli.shared.arguments import Changes, in_experiment
from harbor._cli.shared.files import load, override
from harbor._config.auction import AuctionConfig, ModelSettings
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trials import trials
from support.commands import harbor, mistake
from support.folders import TINY

MODEL = "openai:gpt-4.1"


def changed(*given: str, model: str | None = MODEL) -> dict[str, ModelSettings]:
    return override(load("demo"), Changes(model=model), given).models


@pytest.mark.parametrize(("written", "key", "value"), [
    ("reasoning=2048", "reasoning", 2048),
    ('reply="json"', "reply", "json"),
    ("base_url=http://localhost:8000/v1?a=b", "base_url", "http://localhost:8000/v1?a=b"),
    ("extra.top_p=0.9", "extra", {"top_p": 0.9}),
    ("extra={top_p = 0.9, stop = ['x']}", "extra", {"top_p": 0.9, "stop": ["x"]}),
    ("extra.day=2024-05-06", "extra", {"day": "2024-05-06"}),
    ("headers.X-Version=2", "headers", {"X-Version": "2"}),
])  # fmt: skip
def test_a_value_is_read_as_toml_or_else_as_text(written, key, value):
    assert changed(f"models.{MODEL}.{written}") == {
        **load("demo").models,
        MODEL: ModelSettings(**{"use": MODEL, key: value}),
    }


def test_several_settings_add_up_and_the_last_of_one_holds():
    given = (f"models.{MODEL}.extra.a=1", f"models.{MODEL}.extra.b=2", f"models.{MODEL}.extra.a=3")
    assert changed(*given)[MODEL].extra == {"a": 3, "b": 2}


def test_without_a_value_a_setting_has_its_default():
    given = ("models.simulated.simulated.level=3", "models.simulated.repairs=5", "models.simulated.repairs=")
    assert changed(*given, model=None)["simulated"] == ModelSettings(simulated={"level": 3})


def test_the_longest_name_in_use_is_meant():
    config = AuctionConfig(bidders=[{"name": "Ann", "model": "a.b"}, {"name": "Ben", "model": "a"}])
    config = config.model_copy(update={"models": {"a": ModelSettings(), "a.b": ModelSettings()}})
    found = override(config, Changes(), ["models.a.b.seed=3", "models.a.seed=4"]).models
    assert (found["a.b"].seed, found["a"].seed) == (3, 4)


KEY = "q9W8e7R6t5Y4u3I2"


@pytest.mark.parametrize(("given", "remedy"), [
    ("models.simulatd.seed=3", "did you mean 'simulated'?"),
    ("models.openai:gpt-4.1.seed=3", "no bidder uses it"),
    ("models.simulated.sed=3", "did you mean 'seed'?"),
    ("models.simulated.seed", "write models.NAME.KEY=VALUE"),
    ("simulated.seed=3", "write models.NAME.KEY=VALUE"),
    ("models.simulated.seed.x=3", "'seed'"),
    ("models.simulated.repairs=-1", "must be 0 or more"),
    (KEY, "write models.NAME.KEY=VALUE"),
    (f"models.simulated.api_key={KEY}", "api_key_env"),
    (f"models.simulated.api_key_env=1{KEY}", "must match the pattern"),
    (f"models.simulated.seed={KEY}", "must be a whole number"),
    (f"models.simulated.headers.Authorization=Bearer {KEY}", "api_key_env"),
    (f"models.simulated.extra.note=sk-{KEY}", "api_key_env"),
    (f"models.simulated.base_url=https://u:{KEY}@host/v1", "api_key_env"),
    (f"models.simulated.temperature=1\nb='{KEY}'", "must be a number"),
])  # fmt: skip
def test_what_can_not_be_set_is_refused_in_one_line_without_its_value(given, remedy, tmp_path):
    for command in (("auction",), ("experiment", "run", TINY), ("estimate", TINY)):
        said = mistake(harbor(*command, "--set", given, cwd=tmp_path))
        assert remedy in said
        assert KEY not in said
    assert not list(tmp_path.iterdir())


def design(text: str, path: Path) -> Experiment:
    path.write_text(TINY.read_text() + text, encoding="utf-8")
    return chosen(experiment(str(path)), [MODEL])


def test_a_setting_reaches_the_model_of_a_slot_in_every_game(tmp_path):
    found = in_experiment(design("", tmp_path / "tiny.toml"), [f"models.{MODEL}.max_tokens=99"])
    assert {one.config.models[MODEL].max_tokens for one in trials(found)} == {99}
    assert {one.config.models[MODEL].use for one in trials(found)} == {MODEL}
    assert {one.config.models[MODEL].temperature for one in trials(found)} == {0.0}


def test_an_experiments_temperature_is_left_out_when_none_is_set(tmp_path):
    found = in_experiment(design("", tmp_path / "tiny.toml"), [f"models.{MODEL}.temperature="])
    again = Experiment.model_validate_json(found.model_dump_json())
    assert {one.config.models[MODEL].temperature for one in trials(again)} == {None}


def test_settings_in_a_design_under_the_name_of_a_slots_model_reach_every_game(tmp_path):
    table = f'[auction.models."{MODEL}"]\nmax_tokens = 7\nbase_url = "http://localhost:1/v1"\n'
    found = trials(design(table, tmp_path / "tiny.toml"))
    assert {(one.config.models[MODEL].use, one.config.models[MODEL].max_tokens) for one in found} == {(MODEL, 7)}


def test_a_setting_that_an_arm_varies_is_not_replaced(tmp_path):
    arm = f'[[arms]]\nname = "warm"\nauction.models."{MODEL}".temperature = 1\n'
    with pytest.raises(ConfigError, match="'warm' sets it itself"):
        in_experiment(design(arm, tmp_path / "tiny.toml"), [f"models.{MODEL}.temperature=0.5"])


def test_a_run_has_the_settings_in_its_config_and_an_experiment_in_its_design(tmp_path):
    done = harbor("auction", "--items", 1, "--set", "models.simulated.repairs=5", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "config.json").read_text())["models"]["simulated"]["repairs"] == 5
    out = tmp_path / "experiment"
    done = harbor("experiment", "run", TINY, "--repeats", 1, "--set", "models.simulated.repairs=5", "--out", out)
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "experiment.json").read_text())["auction"]["models"]["simulated"]["repairs"] == 5
    configs = [json.loads(path.read_text()) for path in out.glob("games/*/*/*/config.json")]
    assert [one["models"]["simulated"]["repairs"] for one in configs] == [5, 5]


def test_the_settings_of_a_model_under_a_name_of_ones_own_reach_the_slots_that_it_fills(tmp_path):
    given = {"use": "openai:x", "base_url": "http://localhost:1/v1"}
    table = "".join(f'{key} = "{value}"\n' for key, value in given.items())
    (tmp_path / "tiny.toml").write_text(f"{TINY.read_text()}[auction.models.mine]\n{table}", encoding="utf-8")
    found = in_experiment(chosen(experiment(str(tmp_path / "tiny.toml")), ["mine"]), ["models.mine.extra.top_p=0.5"])
    models = {one.config.models["mine"].model_dump_json() for one in trials(found)}
    assert models == {ModelSettings(**given, temperature=0, extra={"top_p": 0.5}).model_dump_json()}
