"""`harbor memory`, as a person or a script meets it."""

from __future__ import annotations

import json

import pytest

from harbor import Auction, Bidder, Item
from harbor.memory._store.chroma import ChromaStore, open_existing, to_line
from support.commands import harbor


def command(*words, cwd, given=""):
    return harbor("memory", *words, cwd=cwd, given=given)


def mistaken(*words, cwd, given=""):
    done = command(*words, cwd=cwd, given=given)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    *asked, line = done.stderr.splitlines()
    assert not [one for one in asked if not one.startswith("Forget")]
    return line.partition("harbor: error: ")[2]


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


def test_show_is_a_table_of_all(run):
    shown = command("show", "run", cwd=run)
    assert shown.returncode == 0, shown.stderr
    for word in ("Ann [b]", "Ben", "learning", "episode", "dossier", "carried-over", "Lot A"):
        assert word in shown.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "bidder", "kind", "any_at_all"),
    [
        (["--bidder", "Ann [b]"], "Ann [b]", None, True),
        (["--kind", "episode"], None, "episode", True),
        (["--bidder", "Ben", "--kind", "learning"], "Ben", "learning", True),
        (["--scope", "carried-over"], None, None, True),
        (["--scope", "elsewhere"], None, None, False),
        (["--bidder", "Nobody"], None, None, False),
    ],
    ids=str,
)
def test_show_and_export_keep_to_bidder_kind_and_scope(run, words, bidder, kind, any_at_all):
    expected = [
        (line, memory["key"])
        for line in lines(run / "run")
        if (memory := json.loads(line))
        and any_at_all
        and bidder in (None, memory["value"]["bidder"])
        and kind in (None, memory["namespace"][2])
    ]
    assert sorted(row["key"] for row in found("show", "run", *words, cwd=run)) == sorted(key for _, key in expected)
    assert sorted(command("export", "run", *words, cwd=run).stdout.splitlines()) == [line for line, _ in expected]


def test_search_gives_the_nearest_first(run):
    rows = found("search", "run", "Lot B from $1,000 was sold", "-k", 2, "--kind", "episode", cwd=run)
    assert rows[0]["value"]["item"] == "Lot B"
    assert len(rows) == 2
    assert rows[0]["score"] >= rows[1]["score"] > 0
    assert "score" in command("search", "run", "Lot B", cwd=run).stdout


def test_export_imports_to_an_equal_store(run, tmp_path):
    out = tmp_path / "memories.jsonl"
    assert command("export", "run", "--out", out, cwd=run).returncode == 0
    assert command("import", tmp_path / "new", out, cwd=run).returncode == 0
    assert lines(tmp_path / "new") == lines(run / "run") == sorted(out.read_text().splitlines())
    asked = ["Lot A in the first half", "-k", 4]
    assert found("search", tmp_path / "new", *asked, cwd=run) == found("search", "run", *asked, cwd=run)


def test_import_reads_standard_input_and_twice_is_once(run, tmp_path):
    text = command("export", "run", cwd=run).stdout
    for _ in range(2):
        assert command("import", "new", "-", cwd=tmp_path, given=text).returncode == 0
    assert lines(tmp_path / "new") == lines(run / "run")


def test_what_any_app_keeps_is_shown_exported_and_imported_too(tmp_path):
    with ChromaStore(tmp_path / "app", ttl={"default_ttl": 60}) as store:
        store.put(("anyone",), "plain", {"n": [1, {"ü": None}]})
        store.put(
            ("anyone", "deep", "er", "still"), "🔑", {"a": {"b": "indexed here"}, "text": "not here"}, index=["a.b"]
        )
        store.put(("anyone",), "hidden", {"text": "indexed nowhere"}, index=False)
        store.put(("anyone",), "mortal", {"text": "for a while"}, ttl=5.5)
        kept = store.records()
    assert "anyone/deep/er/still" in command("show", "app", cwd=tmp_path).stdout
    assert command("export", "app", "--out", "x.jsonl", cwd=tmp_path).returncode == 0
    assert command("import", "new", "x.jsonl", cwd=tmp_path).returncode == 0
    with open_existing(str(tmp_path / "new")) as store:
        again = store.records()
        assert sorted(map(to_line, again)) == sorted(map(to_line, kept))
        assert {item.key for item in store.search((), query="indexed here nowhere for a while")} >= {"🔑", "mortal"}
        assert "hidden" not in {item.key for item in store.search((), query="indexed nowhere")}


