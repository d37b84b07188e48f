"""The steps of a process: each act on its folder is counted, so that the lab can stop it right before any of them."""

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
"""The step before which this process kills itself (0: none)."""
kill_all = False
"""True if its workers die with it, as in a power cut."""
handles_at: tuple[int, int] = (0, 0)
"""The step before which files run out (0: never), and the number of files that can still be opened after it."""


def begin(folder: str) -> None:
    """Start counting the acts on a folder, by an audit hook for every act of the interpreter."""
    global _inside
    _inside = folder
    sys.addaudithook(_heard)


def count() -> int:
    """Return the number of steps so far."""
    return _count


def step() -> None:
    """Count a step, and run the fault planned for it."""
    global _count
    _count += 1
    if _count == kill_at:
        (os.killpg if kill_all else os.kill)(os.getpid(), signal.SIGKILL)
    if _count == handles_at[0]:
        few_handles(handles_at[1])


def few_handles(more: int) -> None:
    """Let this process open `more` more files, and no others."""
    opened = sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + more, hard))


def _heard(event: str, given: tuple[Any, ...]) -> None:
    if not _inside or (event not in ACTS and (event != "open" or not given[2] & WRITES)):
        return
    path = given[0]
    if isinstance(path, str | os.PathLike) and str(Path.cwd() / path).startswith(_inside):
        step()
