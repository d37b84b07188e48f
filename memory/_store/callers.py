"""Gathers simultaneous operations on a store for one thread, which does them together and in order."""

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
"""The greatest number of callers that continue in one turn of an event loop, so that they do not block the loop."""
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Job:
    """The operations of one caller, and the future for their results, with its event loop if it has one.

    `puts` has the last put per key, with its value as JSON. `vectors` belong to the puts that delete nothing, and
    `queries` to the searches by meaning, by place in `ops`. `leans_on` are the namespaces in which the job wrote or
    saw unsaved changes. `error` is the reason for a failure.
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
        """Set the result or the error of the future, unless the caller stopped waiting."""
        if self.waiter.done():
            return
        if self.error is not None:
            self.waiter.set_exception(self.error)
        else:
            self.waiter.set_result(self.results)


def as_error(error: BaseException) -> Exception:
    """Return an error for any caller. Errors that end a task, a loop or a program become a `MemoryStoreError`."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return MemoryStoreError(f"{type(error).__name__}: {error}")


def end(jobs: Iterable[Job]) -> None:
    """Answer the callers, each in its event loop. A closed loop is skipped."""
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
    """Answer some of the callers now and the others later, so that all together do not block the loop."""
    for job in jobs[:TOLD_AT_ONCE]:
        job.end()
    if rest := jobs[TOLD_AT_ONCE:]:
        loop.call_soon(_end_some, loop, rest)


class Callers:
    """Runs all calls in one thread, as Chroma needs one writer.

    Calls that come meanwhile, or in one tick of a loop, are done together. `do` does jobs in order and yields the
    finished ones.
    """

    def __init__(self, place: str, do: Callable[[list[Job]], Iterable[list[Job]]]) -> None:
        self._place, self._do = place, do
        self._worker = ThreadPoolExecutor(1, "memory")
        self._pending: deque[Job] = deque()
        self._ticking: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        self._is_closed = False

    def run(self, work: Callable[[], T]) -> T:
        """Do other work in the thread, after the earlier calls. Return its result."""
        self._check_open()
        self._worker.submit(self._go_on)
        return self._worker.submit(work).result()

    def batch(self, ops: Sequence[Op]) -> list[Result]:
        """Do operations, wait, and return their results."""
        self._check_open()
        waiter: Future[list[Result]] = Future()
        self._pending.append(Job(ops, waiter))
        self._worker.submit(self._go_on)
        return waiter.result()

    async def abatch(self, ops: Sequence[Op]) -> list[Result]:
        """Do operations together with all others in this tick of the event loop. A cancelled call affects no other."""
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
        """Do all pending jobs."""
        jobs = [self._pending.popleft() for _ in range(len(self._pending))]
        left = {job: None for job in jobs if not job.waiter.cancelled()}
        try:
            for done in self._do([*left]) if left else ():
                end(done)
                for job in done:
                    del left[job]
        except BaseException as error:  # after any error at all, no caller may wait for ever
            for job in left:
                job.error = job.error or as_error(error)
        finally:
            end(left)
