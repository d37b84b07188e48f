"""Which files of a folder go into a private pack: those that Harbor reads again, with memories as JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from harbor._core.errors import MemoryStoreError, RunFolderError
from harbor._packs.contents import PACK
from harbor._packs.names import is_packed

LOCKS, MARK, DRAFT = (".lock", "harbor.lock", "harbor.open"), "mark", ".draft"
DATABASE = "chroma.sqlite3"


def files_of(folder: Path, exports: Path, embedding: str | None) -> tuple[dict[str, Path], list[str]]:
    """Give the files of a private pack by their names in it, and the names of those that are left out of it.

    Each memory is written to `exports` as JSON lines, beside where it was: ``memory.jsonl``. `embedding` is the model
    that the user trusts, if a memory has one.

    Raises:
        RunFolderError: a process is running in it, or it has a link or a device.
        MemoryStoreError: a memory can't be opened.
    """
    found: dict[str, Path] = {}
    left_out: list[str] = []
    memories: list[Path] = []
    for path in _walked(folder, memories):
        if path.name in LOCKS:
            _check_idle(path)
        elif is_packed(name := path.relative_to(folder).as_posix()):
            found[name] = path
        elif path.name not in (MARK, PACK) and path.suffix != DRAFT:
            left_out.append(name)
    for number, memory in enumerate(memories):
        place = memory.relative_to(folder).as_posix()
        if is_packed(name := f"{place}.jsonl"):
            found[name] = exports / f"{number}.jsonl"
            _export(memory, found[name], embedding)
        else:
            left_out.append(place)
    return found, left_out


def _walked(folder: Path, memories: list[Path]) -> Iterator[Path]:
    """Give the files at any depth, in order; memories are put in the list instead."""
    for place, inner, names in os.walk(folder):
        here = Path(place)
        if DATABASE in names and here != folder:
            memories.append(here)
            inner.clear()
            continue
        inner.sort()
        for path in (here / name for name in sorted([*names, *inner])):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise RunFolderError(f"{str(path)!r} is a link or a device; put a copy in its place, or remove it")
        yield from (here / name for name in sorted(names))


def _check_idle(lock: Path) -> None:
    try:
        with FileLock(lock, timeout=0):
            pass
    except Timeout as error:
        raise RunFolderError(f"{str(lock.parent)!r} is being run by another process; wait until it ends") from error


def _export(memory: Path, lines: Path, embedding: str | None) -> None:
    from harbor.memory._store.transfer import open_existing, to_line

    try:
        with open_existing(str(memory), embedding) as store:
            records = sorted(store.records(), key=lambda record: (record.namespace, record.created, record.key))
    except MemoryStoreError as error:
        raise MemoryStoreError(f"{error}; a pack has memories as JSON lines, so it must be opened") from error
    with lines.open("w", encoding="utf-8") as file:
        file.writelines(to_line(record) + "\n" for record in records)
