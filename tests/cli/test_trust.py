"""A folder that somebody sent names code: no command follows it, until its user names that code too."""

from __future__ import annotations

import json

import pytest

from support.commands import harbor, mistake
from support.folders import cut
from support.plugins import install, installed

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


@pytest.fixture
def place(tmp_path):
    """A working directory with code of the user's, a run and an experiment that name it, and nothing followed yet."""
    for name, text in (("mine.py", MINE), ("auction.toml", AUCTION), ("design.toml", DESIGN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with installed():
        for command in ("auction auction.toml --out run", "experiment run design.toml --out exp"):
            assert harbor(*command.split(), cwd=tmp_path).returncode == 0, command
    (tmp_path / "imported").unlink()
    cut(tmp_path / "run" / "events.jsonl", -2)
    with installed():
        yield tmp_path


COMMANDS = (["resume", "run"], ["auction", "run/config.json"], ["experiment", "resume", "exp"], ["report", "exp"])
NAMED = ["--plugin", "mine:POLICY", "--plugin", "mine:letters"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_code_that_only_a_folder_names_is_not_imported_until_the_user_names_it(place, command):
    line = mistake(harbor(*command, cwd=place))
    assert "names the code 'mine:" in line
    assert "harbor --plugin mine:" in line
    assert not (place / "imported").exists()
    assert harbor(*NAMED, *command, cwd=place).returncode == 0
    assert (place / "imported").exists()


def test_a_record_that_was_changed_names_no_code(place):
    [record, *_] = (place / "exp").rglob("record.json")
    kept = json.loads(record.read_text())
    kept["record"]["arm"] = "other"
    for one in kept["record"]["measurements"]:
        one["metric"] = "evil:METRIC"
    record.write_text(json.dumps(kept))
    (place / "evil.py").write_text("from pathlib import Path\nPath(__file__).with_name('evil-imported').touch()\n")
    assert harbor(*NAMED, "report", "exp", cwd=place).returncode == 0
    assert not (place / "evil-imported").exists()


def test_a_package_that_stands_in_the_working_directory_is_not_an_installed_one(place):
    evil = "from pathlib import Path\nPath(__file__).with_name('evil-imported').touch()\n"
    install(place, "evil", {"evil.py": evil}, {"harbor.policies": {"evil": "evil:POLICY"}})
    (place / "sent.json").write_text(json.dumps({"bidders": [{"name": "Ann", "rule": "evil"}]}))
    line = mistake(harbor("--plugin", "mine:POLICY", "auction", "sent.json", "--trust", cwd=place))
    assert "unknown policy 'evil'" in line
    assert not (place / "evil-imported").exists()
