"""The command line as a person or a script meets it: real processes, real terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.commands import HARBOR, harbor, mistake, process
from support.processes import shown_in_terminal

SMALL = """
name = "small"
seed = 5
items = {count = 2}
bidders = [{name = "Ann", persona = "downsizing"}, {name = "Ben"}]
"""


@pytest.fixture(scope="module")
def small_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(SMALL)
    done = harbor("auction", "small.toml", "--out", "run", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "printed.json").write_text(done.stdout)
    return folder


def test_json_is_one_object_of_the_agreed_shape(small_run):
    printed = json.loads((small_run / "printed.json").read_text())
    [bidder, _], [item, _] = printed["standings"], printed["items"]
    calls = printed["calls"]
    assert list(printed) == ["run", "seed", "standings", "items", "calls", "seconds", "simulated", "unheeded"]
    assert list(bidder) == ["bidder", "persona", "items_won", "spent", "profit", "profit_ratio"]
    assert list(item) == ["name", "winner", "price", "rounds"]
    assert list(calls) == ["total", "by_bidder", "by_purpose", "by_model"]
    counts = (
        "count failed cached retries input_tokens cached_tokens output_tokens reasoning_tokens cost_dollars unpriced"
        " imported refused probes lost noted most_dollars"
    )
    assert list(calls["total"]) == list(calls["by_bidder"]["Ann"]) == counts.split()
    assert {row["bidder"]: row["persona"] for row in printed["standings"]} == {"Ann": "downsizing", "Ben": None}


def test_a_run_leaves_its_files_and_replay_rebuilds_the_same_object_from_the_log_alone(small_run, tmp_path):
    names = {path.name for path in (small_run / "run").iterdir()}
    assert names == {"config.json", "manifest.json", "mark", "events.jsonl", "calls.jsonl"}
    (tmp_path / "events.jsonl").write_bytes((small_run / "run" / "events.jsonl").read_bytes())
    printed = (small_run / "printed.json").read_text()
    for place in (tmp_path, tmp_path / "events.jsonl"):
        assert harbor("replay", place, "--json", cwd=tmp_path).stdout == printed


def test_without_a_terminal_the_auction_is_told_in_plain_lines_and_quiet_prints_the_standings_only(small_run):
    told, quiet = (harbor("auction", "small.toml", *words, cwd=small_run) for words in ((), ("--quiet",)))
    assert told.returncode == 0
    assert "\x1b" not in told.stdout
    log = told.stdout.strip().splitlines()[-2].removeprefix("log: ")
    assert (small_run / log).is_file()
    for done, plays in ((told, True), (quiet, False)):
        assert (" opens at $" in done.stdout, "Standings" in done.stdout) == (plays, True)


@pytest.mark.slow
def test_in_a_terminal_there_is_a_live_board(small_run):
    text = shown_in_terminal("auction", "small.toml", cwd=small_run, TERM="xterm-256color")
    assert "budget left" in text
    assert "Item 2 of 2" in text
    assert "\x1b[" in text


def test_overrides_reach_the_run_and_fewer_items_ask_for_no_more_matched_houses_than_fit(tmp_path):
    done = harbor("auction", "demo", "--seed", 9, "--items", 2, "--model", "simulated", "--json", cwd=tmp_path)
    printed = json.loads(done.stdout)
    assert (printed["seed"], len(printed["items"])) == (9, 2)


def test_a_runs_own_config_gives_equal_results(small_run):
    first = json.loads((small_run / "printed.json").read_text())
    again = json.loads(process("auction", "run/config.json", "--json", cwd=small_run).stdout)
    assert first | {"run": "", "seconds": 0} == again | {"run": "", "seconds": 0}  # a new process hashes otherwise


@pytest.mark.parametrize(("words", "said"), [
    (["auction", "demo", "--model", "simulatd"], "unknown model 'simulatd'; did you mean 'simulated'?"),
    (["auction", "demo", "--model", "openai:gpt-4o-mini"], "openai"),
    (["auction", "demo", "--items", "0"], "items.count 0"),
    (["auction", "standard", "--items", "11"], "--items 11"),
    (["auction", "demo", "--seed", "-1"], "seed -1"),
    (["auction", "demo", "--out", "file/run"], "can't be made"),
    (["auction", "demo", "--out", "old"], "exists"),
    (["auction", "bad.toml", "--out", "run"], "unknown model 'gpt'"),
    (["replay", "nowhere"], "'nowhere' does not exist"),
    (["memory", "search"], "Missing argument 'store'; see harbor memory search --help"),
    (["experiment", "estimate", "beauty"], "No such command 'estimate'; did you mean 'harbor estimate'?"),
])  # fmt: skip
def test_a_mistake_is_one_line_and_leaves_nothing_behind(words, said, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "old").mkdir()
    (tmp_path / "bad.toml").write_text(SMALL.replace('"Ben"', '"Ben", model = "gpt"'))
    before = sorted(tmp_path.rglob("*"))
    assert said in mistake(harbor(*words, cwd=tmp_path))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_true_value_below_the_start_is_warned_of_and_allowed(tmp_path):
    shed = '[[items]]\nname="Shed"\nstart=100\ntrue_value=50\n[[bidders]]\nname="Ann"\nrule="truthful"\n'
    (tmp_path / "poor.toml").write_text(shed)
    done = harbor("auction", "poor.toml", "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["items"][0]["winner"]) == (0, None)
    assert done.stderr == "harbor: warning: item 'Shed' is worth less than its starting price\n"


def test_a_log_cut_in_the_middle_of_a_line_is_replayed_up_to_there(small_run, tmp_path):
    whole = (small_run / "run" / "events.jsonl").read_bytes()
    (tmp_path / "events.jsonl").write_bytes(whole[: len(whole) * 2 // 3])
    done = harbor("replay", ".", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "cut short" in done.stderr
    assert json.loads(done.stdout)["seed"] == 5


@pytest.mark.slow
def test_a_reader_that_goes_away_does_not_end_the_auction(small_run):
    command = [*HARBOR, "auction", "small.toml", "--out", "unread"]
    with subprocess.Popen(command, cwd=small_run, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.readline()
        running.stdout.close()
        complaint = running.stderr.read()
    assert b"Traceback" not in complaint
    log = (small_run / "unread" / "events.jsonl").read_text().splitlines()
    assert json.loads(log[-1])["type"] == "sale_closed"


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_auction_says_where_its_log_is(tmp_path, how):
    (tmp_path / "slow.toml").write_text(SMALL + "[models.simulated.simulated]\nlatency_seconds = 30\n")
    command = [*HARBOR, "auction", "slow.toml", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert "Welcome" in running.stdout.readline()
        running.send_signal(how)
        _, complaint = running.communicate()
    assert running.returncode == 130
    kept = "what happened up to here is in run/events.jsonl"
    assert complaint == f"harbor: stopped; {kept}; resume with: harbor resume run\n"


@pytest.mark.slow
def test_a_name_is_printed_as_it_is_and_what_the_output_cannot_show_is_written_otherwise(tmp_path):
    (tmp_path / "accent.toml").write_text(SMALL.replace('"Ben"', '"[red]Zoë[/red]"'), encoding="utf-8")
    done = process("auction", "accent.toml", "--quiet", cwd=tmp_path, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, "[red]Zo\\xeb[/red]" in done.stdout) == (0, True)


REFUSED = """
items = {count = 1}
rules = {reasks = 0}
bidders = [{name = "Ann", agent = "mine:nothing"}, {name = "Ben", rule = "rational"}]
"""


@pytest.mark.parametrize("series", [False, True])
def test_an_agent_whose_answers_are_refused_is_told_of_at_the_end_and_when_it_is_told_again(tmp_path, series):
    (tmp_path / "mine.py").write_text("def nothing(turn): return {}\n")
    (tmp_path / "refused.toml").write_text(REFUSED + ("[series]\nauctions = 2\n" if series else ""))
    often = "2 times" if series else "1 time"
    warning = f"harbor: warning: Ann was asked {often}, and its answers were refused {often}; the first time: "
    for words in (("auction", "refused.toml", "--out", "run"), ("replay", "run", "--json")):
        done = harbor(*words, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (0, 1)
        assert done.stderr.startswith(warning)


def test_what_an_agent_prints_is_no_part_of_the_results_as_json(tmp_path):
    (tmp_path / "chatty.py").write_text("def nothing(turn):\n    print('Let me think.')\n    return 'I withdraw.'\n")
    (tmp_path / "refused.toml").write_text(REFUSED.replace("mine:", "chatty:"))
    done = harbor("auction", "refused.toml", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["standings"][0]["bidder"] == "Ben"
    assert "Let me think." in done.stderr
