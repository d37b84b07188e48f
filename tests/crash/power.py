"""What a power cut leaves of a folder.

What was not synced is gone or zeroed: of each file, what follows the size that it was last synced at; of each folder,
the names that it did not have when it was last synced; and a file that was put in the place of another may be that
other one again. Each of these is drawn by itself, which is harsher than most file systems are. A file's bytes that were
overwritten in place are not brought back. What SQLite and Chroma write under `memory/` is left as it is: they sync
without Python, so nothing here knows what they have synced.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

UNKNOWN = "memory"


class Disk:
    """The folder `root` as it is on a disk, by the journal of those who write to it; `attic` has what was replaced."""

    def __init__(self, root: Path, journal: Path, attic: Path) -> None:
        self._root, self._journal, self._attic = root, journal, attic
        self._read = 0
        self._sizes: dict[int, int] = {}
        self._names: dict[int, dict[str, int]] = {}
        attic.mkdir()
        self._all_is_synced()

    def cut(self, chance: Random) -> None:
        """Take from the folder what was not synced."""
        for noted in self._noted():
            if "folder" in noted:
                self._names[noted["folder"]] = noted["names"]
            elif "file" in noted:
                self._sizes[noted["file"]] = noted["size"]
            elif "gone" in noted:
                self._sizes.pop(noted["gone"], None)
                self._names.pop(noted["gone"], None)
        self._forget(self._root, chance)
        self._all_is_synced()

    def _noted(self) -> Iterator[dict[str, Any]]:
        if self._journal.exists():
            lines = self._journal.read_bytes().splitlines()
            yield from map(json.loads, lines[self._read :])
            self._read = len(lines)

    def _forget(self, folder: Path, chance: Random) -> None:
        known = self._names.get(folder.stat().st_ino, {})
        for path in sorted(folder.iterdir()):
            was = known.get(path.name)
            if was != path.stat().st_ino and chance.random() < 0.5:
                self._as_it_was(path, was)
        for path in sorted(folder.iterdir()):
            if path.is_file():
                self._shorten(path, chance)
            elif path.name != UNKNOWN:
                self._forget(path, chance)

    def _as_it_was(self, path: Path, was: int | None) -> None:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        if was is not None and (self._attic / str(was)).exists():
            os.link(self._attic / str(was), path)

    def _shorten(self, path: Path, chance: Random) -> None:
        """Take what was not synced of a file: all of it, or the last part, or put zeros in its place."""
        size = path.stat().st_size
        synced = min(size, self._sizes.get(path.stat().st_ino, 0))
        if synced == size:
            return
        how, left = chance.choice(("gone", "cut", "zeroed")), chance.randint(synced, size - 1)
        os.truncate(path, synced if how == "gone" else left)
        if how == "zeroed":
            os.truncate(path, size)

    def _all_is_synced(self) -> None:
        """Whatever there is after a cut is on disk."""
        for folder in (self._root, *(path for path in self._root.rglob("*") if path.is_dir())):
            self._names[folder.stat().st_ino] = {path.name: path.stat().st_ino for path in folder.iterdir()}
        for path in self._root.rglob("*"):
            if path.is_file():
                self._sizes[path.stat().st_ino] = path.stat().st_size
