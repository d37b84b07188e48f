"""`--agent NAME=WHAT`: who plays a bidder, in an auction and in every game of an experiment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harbor._cli.shared.arguments import seated, seated_in_experiment
from harbor._cli.shared.files import load
from harbor._config.agents import AgentCommand, AgentServer
from harbor._config.auction import Bidder, read_settings
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import trials
from support import foreign
from support.commands import harbor
from support.folders import TINY
from support.plugins import install, installed

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
    install(
        tmp_path,
        "clerks",
        {"clerks.py": Path(foreign.__file__).read_text()},
        {"harbor.agents": {"clerk": "clerks:CLERK"}},
    )
    with installed(tmp_path):
        assert seated(load("demo"), ["Ann=clerk"]).bidders[0].agent == "clerk"


def test_an_agent_takes_a_seat_from_whoever_had_it_in_every_game_of_an_experiment():
    before = load("demo")
    planned = before.model_copy(update={"bidders": (Bidder("Ann", persona="urban-dwellers", planning="static"),)})
    after = seated(planned, ["Ann=mine:bid"])
    assert after.bidders == (Bidder("Ann", persona="urban-dwellers", agent="mine:bid"),)
    after = seated(before, ["Ann=mine:bid"])
    assert after.bidders[0].persona == before.bidders[0].persona
    assert after.bidders[1:] == before.bidders[1:]
    found = trials(seated_in_experiment(read_settings(TINY, Experiment), ["Cho=http://localhost:1"]))
    played = {
        (bidder.rule, str(bidder.agent)) for one in found for bidder in one.config.bidders if bidder.name == "Cho"
    }
    assert played == {(None, "http://localhost:1")}


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
        seated_in_experiment(read_settings(TINY, Experiment), [given])


def test_an_arm_that_says_who_plays_is_not_changed():
    tiny = read_settings(TINY, Experiment)
    arm = tiny.arms[0].model_copy(update={"auction": {"bidders": {"*": {"rule": "rational"}}}})
    with pytest.raises(ConfigError, match="--agent 'Ann': 'adaptive' says who plays it; change it in the design"):
        seated_in_experiment(tiny.model_copy(update={"arms": (arm, *tiny.arms[1:])}), ["Ann=mine:bid"])


@pytest.mark.parametrize("what", ["mine:bid", f"{sys.executable} mine.py"], ids=["code", "command"])
def test_the_command_runs_an_auction_and_an_experiment_with_it(what, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    with installed():
        done = harbor("auction", "--items", 2, "--agent", f"Ann={what}", "--out", "run", "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        words = [TINY, "--agent", f"Ann={what}", "--repeats", 1, "--arm", "adaptive", "--out", "games", "--json"]
        done = harbor("experiment", "run", *words, cwd=tmp_path)
    log = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    assert {line["words"] for line in log if line["type"] == "answered"} == {"I withdraw."}
    assert json.loads(done.stdout)["finished"] == 1, done.stderr
