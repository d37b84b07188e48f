"""`--set models.NAME.KEY=VALUE` and `--agent NAME=WHAT`, on every command that plays and in every game."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harbor._cli.shared.arguments import Changes, in_experiment, seated, seated_in_experiment
from harbor._cli.shared.files import load, override
from harbor._config.agents import AgentCommand, AgentServer
from harbor._config.auction import AuctionConfig, Bidder, ModelSettings, read_settings
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trials import trials
from support import foreign
from support.commands import harbor, mistake
from support.folders import TINY
from support.forging import lines_of, of_type
from support.plugins import install, installed

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
    model = ModelSettings(use=MODEL, **{key: value})
    assert changed(f"models.{MODEL}.{written}") == load("demo").models | {MODEL: model}


def test_several_settings_add_up_the_last_of_one_holds_and_without_a_value_it_has_its_default():
    given = (f"models.{MODEL}.extra.a=1", f"models.{MODEL}.extra.b=2", f"models.{MODEL}.extra.a=3")
    assert changed(*given)[MODEL].extra == {"a": 3, "b": 2}
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


def played(found: Experiment, name: str = MODEL) -> ModelSettings:
    """The settings of a model, which are the same in every game."""
    [one] = {one.config.models[name].model_dump_json() for one in trials(found)}
    return ModelSettings.model_validate_json(one)


def test_a_setting_reaches_the_model_of_a_slot_in_every_game(tmp_path):
    found = played(in_experiment(design("", tmp_path / "tiny.toml"), [f"models.{MODEL}.max_tokens=99"]))
    assert found == ModelSettings(use=MODEL, max_tokens=99, temperature=0)


def test_an_experiments_temperature_is_left_out_when_none_is_set(tmp_path):
    found = in_experiment(design("", tmp_path / "tiny.toml"), [f"models.{MODEL}.temperature="])
    assert played(Experiment.model_validate_json(found.model_dump_json())).temperature is None


def test_settings_in_a_design_under_the_name_of_a_slots_model_reach_every_game(tmp_path):
    table = f'[auction.models."{MODEL}"]\nmax_tokens = 7\nbase_url = "http://localhost:1/v1"\n'
    found = played(design(table, tmp_path / "tiny.toml"))
    assert (found.use, found.max_tokens) == (MODEL, 7)


def test_a_setting_that_an_arm_varies_is_not_replaced(tmp_path):
    arm = f'[[arms]]\nname = "warm"\nauction.models."{MODEL}".temperature = 1\n'
    with pytest.raises(ConfigError, match="'warm' sets it itself"):
        in_experiment(design(arm, tmp_path / "tiny.toml"), [f"models.{MODEL}.temperature=0.5"])


def test_a_run_has_the_settings_in_its_config_and_an_experiment_in_its_design(tmp_path):
    given = ("--set", "models.simulated.repairs=5", "--out")
    assert harbor("auction", "--items", 1, *given, tmp_path / "run").returncode == 0
    assert harbor("experiment", "run", TINY, "--repeats", 1, *given, tmp_path / "experiment").returncode == 0
    [design] = [json.loads(file.read_text())["auction"] for file in tmp_path.rglob("experiment.json")]
    configs = [json.loads(file.read_text()) for file in tmp_path.rglob("config.json")]
    assert [one["models"]["simulated"]["repairs"] for one in (design, *configs)] == [5] * 4


def test_the_settings_of_a_model_under_a_name_of_ones_own_reach_the_slots_that_it_fills(tmp_path):
    table = '[auction.models.mine]\nuse = "openai:x"\nbase_url = "http://localhost:1/v1"\n'
    (tmp_path / "tiny.toml").write_text(TINY.read_text() + table, encoding="utf-8")
    found = in_experiment(chosen(experiment(str(tmp_path / "tiny.toml")), ["mine"]), ["models.mine.extra.top_p=0.5"])
    own = {"use": "openai:x", "base_url": "http://localhost:1/v1", "extra": {"top_p": 0.5}}
    assert played(found, "mine") == ModelSettings(**own, temperature=0)


# ---------------------------------------------------------------- --agent

TINY_DESIGN = read_settings(TINY, Experiment)
MINE = """
import json, sys

