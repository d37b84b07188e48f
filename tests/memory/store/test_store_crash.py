"""A process may be killed, a disk may be full: what was acknowledged is there, and nothing is half written."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from random import Random

import pytest
from chromadb.utils import embedding_functions
from langgraph.store.base import PutOp

from harbor._core.basics.errors import MemoryStoreError
from harbor.memory._store.chroma import ChromaStore

FIELDS = ["text", "more[*]"]
MANY_CALLERS = """
import asyncio, sys
from harbor.memory._store.chroma import ChromaStore
async def write(store, number, place):
    notes = [f"note {number}"] * (number % 4)
    value = {"text": f"text {number} {place}", "number": number, "place": place, "more": notes}
    await store.aput(("ann", f"part {place % 5}"), str(place), value)
    print(number, place, flush=True)
async def main(number):
    async with ChromaStore(sys.argv[1], fields=["text", "more[*]"]) as store:
        print("open", flush=True)
        while True:
            number += 1
            await asyncio.gather(*(write(store, number, place) for place in range(60)))
asyncio.run(main(int(sys.argv[2])))
"""
FULL_DISK = """
import resource, sys
from harbor._core.basics.errors import MemoryStoreError
from harbor.memory._store.chroma import ChromaStore
with ChromaStore(sys.argv[1]) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    for kept in range(400):
        try:
            store.put(("ann",), str(kept), {"text": "x" * 20_000})
        except MemoryStoreError as error:
            sys.exit(f"{kept} {error}")
"""


@pytest.mark.slow
def test_each_acknowledged_put_outlives_kill_9_none_is_half_written_and_only_a_living_process_keeps_the_folder(
    tmp_path,
):
    random, kept, number = Random(4), {}, 0
    for _ in range(2):
        command = [sys.executable, "-c", MANY_CALLERS, str(tmp_path / "memory"), str(number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            lines = [writer.stdout.readline() for _ in range(random.randint(2, 60))]
            with pytest.raises(MemoryStoreError, match=r"another process or store is writing there.*chroma run --path"):
                ChromaStore(tmp_path / "memory", fields=FIELDS)
            writer.kill()  # the writer is at its next put by now
            lines += writer.stdout.readlines()
        for line in lines:  # a line cut short says nothing
            if line.endswith("\n") and line != "open\n":
                written, place = line.split()
                kept[place] = int(written)
        with ChromaStore(tmp_path / "memory", fields=FIELDS) as store:
            items = {item.key: item.value for item in store.search(("ann",), limit=1000)}
            assert all(items[place]["number"] >= written for place, written in kept.items())
            for place, value in items.items():
                n, text = value["number"], f"text {value['number']} {place}"
                assert value == {"text": text, "number": n, "place": int(place), "more": [f"note {n}"] * (n % 4)}
                assert store.search(("ann",), query=text, limit=1)[0].score == pytest.approx(1, abs=1e-3)
                number = max(number, n)


@pytest.mark.slow
def test_full_disk_is_an_error_in_one_line_and_what_was_acknowledged_stays(tmp_path):
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "memory")]
    told = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False).stderr
    kept, _, error = told.partition(" ")
    assert ("make room" in error, error.count("\n")) == (True, 1)
    with ChromaStore(tmp_path / "memory") as store:
        items = {item.key: item.value["text"] for item in store.search(("ann",), limit=1000)}
    assert {str(number) for number in range(int(kept))} <= set(items)
    assert set(items.values()) == {"x" * 20_000}


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A memory as a kill would leave it: open."""
    place = tmp_path_factory.mktemp("killed")
    with ChromaStore(place / "memory", fields=["text"]) as store:
        store.batch([PutOp(("ann",), f"hidden {n}", {"text": f"text {n}"}, index=False) for n in range(3)])
        store.batch([PutOp(("ann",), str(n), {"text": f"text {n} of {n * n}"}) for n in range(1100)])
        return shutil.copytree(place / "memory", place / "copy")


