"""Gathers what is asked of a store at the same moment, for one thread that does all of it together, in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakSet

from langgraph.store.base import Op, PutOp, Result

from harbor._core.basics.errors import MemoryStoreError
from harbor.memory._store.embedding import Vectors
from harbor.memory._store.records import Namespace

TOLD_AT_ONCE = 100
"""How many callers go on in one turn of a loop."""
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Job:
    """The operations of one caller, and who waits for their results, in an event loop or not.

    `puts` are the last ones by key, with their values as JSON; `vectors` belong to those that delete nothing, and
    `queries` to the searches by meaning at these places. `leans_on` are the namespaces of which it wrote or saw what is
    not saved yet; `error` is why it failed.
    """

    ops: Sequence[Op]
    waiter: Future[list[Result]] | asyncio.Future[list[Result]]
    loop: asyncio.AbstractEventLoop | None = None
    puts: dict[tuple[Namespace, str], tuple[PutOp, str]] = field(default_factory=dict)
    vectors: Sequence[Vectors] = ()
    queries: dict[int, Vectors] = field(default_factory=dict)
    results: list[Any] = field(default_factory=list)
    leans_on: set[Namespace] = field(default_factory=set)
    error: Exception | None = None

    def end(self) -> None:
        """Tell whoever waits, unless it waits no more."""
        if self.waiter.done():
            return
        if self.error is not None:
            self.waiter.set_exception(self.error)
        else:
            self.waiter.set_result(self.results)


def as_error(error: BaseException) -> Exception:
    """Return an error that anybody can be told; what ends a task, a loop or a program was not meant for theirs."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return MemoryStoreError(f"{type(error).__name__}: {error}")


def end(jobs: Iterable[Job]) -> None:
    """Tell all who wait, each in its event loop; nobody waits in one that is closed."""
    of_loops: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        if job.loop is None:
            job.end()
        else:
            of_loops.setdefault(job.loop, []).append(job)
    for loop, own in of_loops.items():
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_end_some, loop, own)


def _end_some(loop: asyncio.AbstractEventLoop, jobs: Sequence[Job]) -> None:
    """Tell some of those who wait, and the others later, so that they do not hold the loop together."""
    for job in jobs[:TOLD_AT_ONCE]:
        job.end()
    if rest := jobs[TOLD_AT_ONCE:]:
        loop.call_soon(_end_some, loop, rest)


class Callers:
    """One thread, as Chroma needs one writer; what is asked while it works, or in one tick of a loop, goes together.

    `do` does jobs, in order, and yields those that are done.
    """

    def __init__(self, place: str, do: Callable[[list[Job]], Iterable[list[Job]]]) -> None:
        self._place, self._do = place, do
        self._worker = ThreadPoolExecutor(1, "memory")
        self._pending: deque[Job] = deque()
        self._ticking: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        self._is_closed = False

    def run(self, work: Callable[[], T]) -> T:
        """Do something else in the thread, after what was asked before."""
        self._check_open()
        self._worker.submit(self._go_on)
        return self._worker.submit(work).result()

    def batch(self, ops: Sequence[Op]) -> list[Result]:
        """Do operations, and wait for their results."""
        self._check_open()
        waiter: Future[list[Result]] = Future()
        self._pending.append(Job(ops, waiter))
        self._worker.submit(self._go_on)
        return waiter.result()

    async def abatch(self, ops: Sequence[Op]) -> list[Result]:
        """Do operations with all others of this tick of the event loop; a caller that is cancelled leaves alone."""
        self._check_open()
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[list[Result]] = loop.create_future()
        self._pending.append(Job(ops, waiter, loop))
        if loop not in self._ticking:
            self._ticking.add(loop)
            loop.call_soon(self._tick, loop)
        return await waiter

    def close(self) -> None:
        """Finish pending work."""
        if not self._is_closed:
            self._is_closed = True
            self._worker.submit(self._go_on)
            self._worker.shutdown()

    def _check_open(self) -> None:
        if self._is_closed:
            raise MemoryStoreError(f"{self._place} is closed; open it again")

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ticking.discard(loop)
        if not self._is_closed:
            self._worker.submit(self._go_on)

    def _go_on(self) -> None:
        """Do all jobs that are pending."""
        jobs = [self._pending.popleft() for _ in range(len(self._pending))]
        left = {job: None for job in jobs if not job.waiter.cancelled()}
        try:
            for done in self._do([*left]) if left else ():
                end(done)
                for job in done:
                    del left[job]
        except BaseException as error:  # whatever it is, nobody may wait for ever
            for job in left:
                job.error = job.error or as_error(error)
        finally:
            end(left)