def test_forget_deletes_what_is_named_and_nothing_else(copy):
    before = lines(copy / "copy")
    done = command("forget", "copy", "--bidder", "Ben", "--kind", "episode", "--yes", cwd=copy)
    assert (done.returncode, done.stderr) == (0, "harbor: 2 memories forgotten\n")
    gone = [line for line in before if json.loads(line)["value"]["bidder"] == "Ben" and '"episode"' in line]
    assert len(gone) == 2
    assert lines(copy / "copy") == sorted(set(before) - set(gone))


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 2), ("", 2)])
def test_forget_asks_first(copy, answer, left):
    command("forget", "copy", "--bidder", "Ben", "--kind", "episode", cwd=copy, given=answer)
    assert len(found("show", "copy", "--bidder", "Ben", "--kind", "episode", cwd=copy)) == left


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "nowhere"], "the memory in 'nowhere': there is no memory"),
        (["export", "nowhere"], "there is no memory"),
        (["search", "nowhere", "x"], "there is no memory"),
        (["forget", "nowhere", "--bidder", "Ben"], "there is no memory"),
        (["show", "http://127.0.0.1:9"], "start the server"),
        (["show", "copy", "--kind", "episodes"], "unknown kind of memory 'episodes'; did you mean 'episode'?"),
        (["forget", "copy"], "no memories are named; give --bidder, --kind or --scope"),
        (["forget", "copy", "--bidder", "Ben"], "nothing was forgotten; give --yes"),
        (["search", "copy", "x", "-k", "0"], "'-k'"),
        (["import", "copy", "nowhere.jsonl"], "'nowhere.jsonl' can't be read"),
        (["import", "copy", "notes.txt"], "'notes.txt' line 1 is not a memory"),
        (["import", "copy", "-", "--embedding", "magic"], "has the embedding 'hashing'"),
        (["import", "fresh", "-", "--embedding", "magic"], "unknown embedding 'magic'"),
        (["export", "copy", "--out", "notes.txt"], "'notes.txt' exists; name a new file"),
        (["export", "copy", "--out", "no/such/x.jsonl"], "can't be written"),
        (["burn", "copy"], "No such command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_changes_nothing(copy, words, said):
    (copy / "notes.txt").write_text("hello\n")
    before = lines(copy / "copy")
    assert said in mistaken(*words, cwd=copy, given="")
    assert lines(copy / "copy") == before
    assert sorted(path.name for path in copy.iterdir()) == ["copy", "notes.txt"]


@pytest.mark.parametrize(
    "spoil",
    [
        {"namespace": []},
        {"namespace": ["a.b"]},
        {"namespace": ["a", ""]},
        {"key": ""},
        {"key": 3},
        {"value": "text"},
        {"created_at": "yesterday"},
        {"created_at": "2026-01-01T00:00:00"},
        {"ttl": -1},
        {"more": 1},
    ],
    ids=str,
)
def test_a_line_that_is_no_memory_is_named_and_nothing_is_imported(copy, spoil):
    good = lines(copy / "copy")[0]
    bad = json.dumps({**json.loads(good), "key": "other", **spoil})
    said = mistaken("import", "new", "-", cwd=copy, given=f"{good}\n{bad}\n")
    assert "line 2" in said
    assert not (copy / "new").exists()


def test_a_memory_whose_embedding_cannot_be_named_says_so(tmp_path):
    with ChromaStore(tmp_path / "own", embedding=lambda texts: [[1.0, 0.5] for _ in texts]) as store:
        store.put(("a",), "b", {"text": "c"})
    said = mistaken("show", "own", cwd=tmp_path)
    assert "it was made with embedding" in said
    assert "choose one of: hashing" in said


def test_a_memory_that_is_in_use_says_so(run):
    with ChromaStore(run / "run" / "memory", fields=("text",)):
        assert "another process or store is writing there" in mistaken("show", "run", cwd=run)


@pytest.mark.parametrize(("frozen", "nodes"), [("false", {"recall", "learn", "remember"}), ("true", {"recall"})])
def test_the_graph_that_is_shown_has_what_the_memory_leaves_in(tmp_path, frozen, nodes):
    bidder = '[[bidders]]\nname = "Ann"\nmemory = "list"\nlearning = true\n'
    (tmp_path / "sale.toml").write_text(f"[memory]\nfrozen = {frozen}\n{bidder}")
    shown = harbor("graph", "sale.toml", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert {name for name in ("recall", "learn", "remember") if f"{name}({name})" in shown.stdout} == nodes
