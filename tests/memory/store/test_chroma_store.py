"""ChromaStore keeps LangGraph's promises, on each of its backends."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, closing
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
    """A clock that stands still until it is moved on."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        self.now += 1e-3
        return self.now


@pytest.fixture(scope="module")
def serve():
    """Start a real Chroma server on a folder; it answers when this returns."""
    with ExitStack() as running:

        def start(folder: Path) -> tuple[str, subprocess.Popen]:
            address, process = chroma_server(folder)
            running.callback(process.wait)
            running.callback(process.kill)
            return address, process

        yield start


@pytest.fixture(scope="module")
def server(serve, tmp_path_factory) -> str:
    return serve(tmp_path_factory.mktemp("server"))[0]


def emptied(address: str) -> str:
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
        store.put(HERE, "a", {"n": 1})
        first = store.get(HERE, "a")
        store.put(HERE, "a", {"n": 2}, ttl=1)
        second = store.get(HERE, "a")
        assert second.created_at == first.created_at < second.updated_at
        store.delete(HERE, "a")
        store.put(HERE, "a", {"n": 3}, ttl=1)
        assert (third := store.get(HERE, "a")).created_at > second.updated_at
        clock.now += 61
        assert store.list_namespaces() == []
        store.put(HERE, "a", {})
        clock.now += 10_000
        last = store.get(HERE, "a")
        assert third.updated_at < last.created_at == last.updated_at


def test_search_by_meaning_passes_over_what_is_not_indexed_or_no_longer():
    with ChromaStore(fields=["texts[*]"]) as store:
        store.put(HERE, "seen", {"texts": ["a garden"]})
        store.put(HERE, "unseen", {"texts": ["a garden"]}, index=False)
        store.put(HERE, "without text", {"other": "a garden"})
        store.put(HERE, "empty text", {"texts": [""]})
        assert [item.key for item in store.search(HERE, query="a garden")] == ["seen"]
        assert store.search(HERE, query=" ") == []
        assert len(store.search(HERE)) == 4
        store.put(HERE, "a", {"texts": ["a hut", "a boat", "an office"]})
        store.put(HERE, "a", {"texts": ["a lighthouse"]})
        assert store.search(HERE, query="a boat", limit=1)[0].score < 0.9
        store.put(HERE, "seen", {"texts": ["a garden"]}, index=False)
        assert [item.key for item in store.search(HERE, query="a garden")] == ["a"]


def test_every_text_is_nearest_to_itself_however_alike_they_are():
    with ChromaStore(fields=["text"]) as store:
        store.batch([PutOp(HERE, str(n), {"text": f"item {n} went for {n * 500} dollars"}) for n in range(700)])
        asked = [SearchOp(HERE, query=f"item {n} went for {n * 500} dollars", limit=1) for n in range(0, 700, 7)]
        assert sum(hits[0].score > 0.999 for hits in store.batch(asked)) >= 0.98 * len(asked)


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
    with ChromaStore(clock=(clock := Clock()), ttl={"default_ttl": 1, "refresh_on_read": False}) as store:
        for n, key in enumerate(("default", "read", "searched")):
            store.put(HERE, key, {"n": n})
        store.put(HERE, "for ever", {"n": 1}, ttl=None)
        clock.now += 40
        assert store.get(HERE, "default")
        assert store.get(HERE, "read", refresh_ttl=True)
        assert store.search(HERE, filter={"n": 2}, refresh_ttl=True)
        clock.now += 40
        assert store.get(HERE, "default") is None
        assert {item.key for item in store.search(HERE)} == {"read", "searched", "for ever"}
        assert store.sweep_ttl() == 1
        clock.now += 3600
        assert {item.key for item in store.search(HERE)} == {"for ever"}
        assert (store.sweep_ttl(), store.sweep_ttl()) == (2, 0)


def test_store_sweeps_by_itself_at_the_interval_it_was_given():
    with ChromaStore(clock=(clock := Clock()), ttl={"sweep_interval_minutes": 10}) as store:
        store.put(HERE, "a", {}, ttl=1)
        clock.now += 601
        store.get(HERE, "b")
        assert store.sweep_ttl() == 0


def test_ephemeral_stores_know_nothing_of_each_other():
    with ChromaStore() as one, ChromaStore(embedding=lambda texts: [[1.0, 2.0]] * len(texts)) as other:
        one.put(HERE, "a", {"n": 1})
        assert other.get(HERE, "a") is None
        assert other.list_namespaces() == other.search(()) == []


