"""The state of a folder after a power cut.

Unsynced data is gone or zeroed: in each file, the bytes after its last synced size; in each folder, the names since
its last sync. A file that replaced another may revert to the old one. Each of these is drawn independently, which is
harsher than most file systems are. Bytes that were overwritten in place are not restored. Files of SQLite and Chroma
under `memory/` stay as they are, because these libraries sync without Python, so the lab can't know their state.
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
    """The folder `root` as on disk, from the journal of its writers. `attic` has the replaced files."""

    def __init__(self, root: Path, journal: Path, attic: Path) -> None:
        self._root, self._journal, self._attic = root, journal, attic
        self._read = 0
        self._sizes: dict[int, int] = {}
        self._names: dict[int, dict[str, int]] = {}
        attic.mkdir()
        self._all_is_synced()

    def cut(self, chance: Random) -> None:
        """Remove unsynced data from the folder."""
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
        """Remove a file's unsynced bytes or their last part, or replace them with zeros."""
        size = path.stat().st_size
        synced = min(size, self._sizes.get(path.stat().st_ino, 0))
        if synced == size:
            return
        how, left = chance.choice(("gone", "cut", "zeroed")), chance.randint(synced, size - 1)
        os.truncate(path, synced if how == "gone" else left)
        if how == "zeroed":
            os.truncate(path, size)

    def _all_is_synced(self) -> None:
        """Mark all data after a cut as synced."""
        for folder in (self._root, *(path for path in self._root.rglob("*") if path.is_dir())):
            self._names[folder.stat().st_ino] = {path.name: path.stat().st_ino for path in folder.iterdir()}
        for path in self._root.rglob("*"):
            if path.is_file():
                self._sizes[path.stat().st_ino] = path.stat().st_size
