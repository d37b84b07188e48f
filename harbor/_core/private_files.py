"""Folders and files that only their owner can read, from the moment they are made, whatever the umask.

Budgets, thoughts, prompts and replies stand in them. A report has the usual mode: the folder that it is made in keeps
it private there, and who copies it out wants it to be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from harbor._core.syncing import sync_files, sync_folder

FILE, FOLDER = 0o600, 0o700


def make_private(path: Path, exist_ok: bool = False) -> None:
    """Make a private folder; a missing parent, such as ``runs``, is as open as the folder that it is made in.

    Raises:
        FileExistsError: it is there, unless that is `exist_ok`.
        OSError: it can't be made.
    """
    _make_parents(path.parent)
    path.mkdir(FOLDER, exist_ok=exist_ok)


def _make_parents(path: Path) -> None:
    if not path.exists():
        _make_parents(path.parent)
        path.mkdir(path.parent.stat().st_mode & 0o777, exist_ok=True)


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file to write bytes in it; one that is made is private. `mode` is ``"xb"``, ``"ab"`` or ``"r+b"``.

    Raises:
        OSError: it can't be opened, or it is a link, which may lead out of a folder that somebody sent.
    """
    return open(path, mode, opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, FILE)


def write_whole(path: Path, content: bytes, private: bool = True, synced: bool = False) -> None:
    """Replace a file atomically: a crash leaves the old one or the new one.

    A report need not be `private`. What can't be made again for nothing is `synced`, and survives a power cut.
    """
    draft = path.with_name(f".{path.name[:50]}.{token_hex(8)}.draft")  # of nobody else, whatever is beside it
    try:
        with open_private(draft, "xb") if private else draft.open("xb") as file:
            file.write(content)
        if synced:
            sync_files(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    if synced:
        sync_folder(path.parent)


@contextmanager
def new_folder(path: Path, synced: bool = True) -> Iterator[Path]:
    """Make a private folder that is there with everything in it, or not at all, whenever program or power ends.

    Yields:
        a draft beside it, to write the files in, which gets its name in the end. One that a sudden end has left is used
        again.

    Raises:
        FileExistsError: there is something at the path.
        OSError: it can't be made.
    """
    if os.path.lexists(path):
        raise FileExistsError(path)
    made = [path, *(parent for parent in path.parents if not parent.exists())]
    draft = path.with_name(f".{path.name[:200]}.draft")
    make_private(draft, exist_ok=True)
    yield draft
    if synced:
        sync_files(*draft.iterdir())
    draft.rename(path)
    if synced:
        for one in made:
            sync_folder(one.parent)