def test_a_folder_is_as_it_was_when_it_is_opened_again(tmp_path):
    def opened():
        return ChromaStore(tmp_path / "memory", fields=["text"], clock=lambda: 1_800_000_000.1343641)

    with opened() as store:  # Chroma would change the last bit of when it expires
        store.batch([PutOp((f"bidder {n % 3}", "x"), str(n), {"text": f"text {n}"}, ttl=60) for n in range(150)])
        before = sorted(store.records(), key=lambda one: (one.namespace, one.key))
    with opened() as store:
        assert sorted(store.records(), key=lambda one: (one.namespace, one.key)) == before
        assert store.search(("bidder 1",), query="text 31", limit=1)[0].key == "31"


def test_opening_and_closing_leaves_no_file_open(tmp_path):
    def open_files() -> list:
        return [file for file in psutil.Process().open_files() if str(tmp_path) in file.path]

    for _ in range(12):
        with ChromaStore(tmp_path / "memory") as store:
            store.put(HERE, "a", {"n": 1})
    # SQLite's threads let go a moment after Chroma was told to close.
    assert any(not open_files() for _ in range(5_000))


@pytest.mark.slow
def test_two_stores_share_a_server_and_one_that_dies_is_an_error_and_both_still_close(serve, tmp_path):
    address, process = serve(tmp_path / "served")
    with ChromaStore(address) as one, ChromaStore(address) as other:
        one.put(HERE, "a", {"n": 1})
        assert other.get(HERE, "a").value == {"n": 1}
        other.put(("ben",), "b", {"n": 2})
        assert one.list_namespaces() == [HERE, ("ben",)]
        assert one.search(("ben",), query="2")[0].key == "b"
        process.kill()
        process.wait()
        for work in (lambda: one.put(HERE, "b", {"n": 2}), lambda: other.get(HERE, "c"), one.list_namespaces):
            with pytest.raises(MemoryStoreError, match=rf"on '{address}'.*chroma run"):
                work()


@pytest.mark.slow
async def test_server_that_goes_away_in_the_middle_fails_what_it_has_not_written(serve, tmp_path):
    address, process = serve(tmp_path / "served")
    async with ChromaStore(address) as store:

        async def put(number):
            await store.aput((f"user {number % 40}",), str(number), {"n": number})
            if number % 40 == 5:
                process.kill()

        async def one_after_the_other(first):
            for number in range(first, 400, 40):
                await put(number)

        ended = await asyncio.gather(*map(one_after_the_other, range(40)), return_exceptions=True)
        assert {type(one) for one in ended} == {MemoryStoreError}
        assert all("chroma run" in str(one) for one in ended)
    process.wait()
    address, _ = serve(tmp_path / "served")
    with ChromaStore(address) as store:
        assert {item.key for item in store.search((), limit=500)} >= {str(number) for number in range(40)}


def test_second_store_on_a_folder_is_refused_until_the_first_is_closed(tmp_path):
    with ChromaStore(tmp_path / "memory"), pytest.raises(MemoryStoreError, match=r"chroma run --path .*memory"):
        ChromaStore(tmp_path / "memory")
    ChromaStore(tmp_path / "memory").close()


@pytest.mark.parametrize("spoil", ["a text file", "a folder of other things", "another's Chroma"])
def test_what_is_no_memory_is_refused_and_left_alone(spoil, tmp_path):
    folder = tmp_path / "other"
    if spoil == "a text file":
        folder.write_text("hello")
    elif spoil == "a folder of other things":
        folder.mkdir()
        (folder / "notes.txt").write_text("hello")
    else:
        with chromadb.PersistentClient(folder) as client:
            client.create_collection("theirs", embedding_function=None)

    def names():
        return sorted(path.name for path in tmp_path.rglob("*") if path.suffix in {"", ".txt"})

    before = names()
    with pytest.raises(MemoryStoreError, match=r"other'.*(name another|is not opened)"):
        ChromaStore(folder)
    assert names() == before


