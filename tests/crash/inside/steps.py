"""The steps of a process: each act on its folder, counted, so that it can be stopped right before any one of them."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

ACTS = {"os.rename", "os.mkdir", "os.remove", "os.truncate", "os.rmdir"}
WRITES = os.O_WRONLY | os.O_RDWR
_inside = ""
_count = 0
kill_at = 0
"""The step before which this process kills itself; 0: none."""
kill_all = False
"""Whether its workers die with it, as they do when the power is cut."""
handles_at: tuple[int, int] = (0, 0)
"""The step before which files run out, and how many more can be opened from then on; step 0: never."""


def begin(folder: str) -> None:
    """Count from now on what happens in a folder."""
    global _inside
    _inside = folder


def count() -> int:
    """Give the steps so far."""
    return _count


def step() -> None:
    """Count one; what is to happen at this one happens."""
    global _count
    _count += 1
    if _count == kill_at:
        (os.killpg if kill_all else os.kill)(os.getpid(), signal.SIGKILL)
    if _count == handles_at[0]:
        few_handles(handles_at[1])


def few_handles(more: int) -> None:
    """Let this process open so many more files, and no others."""
    opened = sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + more, hard))


def listen() -> None:
    """Hear of every act from the interpreter."""
    sys.addaudithook(_heard)


def _heard(event: str, given: tuple[Any, ...]) -> None:
    if not _inside:
        return
    if event == "open":
        path, _, flags = given
        if not flags & WRITES:
            return
    elif event in ACTS:
        path = given[0]
    else:
        return
    if isinstance(path, str | os.PathLike) and str(Path.cwd() / path).startswith(_inside):
        step()
