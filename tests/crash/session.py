"""One disturbed session of the command line in its own process.

The process is a fork of this one, which has already imported Harbor, because the imports of a new interpreter take
seconds. The workers of an experiment are new interpreters, as always.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random

import psutil

from crash.faults import Plan
from crash.inside import clock, journal, steps
from crash.inside.worker import ATTIC, JOURNAL
from crash.place import Lengths, Place

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LONGEST = 120.0
"""Seconds after which a session counts as hanging. The longest kind takes ten on a busy machine."""
MOMENT = 0.02
"""Least seconds that a process runs between two stops."""
NEEDED = """
chromadb harbor._cli.app harbor._cli.running.auctions harbor._cli.running.experiments harbor._runs.memories
harbor._runs.seating harbor.evaluation._analysis.findings harbor.evaluation._running.runner
"""
_nap = time.sleep
_now = clock.true_seconds


@dataclass(frozen=True)
class Ended:
    """The end of a session: its exit code (negative: a signal), its output, and its duration in seconds."""

    code: int
    out: str
    err: str
    seconds: float
    hung: bool = False


def prepare() -> None:
    """Import the modules that sessions need, and adopt their orphans, to wait for their end."""
    for name in NEEDED.split():
        import_module(name)
    from harbor._models.simulated.chat_model import SimulatedChat

    journal.watch(SimulatedChat)
    gc.freeze()  # the imported objects stay shared with the forks until a process writes to them
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def hold(
    place: Place, words: Sequence[str], plan: Plan, usual: Lengths | None, chance: Random, on_kill: Callable[[], None]
) -> Ended:
    """Run a command with the planned faults. `on_kill` is called when a worker has been killed."""
    sys.stdout.flush()
    sys.stderr.flush()
    out, err = place.folder / "out.txt", place.folder / "err.txt"
    began = _now()
    pid = os.fork()
    if pid == 0:
        _become(place, words, plan, usual, out, err)
    code, hung = _watched(pid, place, plan, usual, chance, began, on_kill)
    seconds = _now() - began
    hung = not _all_ended(pid) or hung
    texts = (path.read_text(errors="replace") for path in (out, err))
    return Ended(os.waitstatus_to_exitcode(code), *texts, seconds, hung)


def _become(place: Place, words: Sequence[str], plan: Plan, usual: Lengths | None, out: Path, err: Path) -> None:
    """Turn this process into the command line, until its end."""
    code = 70
    try:
        os.setsid()
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.closerange(3, 256)
        os.chdir(place.folder)
        path = (HERE / "site", HERE.parent, ROOT, *os.environ.get("PYTHONPATH", "").split(":"))
        os.environ |= {"PYTHONPATH": ":".join(map(str, path)), JOURNAL: str(place.journal), ATTIC: str(place.attic)}
        os.environ |= {f"HARBOR_{name}": str(place.folder.parent / name.lower()) for name in ("STATE", "CACHE")}
        journal.open_at(place.journal, place.attic)
        journal.install()
        _plan(place, plan, usual)
        code = _command(words)
        journal.tell_steps()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _plan(place: Place, plan: Plan, usual: Lengths | None) -> None:
    clock.jumps[:] = plan.jumps
    steps.begin(str(place.disk))
    if usual and plan.moment == "step":
        steps.kill_at, steps.kill_all = 1 + int(plan.share * usual.steps), plan.victim == "all"
    if usual and plan.handles:
        share, more = plan.handles
        steps.handles_at = (1 + int(share * usual.steps), more)


def _command(words: Sequence[str]) -> int:
    from harbor._cli.app import main

    sys.argv = ["harbor", *words]
    try:
        main()
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


def _watched(
    pid: int, place: Place, plan: Plan, usual: Lengths | None, chance: Random, began: float, on_kill: Callable[[], None]
) -> tuple[int, bool]:
    """Wait for the end of a process, and kill the victim at its moment. Return the code, and True if it hangs."""
    at_first, killed, stops, stopped = place.written(), False, [*plan.stops], 0.0
    while True:
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            return code, False
        if _now() - began > LONGEST:
            os.killpg(pid, signal.SIGKILL)
            return os.waitpid(pid, 0)[1], True
        if usual and stops and _now() - began - stopped >= stops[0][0] * usual.seconds:
            stopped += _stop(pid, stops.pop(0)[1])
        if usual and not killed and _is_there(plan, usual, place, at_first, _now() - began):
            killed = _kill(pid, plan, chance)
            if killed and plan.victim == "worker":
                on_kill()
        _nap(0.002)


def _stop(pid: int, seconds: float) -> float:
    """Stop a process for a while, then let it run for a moment. Return the seconds of the stop."""
    os.kill(pid, signal.SIGSTOP)
    _nap(seconds)
    os.kill(pid, signal.SIGCONT)
    _nap(MOMENT)
    return seconds


def _is_there(plan: Plan, usual: Lengths, place: Place, at_first: int, seconds: float) -> bool:
    if plan.moment == "time":
        return seconds >= plan.share * usual.seconds
    if plan.moment == "bytes":
        return place.written() >= at_first + plan.share * max(0, usual.written - at_first)
    return False


def _kill(pid: int, plan: Plan, chance: Random) -> bool:
    if plan.victim == "all":
        os.killpg(pid, signal.SIGKILL)
    elif plan.victim == "process":
        os.kill(pid, signal.SIGKILL)
    else:
        workers = _workers(pid)
        if not workers:  # no worker has started yet, or all have ended
            return False
        worker = chance.choice(workers)
        worker.kill()
        with suppress(psutil.TimeoutExpired):
            worker.wait(5)
    return True


def _workers(driver: int) -> list[psutil.Process]:
    found = []
    for one in psutil.Process(driver).children():
        with suppress(psutil.Error):  # the process has ended meanwhile
            found += [one] if "spawn_main" in " ".join(one.cmdline()) else []
    return sorted(found, key=lambda one: one.pid)


def _all_ended(group: int) -> bool:
    """Wait until all processes of a session have ended. Workers end by themselves when their driver does."""
    until = _now() + 30
    with suppress(ChildProcessError):
        while _now() < until:
            if os.waitpid(-group, os.WNOHANG)[0] == 0:
                _nap(0.002)
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        while True:
            os.waitpid(-group, 0)
            return False
    return True