@pytest.mark.slow
@pytest.mark.parametrize("torn", ["data_level0.bin", "length.bin", "header.bin"])
def test_index_that_a_killed_process_left_torn_is_made_anew(torn, killed, tmp_path):
    copy = shutil.copytree(killed, tmp_path / "copy")
    half = next(copy.glob(f"*/{torn}"))
    half.write_bytes(half.read_bytes()[: half.stat().st_size // 2])
    with pytest.raises(MemoryStoreError, match="made with embedding"):
        ChromaStore(copy, embedding=lambda texts: [[1.0]] * len(texts))
    with ChromaStore(copy, fields=["text"]) as store:
        assert len(store.search(("ann",), limit=2000)) == 1103
        for n in range(0, 1100, 50):
            found = store.search(("ann",), query=f"text {n} of {n * n}", limit=1)[0]
            assert (found.key, round(found.score, 3)) == (str(n), 1)
        assert all(not item.key.startswith("hidden") for item in store.search(("ann",), query="text 1", limit=50))
    ChromaStore(copy, fields=["text"]).close()


@pytest.mark.parametrize("left", [".store.json.70b3.draft", "store.json", ".mark.70b3.draft", "mark", "chroma.new"])
def test_a_memory_whose_making_was_stopped_is_made_anew(left, tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / left).write_bytes(b"")
    ChromaStore(tmp_path / "memory", fields=FIELDS).close()


RENAMED = """
import sqlite3, sys
database, *names = sys.argv[1:]
with sqlite3.connect(database) as connection:
    assert connection.execute("update segments set id = ? where id = ?", names).rowcount == 1
connection.close()
"""
# In another process, as Chroma's own SQLite may still be letting go of the files in this one.


@pytest.mark.parametrize("named", ["../victim", "{victim}", "a link", "a link inside"])
def test_a_memory_that_somebody_sent_removes_and_writes_nothing_outside_its_folder(named, tmp_path):
    victim, sent = tmp_path / "victim", tmp_path / "sent"
    victim.mkdir()
    (victim / "thesis.txt").write_text("ten years of work")

    def fill(store, word):
        store.batch([PutOp(("ann",), str(n), {"text": f"{word} {n}"}) for n in range(1100)])

    with ChromaStore(sent, fields=["text"]) as store:
        fill(store, "text")
    (sent / "harbor.open").touch()
    index = next(path for path in sent.iterdir() if path.is_dir())
    if is_link := named.startswith("a link"):
        link, target = (index, victim) if named == "a link" else (index / "header.bin", victim / "thesis.txt")
        index.rename(tmp_path / "away") if link == index else link.unlink()
        link.symlink_to(target)
    else:
        names = [named.format(victim=victim), index.name]
        subprocess.run([sys.executable, "-c", RENAMED, str(sent / "chroma.sqlite3"), *names], check=True)
    (sent / "mark").unlink()
    with pytest.raises(MemoryStoreError, match="is a link" if is_link else "is not marked as yours"):
        ChromaStore(sent, fields=["text"])
    said = "is a link" if is_link else "Failed to get segments"
    with pytest.raises(MemoryStoreError, match=said), ChromaStore(sent, fields=["text"], trust=True) as store:
        fill(store, "other")
    assert {path.name: path.read_text() for path in victim.iterdir()} == {"thesis.txt": "ten years of work"}


@contextmanager
def edited(memory):
    """Let a test edit the database of a memory."""
    with closing(sqlite3.connect(memory / "chroma.sqlite3")) as database:
        yield database
        database.commit()


def test_an_embedding_function_that_a_database_names_is_never_built(tmp_path, monkeypatch):
    with ChromaStore(tmp_path) as store:
        store.put(("Ann",), "k", {"text": "a"})
    named = {"type": "known", "name": "sentence_transformer", "config": {"model_name": "./evil"}}
    with edited(tmp_path) as database:
        for name, text in database.execute("select name, schema_str from collections").fetchall():
            schema = json.loads(text)
            for kind in (schema["defaults"], *schema["keys"].values()):
                if index := kind.get("float_list", {}).get("vector_index"):
                    index["config"]["embedding_function"] = named
            database.execute("update collections set schema_str = ? where name = ?", (json.dumps(schema), name))
    built = []
    spy = type("Spy", (), {"build_from_config": staticmethod(built.append)})
    monkeypatch.setitem(embedding_functions.known_embedding_functions, "sentence_transformer", spy)
    with ChromaStore(tmp_path, embedding=None) as store:
        store.put(("Ann",), "l", {"text": "b"})
        store.put(("Ben",), "k", {"text": "c"})
        assert len(store.search(("Ann",), query="a")) == 2
    assert built == []


def test_a_description_that_lacks_something_is_refused_in_one_line(tmp_path):
    ChromaStore(tmp_path).close()
    with edited(tmp_path) as database:
        database.execute("delete from collection_metadata where key = 'schema'")
    with pytest.raises(MemoryStoreError, match="its description lacks schema"):
        ChromaStore(tmp_path, embedding=None)
