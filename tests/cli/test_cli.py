"""The command line as a person or a script meets it: real processes, real terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from harbor._core.basics.numbers import counted
from harbor._core.log.events import SCHEMA_VERSION
from support.commands import HARBOR, harbor, mistake, process
from support.processes import shown_in_terminal

SMALL = """
name = "small"
seed = 5
items = {count = 2}
[[bidders]]
name = "Ann"
persona = "downsizing"
[[bidders]]
name = "Ben"
"""


def mistaken(*words: object, cwd: Path) -> str:
    """Make a mistake that leaves nothing behind; give its one line."""
    before = sorted(cwd.rglob("*"))
    said = mistake(harbor(*words, cwd=cwd))
    assert sorted(cwd.rglob("*")) == before, "nothing half-written"
    return said


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
    assert list(printed) == ["run", "seed", "standings", "items", "calls", "seconds", "simulated", "unheeded"]
    assert list(printed["standings"][0]) == ["bidder", "persona", "items_won", "spent", "profit", "profit_ratio"]
    assert list(printed["items"][0]) == ["name", "winner", "price", "rounds"]
    assert list(printed["calls"]) == ["total", "by_bidder", "by_purpose", "by_model"]
    tokens = ["input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"]
    counts = ["count", "failed", "cached", "retries", *tokens, "cost_dollars", "unpriced", "imported"]
    counts += ["refused", "probes", "lost", "noted", "most_dollars"]
    assert list(printed["calls"]["total"]) == list(printed["calls"]["by_bidder"]["Ann"]) == counts
    assert {row["bidder"]: row["persona"] for row in printed["standings"]} == {"Ann": "downsizing", "Ben": None}


def test_replay_rebuilds_the_same_object_from_the_log_alone(small_run, tmp_path):
    (tmp_path / "events.jsonl").write_bytes((small_run / "run" / "events.jsonl").read_bytes())
    printed = (small_run / "printed.json").read_text()
    assert harbor("replay", tmp_path, "--json", cwd=tmp_path).stdout == printed
    assert harbor("replay", tmp_path / "events.jsonl", "--json", cwd=tmp_path).stdout == printed


def test_a_run_leaves_its_files(small_run):
    names = {path.name for path in (small_run / "run").iterdir()}
    assert names == {"config.json", "manifest.json", "mark", "events.jsonl", "calls.jsonl"}
    assert len(json.loads((small_run / "run" / "config.json").read_text())["items"]) == 2


def test_without_a_terminal_the_auction_is_told_in_plain_lines(small_run):
    done = harbor("auction", "small.toml", cwd=small_run)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert " opens at $" in done.stdout
    assert "Standings" in done.stdout
    log = done.stdout.strip().splitlines()[-2].removeprefix("log: ")
    assert (small_run / log).is_file()


def test_quiet_prints_the_standings_only(small_run):
    done = harbor("auction", "small.toml", "--quiet", cwd=small_run)
    assert " opens at $" not in done.stdout
    assert "Standings" in done.stdout


@pytest.mark.slow
def test_in_a_terminal_there_is_a_live_board(small_run):
    text = shown_in_terminal("auction", "small.toml", cwd=small_run, TERM="xterm-256color")
    assert "budget left" in text
    assert "Item 2 of 2" in text
    assert "\x1b[" in text


def test_overrides_reach_the_run(small_run):
    done = harbor("auction", "small.toml", "--seed", 9, "--items", 1, "--model", "simulated", "--json", cwd=small_run)
    printed = json.loads(done.stdout)
    assert printed["seed"] == 9
    assert len(printed["items"]) == 1


def test_equal_seeds_give_equal_results(small_run):
    first, second = (
        json.loads(run("auction", "small.toml", "--json", cwd=small_run).stdout) | {"run": "", "seconds": 0}
        for run in (harbor, process)  # which hashes otherwise
    )
    assert first == second


def test_the_catalog_is_listed(tmp_path):
    assert harbor("personas", cwd=tmp_path).stdout.count("You are") >= 10
    assert len(json.loads(harbor("personas", "--json", cwd=tmp_path).stdout)) == 10
    assert len(json.loads(harbor("houses", "--json", cwd=tmp_path).stdout)) == 40
    assert "Wren House" in harbor("houses", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["auction", "dmo"], "unknown preset 'dmo'; did you mean 'demo'?"),
        (["auction", "none.toml"], "config 'none.toml' can't be read"),
        (["auction", "demo", "--model", "simulatd"], "unknown model 'simulatd'; did you mean 'simulated'?"),
        (["auction", "demo", "--model", "openai:gpt-4o-mini"], "openai"),
        (["auction", "demo", "--items", "0"], "items.count 0"),
        (["auction", "demo", "--items", "41"], "41 items demanded, but catalogue 'homes' has 40"),
        (["auction", "standard", "--items", "11"], "--items 11"),
        (["auction", "demo", "--seed", "-1"], "seed -1"),
        (["auction", "demo", "--seed", "x"], "--seed"),
        (["auction", "demo", "--sed", "1"], "--sed"),
        (["replay", "nowhere"], "'nowhere' does not exist"),
        (["sing"], "sing"),
        (["experiment", "estimate", "beauty"], "No such command 'estimate'; did you mean 'harbor estimate'?"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(words, said, tmp_path):
    assert said in mistaken(*words, cwd=tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('persona = "downsizing"', 'persona = "downsizer"', "unknown persona 'downsizer'; did you mean 'downsizing'?"),
        ('name = "Ben"', 'name = "Ann"', "bidder name 'Ann'"),
        ('name = "Ben"', 'name = "ANN"', "differ only in case"),
        ('name = "Ben"', 'name = "Ben"\nbuget = 5', "unknown key 'buget'; did you mean 'budget'?"),
        ('name = "Ben"', 'name = "Ben"\nbudget = 0', "bidders[1].budget 0"),
        ('name = "Ben"', 'name = "Ben"\nbudget = nan', "bidders[1].budget"),
        ('name = "Ben"', 'name = "Ben"\nbudget = "much"', "bidders[1].budget 'much'"),
        ('name = "Ben"', 'name = "B\\u001b[31men"', "control character"),
        ('name = "Ben"', 'name = "Ben"\nmodel = "gpt"', "unknown model 'gpt'"),
        ("seed = 5", "sed = 5", "unknown key 'sed'; did you mean 'seed'?"),
        ("seed = 5", "seed = ", "is not TOML"),
        ("count = 2", "count = 99", "99 items demanded"),
        ("count = 2", "cuont = 2", "unknown key 'cuont'; did you mean 'count'?"),
        ("seed = 5", "seed = 5\nrules = {increment_share = -1}", "rules.increment_share -1"),
    ],
)
def test_a_mistake_in_a_config_is_one_line(old, new, said, tmp_path):
    assert old in SMALL
    (tmp_path / "bad.toml").write_text(SMALL.replace(old, new))
    assert said in mistaken("auction", "bad.toml", "--out", "run", cwd=tmp_path)


def test_an_output_folder_that_exists_is_left_alone(small_run):
    assert "exists" in mistaken("auction", "small.toml", "--out", "run", cwd=small_run)


def test_an_output_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    assert "can't be made" in mistaken("auction", "demo", "--out", "file/run", cwd=tmp_path)


def test_a_true_value_below_the_start_is_warned_of_and_allowed(tmp_path):
    (tmp_path / "poor.toml").write_text(
        '[[items]]\nname="Shed"\nstart=100\ntrue_value=50\n[[bidders]]\nname="Ann"\nrule="truthful"\n'
    )
    done = harbor("auction", "poor.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["harbor: warning: item 'Shed' is worth less than its starting price"]
    assert json.loads(done.stdout)["items"][0]["winner"] is None


def test_a_log_that_was_edited_is_refused(small_run, tmp_path):
    text = (small_run / "run" / "events.jsonl").read_text()
    (tmp_path / "events.jsonl").write_text(text.replace('"bidder":"Ann"', '"bidder":"Eve"', 1))
    assert "was edited" in mistaken("replay", ".", cwd=tmp_path)


def test_a_log_of_a_newer_schema_is_refused(small_run, tmp_path):
    text = (small_run / "run" / "events.jsonl").read_text()
    (tmp_path / "events.jsonl").write_text(text.replace(f'"schema":{SCHEMA_VERSION}', '"schema":99', 1))
    assert "upgrade Harbor" in mistaken("replay", ".", cwd=tmp_path)


def test_a_log_cut_in_the_middle_of_a_line_is_replayed_up_to_there(small_run, tmp_path):
    whole = (small_run / "run" / "events.jsonl").read_bytes()
    (tmp_path / "events.jsonl").write_bytes(whole[: len(whole) * 2 // 3])
    done = harbor("replay", ".", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "cut short" in done.stderr
    assert json.loads(done.stdout)["seed"] == 5


def test_markup_in_names_is_printed_as_it_is(tmp_path):
    (tmp_path / "odd.toml").write_text(SMALL.replace('"Ben"', '"[red]Ben[/red]"'))
    done = harbor("auction", "odd.toml", "--quiet", cwd=tmp_path)
    assert "[red]Ben[/red]" in done.stdout


def test_no_command_shows_the_help(tmp_path):
    done = harbor(cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")


def test_a_run_is_repeated_from_its_own_config(small_run):
    again = harbor("auction", "run/config.json", "--json", cwd=small_run)
    first = json.loads((small_run / "printed.json").read_text())
    assert json.loads(again.stdout)["standings"] == first["standings"]


def test_fewer_items_ask_for_no_more_matched_houses_than_fit(tmp_path):
    done = harbor("auction", "demo", "--items", 2, "--json", cwd=tmp_path)
    assert len(json.loads(done.stdout)["items"]) == 2


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
    assert complaint == (
        "harbor: stopped; what happened up to here is in run/events.jsonl; resume with: harbor resume run\n"
    )


@pytest.mark.slow
def test_a_name_that_the_output_cannot_show_is_written_otherwise(tmp_path):
    (tmp_path / "accent.toml").write_text(SMALL.replace('"Ben"', '"Zoë"'), encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = process("auction", "accent.toml", "--quiet", cwd=tmp_path, env=ascii_only)
    assert done.returncode == 0
    assert "Zo\\xeb" in done.stdout


def test_a_bidder_that_never_answers_is_told_of(tmp_path):
    (tmp_path / "mute.toml").write_text(SMALL.replace('"Ben"', '"Ben"\ntimeout_seconds = 0.0000001'))
    done = harbor("auction", "mute.toml", "--json", cwd=tmp_path)
    assert "warning: Ben gave no answer" in done.stderr
    json.loads(done.stdout)


REFUSED = """
items = {count = 1}
rules = {reasks = 0}
[[bidders]]
name = "Ann"
agent = "mine:nothing"
[[bidders]]
name = "Ben"
rule = "rational"
"""


@pytest.mark.parametrize("series", [False, True])
def test_an_agent_whose_answers_are_refused_is_told_of_at_the_end_and_when_it_is_told_again(tmp_path, series):
    (tmp_path / "mine.py").write_text("def nothing(turn): return {}\n")
    (tmp_path / "refused.toml").write_text(REFUSED + ("[series]\nauctions = 2\n" if series else ""))
    done = harbor("auction", "refused.toml", "--out", "run", cwd=tmp_path)
    again = harbor("replay", "run", "--json", cwd=tmp_path)
    often = "2 times" if series else "1 time"
    warning = f"harbor: warning: Ann was asked {often}, and its answers were refused {often}; the first time: "
    assert done.returncode == again.returncode == 0
    for told in (done.stderr, again.stderr):
        assert told.startswith(warning)
        assert told.count("\n") == 1


def test_what_an_agent_prints_is_no_part_of_the_results_as_json(tmp_path):
    (tmp_path / "chatty.py").write_text("def nothing(turn):\n    print('Let me think.')\n    return 'I withdraw.'\n")
    (tmp_path / "refused.toml").write_text(REFUSED.replace("mine:", "chatty:"))
    done = harbor("auction", "refused.toml", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["standings"][0]["bidder"] == "Ben"
    assert "Let me think." in done.stderr


def test_what_happened_once_is_not_told_in_the_plural():
    assert [counted(count, "time") for count in (1, 2)] == ["1 time", "2 times"]
