"""Settings that somebody sent may name programs and servers as agents: they are told, and nothing of it is done."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from support.commands import harbor
from support.folders import TINY, contents
from support.sent import SCRIPTED, forge, listening

BIDDER = """
import json, pathlib, sys
pathlib.Path(sys.argv[1]).touch()
for line in sys.stdin:
    print(json.dumps({"turn": json.loads(line)["turn"], "action": "withdraw"}), flush=True)
"""
SEATS = """
items = { count = 1 }
bidders = [
  { name = "Ann", agent = { command = ["%s", "bidder.py", "started"], env = ["SOME_SECRET"] } },
  { name = "Ben", rule = "minimum-raise" },
]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An experiment, a scripted run, and one with a process in a seat that broke off before its first answer."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "bidder.py").write_text(BIDDER)
    (folder / "auction.toml").write_text(SEATS % sys.executable)
    (folder / "scripted.toml").write_text(SCRIPTED)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_SECRET", "known-to-me-alone")
        for words in ("auction auction.toml --out run", "auction scripted.toml --out scripted"):
            assert harbor(*words.split(), cwd=folder).returncode == 0
    assert harbor("experiment", "run", TINY, "--repeats", 1, "--out", "exp", cwd=folder).returncode == 0
    (folder / "started").unlink()
    log = folder / "run" / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: [b"bidders_asked" in line for line in lines].index(True)]))
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_SECRET", "known-to-me-alone")
    return Path(shutil.copytree(made, tmp_path / "place"))


def refused(*command, cwd, told):
    done = harbor(*command, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "--trust" in done.stderr.splitlines()[-1]
    assert [one for one in told if one not in done.stderr] == [], done.stderr


TOLD = (f"starts programs, with your rights: '{sys.executable} bidder.py started'", "the variables: 'SOME_SECRET'")


def test_what_was_made_here_starts_its_program_again_without_a_question(place):
    assert harbor("resume", "run", cwd=place).returncode == 0
    assert (place / "started").exists()


@pytest.mark.parametrize("command", ["resume run", "auction run/config.json --out new", "auction sent.json --out new"])
def test_a_program_that_only_a_folder_or_a_json_file_names_is_told_and_not_started(place, command):
    shutil.copy(place / "run" / "config.json", place / "sent.json")
    (place / "run" / "mark").unlink()
    before = contents(place)
    refused(*command.split(), cwd=place, told=TOLD)
    assert contents(place) == before
    assert harbor(*command.split(), "--trust", cwd=place).returncode == 0
    assert (place / "started").exists()


def test_no_other_command_starts_the_program_of_a_folder_that_was_sent(place):
    (place / "run" / "mark").unlink()
    for command in ("replay", "score", "verify", "verify --deep", "audit", "pack --public", "view --no-open"):
        harbor(*command.split(), "run", cwd=place)
    harbor("estimate", "run/config.json", cwd=place)
    assert not (place / "started").exists()


@pytest.mark.parametrize("scheme", ["http", "HTTP", " \thttp"])
def test_a_server_that_only_a_file_names_is_told_and_not_contacted(place, scheme):
    settings = json.loads((place / "scripted" / "config.json").read_text())
    with listening() as (address, visitors):
        agent = {"url": address.replace("http", scheme), "api_key_env": "SOME_SECRET"}
        sent = settings | {"bidders": [{"name": "Ann", "agent": agent}, settings["bidders"][1]]}
        (place / "sent.json").write_text(json.dumps(sent))
        forge(place / "scripted", {"bidders": sent["bidders"]})
        for command in (["auction", "sent.json", "--out", "new"], ["resume", "scripted"]):
            refused(*command, cwd=place, told=("contacts: ", address.removeprefix("http"), "keys in: 'SOME_SECRET'"))
        assert visitors == []


AGENT = {"command": [sys.executable, "bidder.py", "started"], "env": ["SOME_SECRET"]}
CHANGED = {"auction": {"bidders": {"Ann": {"agent": AGENT}}}}
OTHER = {"name": "other", "auction": {"bidders": {"Ann": {"agent": {"url": "http://127.0.0.1:9/bid"}}}}}
PLACES = {
    "arms": {"arms": [{"name": "one", **CHANGED}, OTHER]},
    "arms left out": {"arms_left_out": [{"name": "three", **CHANGED}, OTHER]},
    "conditions": {"conditions": [{"name": "all", **CHANGED}, OTHER]},
    "factors": {"arms": [], "factors": [{"name": "who", "levels": [{"name": "one", **CHANGED}, OTHER]}]},
}


@pytest.mark.parametrize("changes", PLACES.values(), ids=PLACES)
def test_agents_anywhere_in_a_design_that_was_sent_are_told_and_not_asked(place, changes):
    forge(place / "exp", changes, "experiment.json")
    shutil.copy(place / "exp" / "experiment.json", place / "sent.json")
    told = (*TOLD, "contacts: 'http://127.0.0.1:9/bid'")
    refused("experiment", "run", "sent.json", "--out", "new", cwd=place, told=told)
    refused("experiment", "resume", "exp", cwd=place, told=told)
    assert not (place / "started").exists()
    assert not (place / "new").exists()


def test_a_command_is_told_as_one_and_what_is_cut_off_from_it_is_said(place):
    settings = {"bidders": [{"name": "Ann", "agent": {"command": ["sh", "-c", ": " + "x" * 1_000 + "; rm -rf ~"]}}]}
    (place / "sent.json").write_text(json.dumps(settings))
    refused("auction", "sent.json", cwd=place, told=("\"sh -c ': xxx", 'x" and 720 more characters'))


def test_a_public_pack_tells_neither_the_program_nor_its_variables_nor_the_server_of_an_agent(place):
    assert harbor("resume", "run", cwd=place).returncode == 0
    done = harbor("pack", "run", "--public", "--out", "pack.zip", cwd=place)
    assert done.returncode == 0, done.stderr
    assert harbor("unpack", "pack.zip", "--out", "public", cwd=place).returncode == 0
    told = b"".join(contents(place / "public").values())
    assert b"Ann" in told
    assert not [one for one in (b"bidder.py", b"SOME_SECRET", sys.executable.encode()) if one in told]
