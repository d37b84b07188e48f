"""`harbor verify --deep`: what it prints, and how it exits."""

from __future__ import annotations

import json
import shutil

import pytest

from harbor import Auction, Bidder, houses
from support.commands import harbor
from support.forging import lines_of, of_type, write


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deep") / "run"
    Auction(seed=2, items=houses(1, seed=2), bidders=[Bidder("Ann"), Bidder("Ben")]).run(out=folder)
    return folder


@pytest.fixture
def forged(run, tmp_path):
    """The run with a thought that its bidder did not have: no rule is broken."""
    folder = shutil.copytree(run, tmp_path / "forged")
    lines = lines_of(folder / "events.jsonl")
    of_type(lines, "planned")[0]["text"] = "I was told to."
    write(folder / "events.jsonl", lines)
    return folder


@pytest.mark.parametrize("name", ["", "events.jsonl"])
def test_a_run_that_follows_is_said_to(run, name):
    done = harbor("verify", run / name, "--deep")
    assert (done.returncode, done.stderr) == (0, "")
    assert "follows from settings, seed and recorded answers" in done.stdout
    assert "not checked: what a reply says that no event and no later prompt tells" in done.stdout


def test_a_difference_that_breaks_no_rule_is_told_with_its_place_and_in_the_same_fields(run, forged):
    assert harbor("verify", forged).returncode == 0
    done = harbor("verify", forged, "--deep")
    assert done.returncode == 1
    assert "does not follow from settings, seed and recorded answers" in done.stdout
    assert "planned" in done.stdout
    assert "I was told to." in done.stdout
    rules, follows, differs = (
        json.loads(harbor("verify", *words, "--json").stdout) for words in ((run,), (run, "--deep"), (forged, "--deep"))
    )
    assert list(rules) == list(follows) == list(differs)
    assert (follows["follows"], follows["level"], follows["line"]) == (True, "deep", None)
    assert (differs["follows"], differs["level"], differs["event"]) == (False, "deep", "planned")
    assert json.loads(differs["found"]) == {"text": "I was told to."}


def test_what_breaks_a_rule_is_told_without_playing_again(forged):
    lines = lines_of(forged / "events.jsonl")
    of_type(lines, "item_sold")[0]["winner"] = "Nobody"
    write(forged / "events.jsonl", lines)
    (forged / "calls.jsonl").unlink()
    done = harbor("verify", forged, "--deep", "--json")
    assert (done.returncode, json.loads(done.stdout)["level"]) == (1, "rules")


def test_a_field_that_no_event_has_is_a_difference(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    lines = lines_of(folder / "events.jsonl")
    of_type(lines, "item_sold")[0]["bribe"] = "Ann paid 5"
    write(folder / "events.jsonl", lines)
    assert "passed over: the field 'bribe'" in harbor("verify", folder).stdout
    done = harbor("verify", folder, "--deep", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["event"], found["expected"]) == (1, "item_sold", "nothing")
    assert json.loads(found["found"]) == {"bribe": "Ann paid 5"}