def bid(turn):
    return {"action": "withdraw"}

for line in sys.stdin if __name__ == "__main__" else ():
    print(json.dumps(bid(json.loads(line))), flush=True)
"""


@pytest.mark.parametrize(("what", "meant"), [
    ("mine:bid", "mine:bid"),
    ("http://localhost:8000/turn?a=b", AgentServer(url="http://localhost:8000/turn?a=b")),
    ("node bidder.mjs --x='a b'", AgentCommand(command=["node", "bidder.mjs", "--x=a b"])),
    ("curl http://localhost/", AgentCommand(command=["curl", "http://localhost/"])),
    ("clerk", AgentCommand(command=["clerk"])),
])  # fmt: skip
def test_what_plays_is_told_by_how_it_is_written(what, meant):
    ann, *others = seated(load("demo"), [f"Ann = {what}"]).bidders
    assert ann.agent == meant
    assert not any(other.agent for other in others)


def test_the_name_of_an_installed_agent_is_that(tmp_path):
    code = {"clerks.py": Path(foreign.__file__).read_text()}
    with installed(install(tmp_path, "clerks", code, {"harbor.agents": {"clerk": "clerks:CLERK"}})):
        assert seated(load("demo"), ["Ann=clerk"]).bidders[0].agent == "clerk"


def test_an_agent_takes_a_seat_from_whoever_had_it_in_every_game_of_an_experiment():
    before = load("demo")
    planned = before.model_copy(update={"bidders": (Bidder("Ann", persona="urban-dwellers", planning="static"),)})
    after = seated(planned, ["Ann=mine:bid"])
    assert after.bidders == (Bidder("Ann", persona="urban-dwellers", agent="mine:bid"),)
    after = seated(before, ["Ann=mine:bid"])
    assert after.bidders[0].persona == before.bidders[0].persona
    assert after.bidders[1:] == before.bidders[1:]
    found = trials(seated_in_experiment(TINY_DESIGN, ["Cho=http://localhost:1"]))
    played = [bidder for one in found for bidder in one.config.bidders if bidder.name == "Cho"]
    assert {(bidder.rule, str(bidder.agent)) for bidder in played} == {(None, "http://localhost:1")}


@pytest.mark.parametrize(("given", "complaint"), [
    ("Ann", "--agent 'Ann': write NAME=WHAT, such as Ann=mymodule:bid"),
    ("Ann=", "write NAME=WHAT"),
    ("Anne=mine:bid", "--agent: unknown bidder 'Anne'; did you mean 'Ann'?"),
    ("Ann=node 'bidder", "no command can be read .No closing quotation.; close the quotes"),
    ("Ann=ftp://here", "is no address of a server"),
])  # fmt: skip
def test_what_names_no_bidder_or_no_agent_is_refused(given, complaint):
    with pytest.raises(ConfigError, match=complaint):
        seated(load("demo"), [given])
    with pytest.raises(ConfigError, match=complaint):
        seated_in_experiment(TINY_DESIGN, [given])


def test_an_arm_that_says_who_plays_is_not_changed():
    arm = TINY_DESIGN.arms[0].model_copy(update={"auction": {"bidders": {"*": {"rule": "rational"}}}})
    with pytest.raises(ConfigError, match="--agent 'Ann': 'adaptive' says who plays it; change it in the design"):
        seated_in_experiment(TINY_DESIGN.model_copy(update={"arms": (arm, *TINY_DESIGN.arms[1:])}), ["Ann=mine:bid"])


@pytest.mark.parametrize("what", ["mine:bid", f"{sys.executable} mine.py"], ids=["code", "command"])
def test_the_command_runs_an_auction_and_an_experiment_with_it(what, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    with installed():
        done = harbor("auction", "--items", 2, "--agent", f"Ann={what}", "--out", "run", "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        words = [TINY, "--agent", f"Ann={what}", "--repeats", 1, "--arm", "adaptive", "--out", "games", "--json"]
        done = harbor("experiment", "run", *words, cwd=tmp_path)
    answers = of_type(lines_of(tmp_path / "run" / "events.jsonl"), "answered")
    assert {line["words"] for line in answers} == {"I withdraw."}
    assert json.loads(done.stdout)["finished"] == 1, done.stderr
