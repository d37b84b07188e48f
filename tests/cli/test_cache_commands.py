"""`harbor cache`, as a person or a script meets it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest

from harbor import ModelSettings
from harbor._models.replies.cache import CallRequest, GameCache
from harbor._models.replies.replay import RawCall
from harbor._models.replies.reply_folder import CachedReply, Entry, ReplyFolder, new_entry, numbered, place_of
from support.commands import harbor, mistake


@pytest.fixture
def folder(tmp_path, monkeypatch) -> ReplyFolder:
    """Kept replies: two of one model, one of another."""
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "replies"))
    folder = ReplyFolder(tmp_path / "replies")
    for use, words in (("openai:a", "one"), ("openai:a", "two"), ("anthropic:b", "one")):
        put(folder, use, words)
    return folder


def put(folder: ReplyFolder, use: str, words: str, days: int = 0) -> Entry:
    game = GameCache(folder, 1)
    asked = game.count(CallRequest(ModelSettings(use=use, temperature=0), "tool", None, [["human", words]], 1))
    when = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    reply = CachedReply("{}", address=numbered(place_of(asked), asked))
    return folder.keep(replace(new_entry(asked, reply), when=when))


def listed() -> dict[str, object]:
    done = harbor("cache", "list", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(*words: object) -> str:
    done = harbor("cache", *words)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def names(folder: ReplyFolder) -> set[tuple[str, str]]:
    return {(entry.model, entry.asked["messages"][0][1]) for _, entry in folder.files() if entry}


def test_list_counts_replies_by_model_and_of_no_cache_none(folder, tmp_path, monkeypatch):
    found = listed()
    size = sum(file.stat().st_size for file, _ in folder.files())
    assert [found[name] for name in ("folder", "replies", "passed_over", "bytes")] == [str(folder.path), 3, 0, size]
    assert [(row["model"], row["replies"]) for row in found["models"]] == [("anthropic:b", 1), ("openai:a", 2)]
    assert found["oldest"] <= found["newest"]
    assert "3 replies of 2 models" in harbor("cache", "list").stdout
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "none"))
    assert (listed()["replies"], listed()["oldest"]) == (0, None)
    assert not (tmp_path / "none").exists()


def test_list_counts_what_another_version_wrote_and_what_is_spoiled(folder):
    [first, *_] = [file for file, _ in folder.files()]
    other = folder.path / "v2" / first.parent.name / first.name
    other.parent.mkdir(parents=True)
    first.rename(other)
    other.write_text(other.read_text().replace('"version":1', '"version":2'))
    next(file for file, entry in folder.files() if entry).write_text("spoiled")
    assert (listed()["replies"], listed()["passed_over"]) == (1, 2)
    assert "2 files can't be read or are of another version" in harbor("cache", "list").stderr
    assert "3 replies removed" in said("prune", "--all")
    assert list(folder.files()) == []


def test_prune_removes_by_age_and_model(folder):
    put(folder, "openai:a", "old", days=40)
    put(folder, "anthropic:b", "old", days=40)
    assert "1 reply removed" in said("prune", "--older-than", 30, "--model", "openai:a")
    assert ("openai:a", "old") not in names(folder)
    assert "1 reply removed" in said("prune", "--older-than", 30)
    assert "2 replies removed" in said("prune", "--model", "openai:a")
    assert names(folder) == {("anthropic:b", "one")}


def test_prune_removes_no_file_that_is_not_of_the_cache(folder):
    mine = [folder.path / "notes.json", folder.path / "v1" / "ab" / "notes.json", folder.path / "ab" / ("a" * 64)]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
    left = folder.path / "v1" / "ab" / ".abc_123-x.draft"
    left.write_text("left by a sudden end")
    said("prune", "--all")
    assert [file for file in mine if not file.exists()] == []
    assert not left.exists()


@pytest.mark.parametrize(("words", "complaint"), [
    (["prune"], "no entries are named; give --older-than DAYS, --model or --all"),
    (["prune", "--all", "--model", "openai:a"], "--all removes all entries"),
    (["import", "missing.jsonl"], "'missing.jsonl' can't be read"),
    (["export", "there.jsonl"], "'there.jsonl' exists; name a new file or remove it"),
    (["export", "none/new.jsonl"], "'none/new.jsonl' can't be written"),
    (["export", "new.jsonl", "--experiment", "empty"], "no call in 'empty' has a kept reply"),
])  # fmt: skip
def test_a_mistake_is_one_line(folder, tmp_path, words, complaint):
    (tmp_path / "there.jsonl").write_text("mine")
    (tmp_path / "empty").mkdir()
    assert mistake(harbor("cache", *words, cwd=tmp_path)).startswith(complaint)
    assert (tmp_path / "there.jsonl").read_text() == "mine"
    assert not (tmp_path / "new.jsonl").exists()
    assert len(names(folder)) == 3


def test_an_export_fills_an_empty_cache(folder, tmp_path, monkeypatch):
    whole, of_b, other = tmp_path / "all.jsonl.gz", tmp_path / "b.jsonl.gz", ReplyFolder(tmp_path / "other")
    assert "3 replies in" in said("export", whole)
    assert "1 reply in" in said("export", of_b, "--model", "anthropic:b")
    monkeypatch.setenv("HARBOR_CACHE", str(other.path))
    said("import", of_b, "--trust")
    assert names(other) == {("anthropic:b", "one")}
    assert "2 replies put into" in said("import", whole, "--trust")
    assert (listed()["imported"], [row["imported"] for row in listed()["models"]]) == (3, [1, 2])
    assert names(other) == names(folder)
    assert "3 were there already" in said("import", whole)


def test_an_export_of_an_experiment_has_what_its_calls_name_and_says_what_is_gone(folder, tmp_path):
    used = put(folder, "openai:a", "used").reply.address
    call = RawCall("Ann", "bid", "a", "0", 1, "ok", 1, 1, 0.0, False, 0.0, 1.0, ["Bid."], "{}", "")
    for game, addresses in (("1", (used, "")), ("2", (used, "0" * 64, "../../secret"))):
        (tmp_path / "run" / "games" / "arm" / game).mkdir(parents=True)
        lines = "".join(json.dumps(asdict(replace(call, address=address))) + "\n" for address in addresses)
        (tmp_path / "run" / "games" / "arm" / game / "calls.jsonl").write_text(lines)
    told = said("export", tmp_path / "used.jsonl", "--experiment", tmp_path / "run")
    assert ("2 replies of 3 that" in told, "1 reply in" in told) == (True, True)
    [line] = (tmp_path / "used.jsonl").read_text().splitlines()
    assert json.loads(line)["address"] == used