@pytest.mark.parametrize("damage", ["head", "middle", "cut", "emptied"])
def test_damaged_database_is_refused_in_one_line(damage, tmp_path):
    with ChromaStore(tmp_path / "memory") as store:
        store.batch([PutOp(HERE, str(n), {"text": f"text {n}"}) for n in range(200)])
    copy = tmp_path / "copy"
    copy.mkdir()
    whole = b"".join(_dump(tmp_path / "memory" / "chroma.sqlite3"))
    spoilt = {"head": b"\0" * 200 + whole[200:], "middle": whole[:4096] + b"\xad" * 20_000 + whole[24_096:]}
    spoilt |= {"cut": whole[: len(whole) // 2], "emptied": b""}
    (copy / "chroma.sqlite3").write_bytes(spoilt[damage])
    with pytest.raises(MemoryStoreError, match=r"copy'.*damaged") as caught, ChromaStore(copy) as store:
        store.search(())
    assert "\n" not in str(caught.value)


def _dump(database):
    """The bytes of a database, with what stands in its log."""
    closed(database.parent)
    with closing(sqlite3.connect(database)) as connection:
        yield connection.serialize()


def test_another_embedding_or_dimension_is_refused_with_the_remedy(tmp_path):
    def flat(texts):
        return [[1.0, 0.0]] * len(texts)

    with ChromaStore(tmp_path / "memory", embedding=Embedding("mine", 2, flat)) as store:
        store.put(HERE, "a", {"n": 1})
    with pytest.raises(MemoryStoreError, match=r"made with embedding 'mine', not 'hashing'; open it with that"):
        ChromaStore(tmp_path / "memory")
    with pytest.raises(MemoryStoreError, match=r"made with dimension 2, not 3"):
        ChromaStore(tmp_path / "memory", embedding=Embedding("mine", 3, flat))
    with ChromaStore(tmp_path / "memory", embedding=Embedding("mine", 2, flat)) as store:
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
    with ChromaStore() as store:
        for wanted in ({"n": {"$near": 1}}, {"a": {"b": {"$in": [1]}}}, {"n": {"$gt": 1, "x": 1}}):
            with pytest.raises(MemoryStoreError, match="unknown filter operator"):
                store.search(HERE, filter=wanted)
        for name in (("a.b",), ("a", ""), ("a\x00",), (1,)):
            for op in (PutOp(name, "k", {}), GetOp(name, "k"), SearchOp(name)):
                with pytest.raises(InvalidNamespaceError):
                    store.batch([op])
        for key in ("", "\ud800", 7):
            with pytest.raises(MemoryStoreError, match="the key"):
                store.batch([PutOp(HERE, key, {})])
        assert store.search(()) == []


def test_keys_and_texts_may_be_anything_and_a_filter_of_what_is_no_number_finds_nothing():
    with ChromaStore(fields=["texts[*]"]) as store:
        for key in ("0:1", "1:a", "é 家", "a/b.c", "x" * 2000, "line\nline", " "):
            store.put(HERE, key, {"texts": [f"half \ud83c of {key}", "a bird"], "n": None, "t": "late"})
            assert store.get(HERE, key).key == key
            assert store.search(HERE, query=f"half \ud83c of {key}", limit=1)[0].score > 0.999
        assert store.search(HERE, filter={"n": {"$gt": 1}}) == store.search(HERE, filter={"t": {"$lt": 1}}) == []


def test_no_query_returns_another_bidders_rows():
    """A canary in one bidder's memory is nowhere to be found in another's."""
    with ChromaStore(fields=["text"]) as store:
        names = [(bidder, n) for bidder in ("ann", "ben") for n in range(150)]
        store.batch([PutOp((one, "learnings"), str(n), {"text": f"{one}-canary {n}"}) for one, n in names])
        for query in (None, "ben-canary", "ann-canary"):
            for wanted in (None, {"text": {"$ne": ""}}):
                found = store.search(("ann",), query=query, filter=wanted, limit=1000)
                assert Counter(item.namespace[0] for item in found) == {"ann": 150}
        assert store.search(("an",)) == []


def test_closed_store_says_so_and_closes_again():
    with ChromaStore() as store:
        store.close()
    with pytest.raises(MemoryStoreError, match="is closed; open it again"):
        store.get(HERE, "a")


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
    assert not Path("elsewhere").exists()
    assert not Path("chroma").exists()
    if where == "memory":
        with closing(sqlite3.connect(tmp_path / "memory" / "chroma.sqlite3")) as database:
            assert database.execute("select count(*) from embeddings").fetchone() == (1,)


@pytest.mark.parametrize("content", ["CHROMA_SERVER_HTTP_PORT=none", "\0\udcff"])
def test_settings_that_chroma_could_not_read_cost_nothing(content, tmp_path):
    (tmp_path / ".env").write_bytes(content.encode("utf-8", "surrogateescape"))
    variables = os.environ | {"CHROMA_SERVER_HTTP_PORT": "none", "CHROMA_SERVER_NOFILE": "many"}
    words = "from harbor.memory._store.chroma import ChromaStore; ChromaStore('memory').close(); ChromaStore().close()"
    command = [sys.executable, "-P", "-c", words]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_memory_of_this_process_stands_beside_those_of_other_programs_in_it():
    theirs = chromadb.EphemeralClient()
    with ChromaStore() as ours:
        ours.put(HERE, "one", {"text": "a plan"})
    assert theirs.list_collections() == []
