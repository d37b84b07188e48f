"""Where trials run: in this process, in several, or on the machines of a Ray cluster.

An executor is a context made from the number of places and, for Ray, the address of a cluster. If a worker dies,
another resumes its trial from the trial's folder.
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
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection

from harbor._core.loops import run_kept
from harbor._doors.processes import kill_agents
from harbor._models.governor.local import governor
from harbor._models.governor.remote import serving
from harbor.evaluation._running.ray_cluster import on_ray
from harbor.evaluation._running.work import MAX_ATTEMPTS, Executor, Task, TaskOutcome, run_task, worker_lost

AT_ONCE = 10
"""Trials that one process runs concurrently by default: most of the time they wait for models."""
SAFE_PATH = "PYTHONSAFEPATH"
Opening = Callable[[int | None, str | None], AbstractAsyncContextManager[Executor]]


@asynccontextmanager
async def in_this_process(places: int | None, address: str | None) -> AsyncIterator[Executor]:  # noqa: ARG001 - all are opened alike
    """Run trials concurrently in the running event loop."""
    yield Executor(places or AT_ONCE, run_task)


@asynccontextmanager
async def in_processes(places: int | None, address: str | None) -> AsyncIterator[Executor]:  # noqa: ARG001 - all are opened alike
    """Run trials in processes, one at a time in each; by default there are as many as processors.

    The lifeline is a pipe that only this process can write to. When it is closed, or this process dies, all workers
    end, and the agents that they started, so that none is left behind that goes on paying for calls.
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
            return await worker.run(replace(task, governor=served))
        finally:
            free.put_nowait(worker)

    try:
        async with serving(governor()) as served:
            yield Executor(places, run)
    finally:
        lifeline.close()
        for worker in workers:
            worker.close()


class _Worker:
    """A place for trials: a process, replaced when it dies. Each has its own pool, as a death breaks a whole pool."""

    def __init__(self, lifeline: Connection) -> None:
        self._lifeline = lifeline
        self._pool = self._open()

    def _open(self) -> ProcessPoolExecutor:
        with _without_code_from_here():
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
        # A process started here inherits that: Ctrl-C is for this process, which ends the workers.
        with _deaf_to_ctrl_c(), _without_code_from_here():
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


@contextmanager
def _without_code_from_here() -> Iterator[None]:
    """Start processes that take no module, such as a `multiprocessing.py`, from the current folder."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


def _settle_in(lifeline: Connection) -> None:
    """Prepare a worker: it ends when the other end of its lifeline is closed, or when it is told to."""
    signal.signal(signal.SIGTERM, lambda *_: _end())  # whoever ends all processes of a job ends this one too
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    warnings.simplefilter("ignore")  # warnings about settings were shown before the first trial
    gc.freeze()  # collecting what was imported would take longer than a short trial


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv()
    except EOFError:
        _end()


def _end() -> None:
    kill_agents()
    os._exit(1)


def _do(task: Task) -> TaskOutcome:
    return run_kept(run_task(task))


EXECUTORS: dict[str, Opening] = {"asyncio": in_this_process, "processes": in_processes, "ray": on_ray}
