"""`ChromaStore`, a complete LangGraph long-term store on Chroma; export and import of memories as JSON lines."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from langgraph.store.base import BaseStore, InvalidNamespaceError, Op, Result, TTLConfig
from pydantic import AwareDatetime, Field

from harbor._core.basics.errors import HarborError, MemoryStoreError
from harbor._core.settings import Settings, check
from harbor.memory._store.backend import open_collections, plain_errors
from harbor.memory._store.callers import Callers, Job
from harbor.memory._store.collection import CollectionStore, Shelf
from harbor.memory._store.embedding import Embed, Embedding, as_embedding, load_hashing
from harbor.memory._store.operations import Together
from harbor.memory._store.place import DATABASE, NoMemoryError, inside, is_url, place_of
from harbor.memory._store.records import Index, Namespace, Record, are_paths, check_op

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

PUTS_AT_ONCE = 1000  # Chroma accepts about 5,000 rows per call
PUTS_BESIDE_A_LOOP = 20
"""Memories per call beside an event loop. Chroma holds the interpreter's lock for about 13 ms (5 ms for one memory)."""
T = TypeVar("T")


class ChromaStore(BaseStore):
    """A LangGraph long-term store that keeps its memories in the vector database Chroma.

    `where` is the place of the memories: None (in this process, isolated from every other store), a folder, which only
    one process can write at a time, or the address of a Chroma server (`http://localhost:8000`). `embedding` decides
    how texts are compared: a name, a LangChain `Embeddings` object, a function of texts or an `Embedding` (None: the
    embedding with which the memories in the place were stored). If that stored embedding is a model and only a file in
    the folder names it, `trusted` has to name it too, or the store is not opened. A folder from somebody else is opened
    only if `trust` is true; the folder is then marked as yours. `fields` are the paths in a value whose texts can be
    found by meaning; `$` is the whole value. `ttl` is LangGraph's setting for the time that memories are kept. `clock`
    returns the present time in seconds since 1970.

    Each namespace is a Chroma collection of its own, so a search can't reach memories of another namespace. As in
    LangGraph's own stores, all reads of a batch see the state before the batch, and of several puts to one key the last
    one counts. Simultaneous calls are merged, with the same result as if they came one after the other. A search by
    meaning finds only memories that are indexed. Close the store after use, or use it as a context manager.

    >>> with ChromaStore() as store:
    ...     store.put(("facts",), "car", {"text": "red"})
    ...     store.get(("facts",), "car").value
    {'text': 'red'}

    Raises: MemoryStoreError, in one line that names the place, the value and the remedy.
    """

    supports_ttl = True

    def __init__(
        self,
        where: str | Path | None = None,
        *,
        embedding: Embedding | Embeddings | Embed | str | None = "hashing",
        trusted: str | None = None,
        trust: bool = False,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not are_paths(fields):
            raise MemoryStoreError(f"fields is {fields!r}; give a list of paths, such as [{fields!r}]")
        self.place = place_of(where)
        self.ttl_config = ttl
        self._clock = clock
        self._swept = clock()
        wanted = None if embedding is None else as_embedding(embedding)
        if embedding == "hashing":
            load_hashing()  # loading takes a second, which would block an event loop later; readers do not need it
        self._collections, self.embedding = open_collections(where, wanted, trusted, trust)
        self._index = Index(self.embedding, tuple(fields))
        self._shelf = Shelf()
        self._callers = Callers(self.place, self._do)
        with ExitStack() as stack:
            stack.push(self._collections.closing)  # closed only if the repair fails
            self._run(self._repair)
            stack.pop_all()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations as one batch, and return their results in the order of the operations."""
        return self._callers.batch(list(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations as one batch without blocking the event loop, and return their results in order.

        Operations that are requested in the same iteration of the event loop go to Chroma together.
        """
        return await self._callers.abatch(list(ops))

    def sweep_ttl(self) -> int:
        """Delete expired memories and return their number.

        The setting `ttl` can have an interval after which the store itself deletes expired memories.
        """
        return self._run(self._sweep)

    def records(self, prefix: Namespace = ()) -> list[Record]:
        """Return all memories whose namespace begins with `prefix`, except for expired ones.

        Each record also has the times of its memory, and the paths in the value whose texts can be found by meaning.
        """
        return self._run(partial(self._records, prefix))

    def restore(self, records: Iterable[Record]) -> None:
        """Store memories that `records` returned, such as those of another store; they keep their times.

        The store computes the embeddings of their texts anew, with its own embedding.
        """
        self._run(partial(self._restore, list(records)))

    def close(self) -> None:
        """Finish the work that is pending, and release files, connections and the folder; closing twice is no error."""
        self._callers.close()
        with plain_errors(self.place):
            self._collections.closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def _run(self, work: Callable[[], T]) -> T:
        with plain_errors(self.place):
            return self._callers.run(work)

    def _do(self, jobs: Sequence[Job]) -> Iterator[list[Job]]:
        with plain_errors(self.place):
            self._sweep_if_due()
        at_once = PUTS_AT_ONCE if all(job.loop is None for job in jobs) else PUTS_BESIDE_A_LOOP
        yield from Together(self.place, self._collections, self._index, self._clock, self._shelf, at_once).do(jobs)

    def _records(self, prefix: Namespace) -> list[Record]:
        now = self._clock()
        if self._collections.shared:
            self._collections.look_again()
        return [one for each in self._collections.under(prefix) for one in each.all() if one.alive(now)]

    def _restore(self, records: Sequence[Record]) -> None:
        grouped: dict[Namespace, list[Record]] = defaultdict(list)
        for record in records:
            check_op(record.put())
            grouped[record.namespace].append(record)
        for namespace, group in grouped.items():
            self._rebuild(self._collections.made(namespace), group)

    def _repair(self) -> None:
        """Rebuild each index that a killed process left torn."""
        for collection in self._collections.torn(self.embedding.dimension):
            self._rebuild(collection, list(collection.all()))

    def _rebuild(self, collection: CollectionStore, records: Sequence[Record]) -> None:
        for start in range(0, len(records), PUTS_AT_ONCE):
            some = records[start : start + PUTS_AT_ONCE]
            vectors = self._index.vectors([one.put() for one in some])
            collection.put([(replace(one, vectors=len(own)), own) for one, own in zip(some, vectors, strict=True)])

    def _sweep(self) -> int:
        self._swept = self._clock()
        return sum(collection.sweep(self._swept) for collection in self._collections.under())

    def _sweep_if_due(self) -> None:
        minutes = (self.ttl_config or {}).get("sweep_interval_minutes")
        if minutes is not None and self._clock() >= self._swept + 60 * minutes:
            self._sweep()


class Line(Settings):
    """One memory: times in UTC, `indexed` the embedded paths in its value, `ttl` in minutes."""

    namespace: tuple[str, ...] = Field(min_length=1)
    key: str = Field(min_length=1)
    value: dict[str, Any]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    indexed: tuple[str, ...] = ()
    ttl: float | None = Field(None, gt=0, allow_inf_nan=False)
    expires_at: AwareDatetime | None = None


def exists(where: str, trusted: str | None) -> bool:
    """Return whether there is a memory in a folder, in the folder of a run, or on a server."""
    if not is_url(where):
        return Path(inside(where), DATABASE).is_file()
    try:
        ChromaStore(where, embedding=None, trusted=trusted).close()
    except NoMemoryError:
        return False
    return True


def open_existing(where: str, trusted: str | None = None, trust: bool = False) -> ChromaStore:
    """Open an existing memory with its own embedding: a folder, the folder of a run that remembers, or a server.

    Raises:
        MemoryStoreError: there is no memory, its folder is not the user's own and `trust` is false, or its embedding
            is a model and not the `trusted` one.
    """
    return ChromaStore(inside(where), embedding=None, trusted=trusted, trust=trust)


def to_line(record: Record) -> str:
    """Return a memory as a line of JSON."""
    return json.dumps(
        {
            "namespace": record.namespace,
            "key": record.key,
            "value": record.content(),
            "created_at": _written(record.created),
            "updated_at": _written(record.updated),
            "indexed": record.paths,
            "ttl": None if record.ttl_minutes is None else float(record.ttl_minutes),
            "expires_at": None if record.expires is None else _written(record.expires),
        }
    )


def read_lines(lines: Iterable[str], source: str) -> Iterator[Record]:
    """Yield the memories from lines of JSON. `source` names the lines in messages.

    Raises:
        MemoryStoreError: a line is not a memory; the message names the line.
    """
    for number, text in enumerate(lines, start=1):
        place = f"{source} line {number}"
        try:
            line = check(Line, json.loads(text), place)
            yield _record(line)
        except HarborError as error:
            raise MemoryStoreError(str(error)) from error
        except InvalidNamespaceError as error:
            raise MemoryStoreError(f"{place}: {error}") from error
        except (ValueError, RecursionError) as error:
            raise MemoryStoreError(
                f"{place} is not a memory ({error}); give what `harbor memory export` wrote"
            ) from error


def _record(line: Line) -> Record:
    record = Record(
        line.namespace,
        line.key,
        json.dumps(line.value, allow_nan=False),
        line.created_at.timestamp(),
        line.updated_at.timestamp(),
        ttl_minutes=line.ttl,
        expires=None if line.expires_at is None else line.expires_at.timestamp(),
        paths=line.indexed,
    )
    check_op(record.put())
    return record


def _written(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
