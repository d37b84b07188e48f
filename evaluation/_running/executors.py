"""Where games are held: in this process, in several, or on the machines of a Ray cluster.

An executor is a context that is told how many places are wanted, and the address of a cluster if there is one. A game
whose worker dies is gone on with by another, from what its folder holds.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection

from harbor.evaluation._running.ray_cluster import on_ray
from harbor.evaluation._running.work import MAX_ATTEMPTS, Executor, Task, TaskOutcome, run_task, worker_lost

AT_ONCE = 10
"""Games that one process holds side by side by default: most of the time they wait for models."""
Opening = Callable[[int | None, str | None], AbstractAsyncContextManager[Executor]]


@asynccontextmanager
async def in_this_process(places: int | None, address: str | None) -> AsyncIterator[Executor]:  # noqa: ARG001 - all are opened alike
    """Hold games side by side in the event loop that runs."""
    yield Executor(places or AT_ONCE, run_task)


@asynccontextmanager
async def in_processes(places: int | None, address: str | None) -> AsyncIterator[Executor]:  # noqa: ARG001 - all are opened alike
    """Hold games in processes, each one at a time; by default there are as many as processors.

    The lifeline is a pipe that this process alone can write to: when it is closed, or this process dies, all end.
    """
    places = places or len(os.sched_getaffinity(0))
    reader, lifeline = get_context("spawn").Pipe(duplex=False)
    workers = [_Worker(reader) for _ in range(places)]
    free = asyncio.Queue[_Worker]()
    for worker in workers:
        free.put_nowait(worker)

    async def run(task: Task) -> TaskOutcome:
        worker = await free.get()
        try:
            return await worker.run(task)
        finally:
            free.put_nowait(worker)

    try:
        yield Executor(places, run)
    finally:
        lifeline.close()
        for worker in workers:
            worker.close()


class _Worker:
    """A place for games: a process, and another one when that dies. A pool for each, so that no death breaks two."""

    def __init__(self, lifeline: Connection) -> None:
        self._lifeline = lifeline
        self._pool = self._open()

    def _open(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, get_context("spawn"), _settle_in, (self._lifeline,))

    async def run(self, task: Task) -> TaskOutcome:
        for _ in range(MAX_ATTEMPTS):
            try:
                return await asyncio.wrap_future(self._submit(task))
            except BrokenProcessPool:
                self.close()
                self._pool = self._open()
        return worker_lost(task)

    def _submit(self, task: Task) -> Future[TaskOutcome]:
        with _deaf_to_ctrl_c():  # a process that is started here stays so: it is this one that is interrupted
            return self._pool.submit(_do, task)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle_in(lifeline: Connection) -> None:
    """Make a worker ready: it ends when nobody holds the other end of its lifeline any more."""
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    warnings.simplefilter("ignore")  # what they say of the settings was said before the first game
    gc.freeze()


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv()
    except EOFError:
        os._exit(1)


def _do(task: Task) -> TaskOutcome:
    return asyncio.run(run_task(task))


EXECUTORS: dict[str, Opening] = {"asyncio": in_this_process, "processes": in_processes, "ray": on_ray}
