"""Code, programs and servers that a sent folder names: they are told, and nothing of it is followed."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from support.commands import harbor, mistake
from support.folders import TINY, contents, cut
from support.plugins import install, installed
from support.sent import SCRIPTED, forge, listening

# ---------------------------------------------------------------- programs and servers as agents

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
    cut(log, log.read_text().partition("bidders_asked")[0].count("\n"))
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
VARIED = [{"name": "one", **CHANGED}, OTHER]
PLACES = [
    *({kind: VARIED} for kind in ("arms", "arms_left_out", "conditions")),
    {"arms": [], "factors": [{"name": "who", "levels": VARIED}]},
]


@pytest.mark.parametrize("changes", PLACES, ids=lambda changes: [*changes][-1])
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


def test_what_was_made_here_starts_its_program_again_of_which_a_public_pack_tells_nothing(place):
    assert harbor("resume", "run", cwd=place).returncode == 0
    assert (place / "started").exists()
    done = harbor("pack", "run", "--public", "--out", "pack.zip", cwd=place)
    assert done.returncode == 0, done.stderr
    assert harbor("unpack", "pack.zip", "--out", "public", cwd=place).returncode == 0
    told = b"".join(contents(place / "public").values())
    assert b"Ann" in told
    assert not [one for one in (b"bidder.py", b"SOME_SECRET", sys.executable.encode()) if one in told]


# ---------------------------------------------------------------- code, until its user names it too

MINE = """
from pathlib import Path
Path(__file__).with_name("imported").touch()
from harbor._core.log.players import Policy
from harbor._games.game import ScriptedPolicy
from harbor.evaluation import by_bidder, metric
from harbor.events import BidderLabelled
from harbor.games import Bid, of_type

class Minimum(Policy):
    def decide(self, ask, seen):
        return Bid(ask.minimum)

POLICY = ScriptedPolicy(name="mine", description="bids the minimum", make=lambda _: Minimum())

@metric("letters of a name", "count", of=BidderLabelled)
def letters(name, entries):
    "Letters of each bidder's name."
    return by_bidder(name, {one.bidder: len(one.bidder) for one in of_type(entries, BidderLabelled)})
"""
AUCTION = """
items = { count = 1 }
bidders = [{ name = "Ann", rule = "mine:POLICY" }, { name = "Ben", rule = "random" }]
"""
DESIGN = """
name = "own"
title = "Own"
question = "?"
source = "own"
repeats = 1
metrics = ["mine:letters"]
auction = { items = { count = 1 }, bidders = [{ name = "Ann", rule = "mine:POLICY" }] }
arms = [{ name = "one" }]
"""


@pytest.fixture(scope="module")
def made_of_code(tmp_path_factory):
    """A working directory with code of the user's, a run and an experiment that name it, and nothing followed yet."""
    folder = tmp_path_factory.mktemp("made_of_code")
    for name, text in (("mine.py", MINE), ("auction.toml", AUCTION), ("design.toml", DESIGN)):
        (folder / name).write_text(text, encoding="utf-8")
    with installed():
        for command in ("auction auction.toml --out run", "experiment run design.toml --out exp"):
            assert harbor(*command.split(), cwd=folder).returncode == 0, command
    (folder / "imported").unlink()
    cut(folder / "run" / "events.jsonl", -2)
    return folder


@pytest.fixture
def workplace(made_of_code, tmp_path):
    with installed():
        yield shutil.copytree(made_of_code, tmp_path / "workplace")


COMMANDS = (["resume", "run"], ["auction", "run/config.json"], ["experiment", "resume", "exp"], ["report", "exp"])
EVIL = "from pathlib import Path\nPath(__file__).with_name('evil-imported').touch()\n"
NAMED = ["--plugin", "mine:POLICY", "--plugin", "mine:letters"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_code_that_only_a_folder_names_is_not_imported_until_the_user_names_it(workplace, command):
    line = mistake(harbor(*command, cwd=workplace))
    assert "names the code 'mine:" in line
    assert "harbor --plugin mine:" in line
    assert not (workplace / "imported").exists()
    assert harbor(*NAMED, *command, cwd=workplace).returncode == 0
    assert (workplace / "imported").exists()


def test_a_record_that_was_changed_names_no_code(workplace):
    [record, *_] = (workplace / "exp").rglob("record.json")
    kept = json.loads(record.read_text())
    kept["record"]["arm"] = "other"
    for one in kept["record"]["measurements"]:
        one["metric"] = "evil:METRIC"
    record.write_text(json.dumps(kept))
    (workplace / "evil.py").write_text(EVIL)
    assert harbor(*NAMED, "report", "exp", cwd=workplace).returncode == 0
    assert not (workplace / "evil-imported").exists()


def test_a_package_that_stands_in_the_working_directory_is_not_an_installed_one(workplace):
    install(workplace, "evil", {"evil.py": EVIL}, {"harbor.policies": {"evil": "evil:POLICY"}})
    (workplace / "sent.json").write_text(json.dumps({"bidders": [{"name": "Ann", "rule": "evil"}]}))
    line = mistake(harbor("--plugin", "mine:POLICY", "auction", "sent.json", "--trust", cwd=workplace))
    assert "unknown policy 'evil'" in line
    assert not (workplace / "evil-imported").exists()
