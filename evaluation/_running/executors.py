"""Executors run trials in this process, in several, or on the machines of a Ray cluster.

An executor is a context made from the number of places and, for Ray, the address of a cluster. If a worker dies,
another resumes its trial from the trial's folder.

A worker on Ray that sees the folder of the experiment works in it, like a process of this machine. Other workers use a
temporary folder, and return the files when the trial has ended or stopped. If one dies, the trial resumes from the
files that were returned before.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harbor._core.basics.errors import ConfigError, HarborError, RunFolderError
from harbor._core.basics.loops import run_kept
from harbor._core.faces import __version__
from harbor._core.files.layout import EVENTS
from harbor._core.files.safe_files import make_private, write_whole
from harbor._doors.processes import kill_agents
from harbor._models.governor.local import governor
from harbor._models.governor.remote import serving
from harbor._models.replies.cache import ReplyCache
from harbor.evaluation._running.experiment_folder import read_manifest, trial_path
from harbor.evaluation._running.work import MAX_ATTEMPTS, Executor, Task, TaskOutcome, run_task, worker_lost

CONNECT_SECONDS = 5.0
"""Timeout of the probe of a cluster's address, in seconds."""
LOOPBACK = "127.0.0.1"
Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class RayTask:
    """A task as it is sent: with the experiment's token, the version of Harbor, and the files of the trial."""

    task: Task
    token: str
    harbor: str
    files: Files


@asynccontextmanager
async def on_ray(places: int | None, address: str | None) -> AsyncIterator[Executor]:
    """Run trials on the cluster at an address, or on a temporary cluster of this machine's processors.

    Raises:
        ConfigError: Ray is not installed, or there is no such cluster.
    """
    ray = _imported()
    connected = ray.is_initialized()
    if not connected:
        _connect(ray, places, address)
    try:
        processors = ray.cluster_resources().get("CPU", 1.0)
        places = places or max(1, int(processors))
        remote = ray.remote(num_cpus=min(1.0, processors / places), max_retries=MAX_ATTEMPTS - 1)(_run)

        async def run(task: Task) -> TaskOutcome:
            sent = remote.remote(_ray_task(replace(task, governor=served)))
            try:
                outcome, files = await sent
            except asyncio.CancelledError:
                ray.cancel(sent, force=True)
                raise
            except ray.exceptions.RayTaskError as error:
                raise error.cause from error
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError):
                return worker_lost(task)
            except ray.exceptions.RayError as error:
                complaint = (str(error).splitlines() or [type(error).__name__])[0]
                raise HarborError(f"the Ray cluster failed ({complaint}); mend it, then resume") from error
            _unpack(files, trial_path(task.folder, task.trial))
            return outcome  # type: ignore[no-any-return]

        async with serving(governor(), ray.util.get_node_ip_address() if address or connected else LOOPBACK) as served:
            yield Executor(places, run)
    finally:
        if not connected:
            ray.shutdown()


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else Ray reports usage statistics to its makers
    try:
        import ray
    except ImportError as error:
        raise ConfigError("executor 'ray' needs ray; run: pip install 'harbor-auctions[ray]'") from error
    return ray


def _connect(ray: Any, places: int | None, address: str | None) -> None:
    if address is not None:
        _probe(address)
    wanted = {"address": address} if address else {"num_cpus": places, "include_dashboard": False}
    job = ray.job_config.JobConfig()
    job._py_driver_sys_path = _Places()
    ends = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**wanted, job_config=job, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        complaint = (str(error).splitlines() or [""])[0]
        raise ConfigError(
            f"no Ray cluster at {address or 'this machine'!r} ({complaint}); start one, or mend --address"
        ) from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, ends)  # Ray's own handler would end the process without a message


class _Places(list[str]):
    """Folders in which workers look for modules before Python's own, without the current folder."""

    def extend(self, places: Iterable[str]) -> None:
        """Add all but the current folder, in which workers look last, for the user's named code."""
        super().extend(place for place in places if Path(place) != Path.cwd())


def _probe(address: str) -> None:
    """Refuse an address without a listener: Ray itself would try for minutes and ignore Ctrl-C."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise ConfigError(f"no Ray cluster at {address!r} ({error}); start one, or mend --address") from error


def _ray_task(task: Task) -> RayTask:
    path = trial_path(task.folder, task.trial)
    return RayTask(task, read_manifest(task.folder)["token"], __version__, _pack(path) if path.exists() else {})


def _run(ray_task: RayTask) -> tuple[TaskOutcome, Files]:
    """Run a task on a worker; return the files of the trial if the worker does not see the folder of the experiment."""
    _settle_in_on_ray()
    if ray_task.harbor != __version__:
        raise RunFolderError(f"a worker has harbor {__version__}, not {ray_task.harbor}; install the same everywhere")
    if _seen(ray_task):
        return run_kept(run_task(ray_task.task)), {}
    with TemporaryDirectory(prefix="harbor-") as folder:
        elsewhere = replace(ray_task.task, folder=Path(folder), cache=_cache(ray_task.task.cache))
        path = trial_path(elsewhere.folder, elsewhere.trial)
        _unpack(ray_task.files, path)
        return run_kept(run_task(elsewhere)), _pack(path)


@cache
def _settle_in_on_ray() -> None:
    """Exclude the loaded modules of a worker from garbage collection, once."""
    gc.freeze()


def _seen(ray_task: RayTask) -> bool:
    """Say whether this machine has that very folder, and not another one of the same name."""
    try:
        return bool(read_manifest(ray_task.task.folder)["token"] == ray_task.token)
    except RunFolderError:
        return False


def _cache(cache: ReplyCache | None) -> ReplyCache | None:
    """Return the task's cache if this machine has its folder, else this machine's own."""
    if cache is None or cache.folder is None or cache.folder.is_dir():
        return cache
    return replace(cache, folder=None)


def _pack(path: Path) -> Files:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def _unpack(files: Files, path: Path) -> None:
    """Overwrite files; the log comes last, because a log without the files that it names could not be resumed."""
    for name in sorted(files, key=lambda name: Path(name).name == EVENTS):
        make_private((path / name).parent, exist_ok=True)
        write_whole(path / name, files[name], synced=True)


AT_ONCE = 10
"""Trials that one process runs concurrently by default, because they mostly wait for models."""
SAFE_PATH = "PYTHONSAFEPATH"
Opening = Callable[[int | None, str | None], AbstractAsyncContextManager[Executor]]


@asynccontextmanager
async def in_this_process(places: int | None, address: str | None) -> AsyncIterator[Executor]:  # noqa: ARG001 - all are opened alike
    """Run trials concurrently in the running event loop."""
    yield Executor(places or AT_ONCE, run_task)


@asynccontextmanager
async def in_processes(places: int | None, address: str | None) -> AsyncIterator[Executor]:  # noqa: ARG001 - all are opened alike
    """Run trials in processes, one at a time in each; by default as many as processors.

    The lifeline is a pipe that only this process can write to. When it is closed, or this process dies, all workers end
    with the agents that they started, so that none goes on paying for calls.
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
        # A process started here inherits the mask: Ctrl-C is for this process, which ends the workers.
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
    """Prepare a worker, which ends when the other end of its lifeline is closed, or by SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: _end())  # a signal to all processes of a job ends this one too
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
