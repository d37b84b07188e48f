"""`harbor memory`, as a person or a script meets it."""

from __future__ import annotations

import json

import pytest

from harbor import Auction, Bidder, Item
from harbor.memory._store.chroma import ChromaStore, open_existing, to_line
from support.commands import harbor, mistake


def command(*words, cwd, given=""):
    return harbor("memory", *words, cwd=cwd, given=given)


def found(*words, cwd):
    done = command(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["memories"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a place where a run has left memories of two bidders."""
    place = tmp_path_factory.mktemp("memories")
    items = [Item(name=f"Lot {letter}", start=1000, true_value=2000) for letter in "AB"]
    minds = {"memory": "full", "learning": True, "budget": 4000}
    bidders = [Bidder("Ann [b]", **minds), Bidder("Ben", **minds)]
    Auction(items=items, bidders=bidders).run(out=place / "run")
    return place


def lines(folder):
    with open_existing(str(folder)) as store:
        return sorted(map(to_line, store.records()))


@pytest.fixture
def copy(run, tmp_path):
    """A memory of one's own to spoil."""
    with open_existing(str(run / "run")) as store, ChromaStore(tmp_path / "copy", fields=("text",)) as new:
        new.restore(store.records())
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(("words", "kept"), [
    (["--bidder", "Ann [b]"], lambda one: one["value"]["bidder"] == "Ann [b]"),
    (["--bidder", "Ben", "--kind", "learning"],
     lambda one: (one["value"]["bidder"], one["namespace"][2]) == ("Ben", "learning")),
    (["--scope", "carried-over"], lambda _: True),
    (["--scope", "elsewhere"], lambda _: False),
], ids=["bidder", "kind", "scope", "no scope"])  # fmt: skip
def test_show_and_export_keep_to_bidder_kind_and_scope(run, words, kept):
    expected = [line for line in lines(run / "run") if kept(json.loads(line))]
    shown = sorted(row["key"] for row in found("show", "run", *words, cwd=run))
    assert shown == sorted(json.loads(line)["key"] for line in expected)
    assert sorted(command("export", "run", *words, cwd=run).stdout.splitlines()) == expected


def test_show_is_a_table_of_all_and_search_gives_the_nearest_first(run):
    shown = command("show", "run", cwd=run)
    assert shown.returncode == 0, shown.stderr
    for word in ("Ann [b]", "Ben", "learning", "episode", "dossier", "carried-over", "Lot A"):
        assert word in shown.stdout
    first, second = found("search", "run", "Lot B from $1,000 was sold", "-k", 2, "--kind", "episode", cwd=run)
    assert first["value"]["item"] == "Lot B"
    assert first["score"] >= second["score"] > 0
    assert "score" in command("search", "run", "Lot B", cwd=run).stdout


def test_export_imports_to_an_equal_store_from_a_file_or_standard_input_and_twice_is_once(run, tmp_path):
    out = tmp_path / "memories.jsonl"
    assert command("export", "run", "--out", out, cwd=run).returncode == 0
    for file, given in ((out, ""), ("-", out.read_text())):
        assert command("import", tmp_path / "new", file, cwd=run, given=given).returncode == 0
        assert lines(tmp_path / "new") == lines(run / "run") == sorted(out.read_text().splitlines())
    asked = ["Lot A in the first half", "-k", 4]
    assert found("search", tmp_path / "new", *asked, cwd=run) == found("search", "run", *asked, cwd=run)


def test_what_any_app_keeps_is_shown_exported_and_imported_too(tmp_path):
    with ChromaStore(tmp_path / "app", ttl={"default_ttl": 60}) as store:
        store.put(("anyone",), "plain", {"n": [1, {"ü": None}]})
        deep = {"a": {"b": "indexed here"}, "text": "not here"}
        store.put(("anyone", "deep", "er", "still"), "🔑", deep, index=["a.b"])
        store.put(("anyone",), "hidden", {"text": "indexed nowhere"}, index=False)
        store.put(("anyone",), "mortal", {"text": "for a while"}, ttl=5.5)
        kept = store.records()
    assert "anyone/deep/er/still" in command("show", "app", cwd=tmp_path).stdout
    assert command("export", "app", "--out", "x.jsonl", cwd=tmp_path).returncode == 0
    assert command("import", "new", "x.jsonl", cwd=tmp_path).returncode == 0
    with open_existing(str(tmp_path / "new")) as store:
        assert sorted(map(to_line, store.records())) == sorted(map(to_line, kept))
        assert {item.key for item in store.search((), query="indexed here nowhere for a while")} >= {"🔑", "mortal"}
        assert "hidden" not in {item.key for item in store.search((), query="indexed nowhere")}


def test_forget_asks_first_and_deletes_what_is_named_and_nothing_else(copy):
    named = ("forget", "copy", "--bidder", "Ben", "--kind", "episode")
    before = lines(copy / "copy")
    for answer in ("", "n\n"):
        done = command(*named, cwd=copy, given=answer)
        assert (done.returncode, "nothing was forgotten; give --yes" in done.stderr) == (2, True)
        assert lines(copy / "copy") == before
    assert command(*named, cwd=copy, given="y\n").stderr.endswith("harbor: 2 memories forgotten\n")
    gone = [line for line in before if json.loads(line)["value"]["bidder"] == "Ben" and '"episode"' in line]
    assert lines(copy / "copy") == sorted(set(before) - set(gone)) != before
    assert command(*named, "--yes", cwd=copy).stderr == "harbor: 0 memories forgotten\n"


@pytest.mark.parametrize(("words", "said"), [
    (["show", "nowhere"], "the memory in 'nowhere': there is no memory"),
    (["forget", "nowhere", "--bidder", "Ben"], "there is no memory"),
    (["show", "http://127.0.0.1:9"], "start the server"),
    (["show", "copy", "--kind", "episodes"], "unknown kind of memory 'episodes'; did you mean 'episode'?"),
    (["forget", "copy"], "no memories are named; give --bidder, --kind or --scope"),
    (["import", "copy", "notes.txt"], "'notes.txt' line 1 is not a memory"),
    (["import", "copy", "-", "--embedding", "magic"], "has the embedding 'hashing'"),
    (["export", "copy", "--out", "notes.txt"], "'notes.txt' exists; name a new file"),
    (["export", "copy", "--out", "no/such/x.jsonl"], "can't be written"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")  # fmt: skip
def test_a_mistake_is_one_line_and_changes_nothing(copy, words, said):
    (copy / "notes.txt").write_text("hello\n")
    before = lines(copy / "copy")
    assert said in mistake(command(*words, cwd=copy))
    assert lines(copy / "copy") == before
    assert sorted(path.name for path in copy.iterdir()) == ["copy", "notes.txt"]


@pytest.mark.parametrize("spoil", [
    {"namespace": []}, {"namespace": ["a.b"]}, {"namespace": ["a", ""]}, {"key": ""}, {"key": 3}, {"value": "text"},
    {"created_at": "yesterday"}, {"created_at": "2026-01-01T00:00:00"}, {"ttl": -1}, {"more": 1},
], ids=str)  # fmt: skip
def test_a_line_that_is_no_memory_is_named_and_nothing_is_imported(tmp_path, run, spoil):
    good = lines(run / "run")[0]
    bad = json.dumps({**json.loads(good), "key": "other", **spoil})
    assert "line 2" in mistake(command("import", "new", "-", cwd=tmp_path, given=f"{good}\n{bad}\n"))
    assert not (tmp_path / "new").exists()
