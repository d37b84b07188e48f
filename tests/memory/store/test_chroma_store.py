"""ChromaStore keeps LangGraph's promises, on each of its backends."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import chromadb
import psutil
import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from harbor._core.basics.errors import MemoryStoreError
from harbor.memory._store.backend import _server
from harbor.memory._store.chroma import ChromaStore
from harbor.memory._store.database import DATABASE, indexes_in, make_database
from harbor.memory._store.embedding import HASHING_DIMENSION, Embedding, as_embedding
from harbor.testing._stores import CHECKS
from support.processes import chroma_server, closed
from support.sent import listening

HERE = ("ann", "learnings")
HASHING = as_embedding("hashing")
IN_MEMORY = {"dims": HASHING_DIMENSION, "embed": lambda texts: HASHING.vectors(texts).tolist(), "fields": ["text"]}


class Clock:
    """A clock that stands still until it is moved on, but for a moment at each look."""

    now = 1_000_000.0

    def __call__(self):
        self.now += 1e-3
        return self.now


@contextmanager
def served(folder):
    """Run a real Chroma server on a folder. Yield its address and its process."""
    address, process = chroma_server(folder)
    try:
        yield address, process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("server")) as (address, _):
        yield address


def emptied(address):
    """Delete what a server holds."""
    with ExitStack() as closing:
        collections = _server(address, closing)
        for collection in collections.client.list_collections():
            collections.client.delete_collection(collection.name)
    return address


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.strip("_"))
@pytest.mark.parametrize("backend", ["ephemeral", "folder", "server", "langgraph's own"])
def test_store_conforms(backend, check, tmp_path, request):
    if backend == "langgraph's own":
        check(InMemoryStore(index=IN_MEMORY))
        return
    where = {"ephemeral": lambda: None, "folder": lambda: tmp_path / "memory"}
    place = where.get(backend) or (lambda: emptied(request.getfixturevalue("server")))
    with ChromaStore(place(), fields=["text"]) as store:
        check(store)


def test_created_at_is_kept_by_an_update_and_begins_anew_after_a_delete_or_an_expiry():
    with ChromaStore(clock=(clock := Clock())) as store:
        items = []
        for before in (lambda: None, lambda: None, lambda: store.delete(HERE, "a"), lambda: setattr(clock, "now", 2e6)):
            before()
            store.put(HERE, "a", {"n": 1}, ttl=1)
            items.append(store.get(HERE, "a"))
    first, second, third, last = items
    assert second.created_at == first.created_at < second.updated_at < third.created_at
    assert third.updated_at < last.created_at == last.updated_at


def test_search_by_meaning_finds_the_few_that_fit_or_are_indexed_among_many():
    with ChromaStore(fields=["text"]) as store:
        store.batch([PutOp(HERE, f"dull {n}", {"text": "text 307"}, index=False) for n in range(300)])
        store.batch([PutOp(HERE, str(n), {"text": f"text {n}", "rare": n % 100 == 7}) for n in range(600)])
        found = store.search(HERE, query="text 307", filter={"rare": True}, limit=10)
        assert {item.key for item in found} == {"7", "107", "207", "307", "407", "507"}
        assert found[0].key == "307"
        found = store.search(HERE, query="text 307", limit=15)
        assert (len(found), [item.key for item in found if item.key.startswith("dull")]) == (15, [])


def test_expired_items_are_gone_before_they_are_swept_and_reading_prolongs():
    def keys():
        return {item.key for item in store.search(HERE)}

    with ChromaStore(clock=(clock := Clock()), ttl={"default_ttl": 1, "refresh_on_read": False}) as store:
        for n, key in enumerate(("default", "read", "searched")):
            store.put(HERE, key, {"n": n})
        store.put(HERE, "for ever", {"n": 1}, ttl=None)
        clock.now += 40
        assert store.get(HERE, "default")
        assert store.get(HERE, "read", refresh_ttl=True)
        assert store.search(HERE, filter={"n": 2}, refresh_ttl=True)
        clock.now += 40
        assert (store.get(HERE, "default"), keys()) == (None, {"read", "searched", "for ever"})
        assert store.sweep_ttl() == 1
        clock.now += 3600
        assert (keys(), store.sweep_ttl(), store.sweep_ttl()) == ({"for ever"}, 2, 0)


def test_store_sweeps_by_itself_at_the_interval_it_was_given():
    with ChromaStore(clock=(clock := Clock()), ttl={"sweep_interval_minutes": 10}) as store:
        store.put(HERE, "a", {}, ttl=1)
        clock.now += 601
        store.get(HERE, "b")
        assert (store.list_namespaces(), store.sweep_ttl()) == ([], 0)


def test_ephemeral_stores_know_nothing_of_each_other():
    with ChromaStore() as one, ChromaStore(embedding=lambda texts: [[1.0, 2.0]] * len(texts)) as other:
        one.put(HERE, "a", {"n": 1})
        assert other.get(HERE, "a") is None
        assert other.list_namespaces() == other.search(()) == []


def test_a_folder_is_as_it_was_when_it_is_opened_again(tmp_path):
    kept = []
    for writes in (True, False):  # Chroma would change the last bit of when it expires
        with ChromaStore(tmp_path / "memory", fields=["text"], clock=lambda: 1_800_000_000.1343641) as store:
            if writes:
                store.batch(
                    [PutOp((f"bidder {n % 3}", "x"), str(n), {"text": f"text {n}"}, ttl=60) for n in range(150)]
                )
            kept.append(sorted(store.records(), key=lambda one: (one.namespace, one.key)))
            assert store.search(("bidder 1",), query="text 31", limit=1)[0].key == "31"
    assert kept[0] == kept[1]


def test_opening_and_closing_leaves_no_file_open(tmp_path):
    def open_files() -> list:
        return [file for file in psutil.Process().open_files() if str(tmp_path) in file.path]

    for _ in range(12):
        with ChromaStore(tmp_path / "memory") as store:
            store.put(HERE, "a", {"n": 1})
    # SQLite's threads let go a moment after Chroma was told to close.
    assert any(not open_files() for _ in range(5_000))


def test_two_stores_share_a_server(server):
    with ChromaStore(emptied(server)) as one, ChromaStore(server) as other:
        one.put(HERE, "a", {"n": 1})
        assert other.get(HERE, "a").value == {"n": 1}
        other.put(("ben",), "b", {"n": 2})
        assert one.list_namespaces() == [HERE, ("ben",)]
        assert one.search(("ben",), query="2")[0].key == "b"


@pytest.mark.slow
async def test_server_that_goes_away_in_the_middle_fails_what_it_has_not_written_and_stores_still_close(tmp_path):
    with served(tmp_path / "served") as (address, process):
        async with ChromaStore(address) as store, ChromaStore(address) as other:

            async def put(first):
                for number in range(first, 120, 20):
                    await store.aput((f"user {first}",), str(number), {"n": number})
                    if first == 5:
                        process.kill()

            ended = await asyncio.gather(*map(put, range(20)), return_exceptions=True)
            process.wait()
            for work in (lambda: other.put(HERE, "b", {"n": 2}), lambda: other.get(HERE, "c"), other.list_namespaces):
                with pytest.raises(MemoryStoreError, match=rf"on '{address}'.*chroma run"):
                    work()
        assert {type(one) for one in ended} == {MemoryStoreError}
        assert all("chroma run" in str(one) for one in ended)
    with served(tmp_path / "served") as (address, _), ChromaStore(address) as store:
        assert {item.key for item in store.search((), limit=500)} >= {str(number) for number in range(20)}


def test_second_store_on_a_folder_is_refused_until_the_first_is_closed(tmp_path):
    with ChromaStore(tmp_path / "memory"), pytest.raises(MemoryStoreError, match=r"chroma run --path .*memory"):
        ChromaStore(tmp_path / "memory")
    ChromaStore(tmp_path / "memory").close()


@pytest.mark.parametrize("spoil", ["a text file", "a folder of other things", "another's Chroma"])
def test_what_is_no_memory_is_refused_and_left_alone(spoil, tmp_path):
    folder = tmp_path / "other"
    if spoil == "another's Chroma":
        with chromadb.PersistentClient(folder) as client:
            client.create_collection("theirs", embedding_function=None)
    else:
        (notes := folder if spoil == "a text file" else folder / "notes.txt").parent.mkdir(exist_ok=True)
        notes.write_text("hello")

    def names():
        return sorted(path.name for path in tmp_path.rglob("*") if path.suffix in {"", ".txt"})

    before = names()
    with pytest.raises(MemoryStoreError, match=r"other'.*(name another|is not opened)"):
        ChromaStore(folder)
    assert names() == before


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """The bytes of the database of a memory, with what stands in its log."""
    folder = tmp_path_factory.mktemp("whole")
    with ChromaStore(folder / "memory") as store:
        store.batch([PutOp(HERE, str(n), {"text": f"text {n}"}) for n in range(200)])
    closed(folder)
    with closing(sqlite3.connect(folder / "memory" / DATABASE)) as connection:
        return connection.serialize()


@pytest.mark.parametrize("damage", [
    lambda whole: b"\0" * 200 + whole[200:], lambda whole: whole[:4096] + b"\xad" * 20_000 + whole[24_096:],
    lambda whole: whole[: len(whole) // 2], lambda _: b"",
], ids=["head", "middle", "cut", "emptied"])  # fmt: skip
def test_damaged_database_is_refused_in_one_line(damage, database, tmp_path):
    (tmp_path / DATABASE).write_bytes(damage(database))
    with pytest.raises(MemoryStoreError, match=r"damaged") as caught, ChromaStore(tmp_path) as store:
        store.search(())
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_embedding_or_dimension_is_refused_with_the_remedy(tmp_path):
    def opened(dimension=2, name="mine"):
        made = Embedding(name, dimension, lambda texts: [[1.0, 0.0]] * len(texts))
        return ChromaStore(tmp_path / "memory", embedding=made if name else "hashing")

    with opened() as store:
        store.put(HERE, "a", {"n": 1})
    with pytest.raises(MemoryStoreError, match=r"made with embedding 'mine', not 'hashing'; open it with that"):
        opened(name="")
    with pytest.raises(MemoryStoreError, match=r"made with dimension 2, not 3"):
        opened(3)
    with opened() as store:
        assert store.get(HERE, "a").value == {"n": 1}


def test_a_log_that_chroma_removes_before_it_is_copied_is_missed_by_nobody(tmp_path, monkeypatch):
    make_database(tmp_path / DATABASE)
    log, copyfile = tmp_path / f"{DATABASE}-wal", shutil.copyfile
    log.touch()

    def late(source, target):
        log.unlink(missing_ok=True)
        return copyfile(source, target)

    monkeypatch.setattr(shutil, "copyfile", late)
    assert indexes_in(tmp_path) == {}


@pytest.mark.parametrize("value", [{"a": {1, 2}}, {"a": float("nan")}, {1: "a"}, {"a": (1, 2)}, ["a"]], ids=repr)
def test_value_that_is_not_json_is_refused_and_nothing_of_its_batch_is_written(value):
    with ChromaStore() as store:
        with pytest.raises(MemoryStoreError, match=r"'bad' in .* is not JSON"):
            store.batch([PutOp(HERE, "good", {"n": 1}), PutOp(HERE, "bad", value)])
        assert store.search(()) == []


def test_unknown_operators_of_filters_bad_namespaces_and_keys_that_are_no_texts_are_refused():
    filters = {"n": {"$near": 1}}, {"a": {"b": {"$in": [1]}}}, {"n": {"$gt": 1, "x": 1}}
    bad = [(MemoryStoreError, "unknown filter operator", SearchOp(HERE, filter=one)) for one in filters]
    bad += [(MemoryStoreError, "the key", PutOp(HERE, key, {})) for key in ("", "\ud800", 7)]
    for name in (("a.b",), ("a", ""), ("a\x00",), (1,)):
        bad += [(InvalidNamespaceError, ".", op) for op in (PutOp(name, "k", {}), GetOp(name, "k"), SearchOp(name))]
    with ChromaStore() as store:
        for error, match, op in bad:
            with pytest.raises(error, match=match):
                store.batch([op])
        assert store.search(()) == []


def test_keys_and_texts_may_be_anything_and_a_filter_of_what_is_no_number_finds_nothing():
    with ChromaStore(fields=["texts[*]"]) as store:
        for key in ("0:1", "1:a", "é 家", "a/b.c", "x" * 2000, "line\nline", " "):
            store.put(HERE, key, {"texts": [f"half \ud83c of {key}", "a bird"], "n": None, "t": "late"})
            assert store.get(HERE, key).key == key
            assert store.search(HERE, query=f"half \ud83c of {key}", limit=1)[0].score > 0.999
        assert store.search(HERE, filter={"n": {"$gt": 1}}) == store.search(HERE, filter={"t": {"$lt": 1}}) == []
        store.put(("ben",), "without a text", {"texts": [""]})
        assert (store.search(HERE, query=" "), store.search(("ben",), query="a bird")) == ([], [])


ELSEWHERE = """
CHROMA_API_IMPL=chromadb.api.fastapi.FastAPI
CHROMA_SERVER_HOST=127.0.0.1
CHROMA_SERVER_HTTP_PORT={port}
CHROMA_SERVER_HEADERS={{"authorization":"mine"}}
CHROMA_OTEL_COLLECTION_ENDPOINT=http://127.0.0.1:{port}
CHROMA_OTEL_GRANULARITY=all
IS_PERSISTENT=true
PERSIST_DIRECTORY=elsewhere
ANONYMIZED_TELEMETRY=true
"""


@pytest.mark.parametrize("where", ["memory", None, "server"])
@pytest.mark.parametrize("told_by", ["a file in the current folder", "the environment"])
def test_a_memory_is_where_harbor_was_told_whatever_settings_of_chroma_stand_around(
    where, told_by, server, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with listening() as (thief, visitors):
        lines = ELSEWHERE.format(port=urlsplit(thief).port)
        if told_by == "the environment":
            for line in lines.split():
                monkeypatch.setenv(*line.split("=", 1))
        else:
            Path(".env").write_text(lines)
        with ChromaStore({"memory": tmp_path / "memory", "server": server}.get(where)) as store:
            store.put(HERE, "one", {"text": "a plan"})
            assert store.get(HERE, "one").value == {"text": "a plan"}
    assert visitors == []
    assert {path.name for path in Path.cwd().iterdir()} <= {".env", "memory"}
    if where == "memory":
        with closing(sqlite3.connect(tmp_path / "memory" / DATABASE)) as database:
            assert database.execute("select count(*) from embeddings").fetchone() == (1,)


UNREADABLE = """
import os
from harbor.memory._store.chroma import ChromaStore
for content in (b"CHROMA_SERVER_HTTP_PORT=none", b"\\0\\xff"):
    open(".env", "wb").write(content)
    ChromaStore("memory").close()
    ChromaStore().close()
"""


def test_settings_that_chroma_could_not_read_cost_nothing(tmp_path):
    (tmp_path / ".env").write_bytes(b"\0\xff")
    variables = os.environ | {"CHROMA_SERVER_HTTP_PORT": "none", "CHROMA_SERVER_NOFILE": "many"}
    command = [sys.executable, "-P", "-c", UNREADABLE]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_memory_of_this_process_stands_beside_those_of_other_programs_in_it():
    theirs = chromadb.EphemeralClient()
    with ChromaStore() as ours:
        ours.put(HERE, "one", {"text": "a plan"})
    assert theirs.list_collections() == []
