"""The notes of a process for the lab, in a file outside its folder: its syncs and its model requests.

Each note is a line of JSON, written at once by one `write`, so that it survives the end of the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crash.inside import steps

_journal: int | None = None
_attic: Path | None = None


def open_at(journal: Path, attic: Path) -> None:
    """Open the journal. `attic` keeps replaced files, as the disk does until their folder is synced."""
    global _journal, _attic
    _journal, _attic = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), attic


def prompt_id(words: Sequence[str]) -> str:
    """Return a short ID of a prompt."""
    return hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()[:24]


def _note(**what: Any) -> None:
    if _journal is not None:
        os.write(_journal, json.dumps(what).encode() + b"\n")


def install() -> None:
    """Start noting syncs, renames and removals. A note says that the kernel has got the request."""
    fsync, replace, rename = os.fsync, os.replace, os.rename

    def synced(fd: Any) -> None:
        steps.step()
        number = fd if isinstance(fd, int) else fd.fileno()
        about = os.fstat(number)  # before the sync, as bytes that another thread appends meanwhile may not be synced
        names = _names(number) if stat.S_ISDIR(about.st_mode) else None
        fsync(fd)
        if names is None:
            _note(file=about.st_ino, size=about.st_size)
        else:
            _note(folder=about.st_ino, names=names)

    def replacing(how: Any) -> Any:
        def replaced(source: Any, target: Any, **at: Any) -> None:
            if _attic is not None and not at:
                with contextlib.suppress(OSError):
                    os.link(target, _attic / str(Path(target).stat().st_ino))
            how(source, target, **at)

        return replaced

    os.fsync = os.fdatasync = synced
    os.replace, os.rename = replacing(replace), replacing(rename)
    sys.addaudithook(_gone)


def _names(folder: int) -> dict[str, int]:
    names = {}
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            names[name] = os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
    return names


def _gone(event: str, given: tuple[Any, ...]) -> None:
    """Note that a file is removed, as another file may get its inode number."""
    if event == "os.remove" and _journal is not None:
        path, folder = given
        with contextlib.suppress(OSError):
            about = os.stat(path, dir_fd=folder if folder >= 0 else None, follow_symlinks=False)
            if about.st_nlink == 1:
                _note(gone=about.st_ino)


def watch(model: Any) -> None:
    """Note each request to the built-in model before its answer."""
    answer = model._answer

    def noted(self: Any, messages: Sequence[Any], tools: list[Any]) -> Any:
        _note(asked=prompt_id([str(message.content) for message in messages]))
        return answer(self, messages, tools)

    model._answer = noted


def tell_steps() -> None:
    """Note the number of steps of this process so far."""
    _note(steps=steps.count())
