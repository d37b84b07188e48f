"""What survives a power cut: files that are synced, in folders that are synced, in an order that is kept.

Flushing hands bytes to the operating system, which outlives a process that is killed. Only syncing hands them to the
disk. It takes milliseconds, so it is done for what can't be had again for nothing: a paid reply, somebody's words.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO


class SyncedFile:
    """A file that lines are appended to; each is flushed at once, and synced when it is asked for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._written = self._synced = 0
        self._error: OSError | None = None
        self._one_at_a_time = Lock()
        self._syncing = ThreadPoolExecutor(1, "sync")  # its thread starts with the first call

    def append(self, line: bytes) -> None:
        """Append a line and flush it.

        Raises:
            OSError: it can't be written.
        """
        self._file.write(line)
        self._file.flush()
        self._written += 1

    def sync(self) -> None:
        """Wait until all lines are on the disk.

        Raises:
            OSError: they can't be; also later, as the operating system tells it only once.
        """
        with self._one_at_a_time:
            if self._error is not None:
                raise self._error
            written = self._written
            if self._synced < written:
                try:
                    sync_data(self._file.fileno())
                except OSError as error:
                    self._error = error
                    raise
                self._synced = written

    def sync_soon(self) -> None:
        """Begin to sync in the thread of this file, so that nobody waits; `sync` tells whether it worked."""
        with suppress(RuntimeError):  # no more threads can be started, so that it is left to `sync`
            self._syncing.submit(self.sync)

    def close(self) -> None:
        """Sync and close it.

        Raises:
            OSError: lines can't be synced; it is closed all the same.
        """
        try:
            self.sync()
        finally:
            self._syncing.shutdown()  # its thread may sync right now
            self._file.close()


def sync_data(handle: int) -> None:
    """Sync the content and the length of a file, without its times; systems that can't do so sync those too.

    Raises:
        OSError: it can't be synced.
    """
    getattr(os, "fdatasync", os.fsync)(handle)


def sync_files(*paths: Path) -> None:
    """Make files safe that are written, and the names in their folders.

    Raises:
        OSError: a file can't be synced.
    """
    for path in paths:
        with path.open("rb+") as written:  # Windows syncs only what is open for writing
            os.fsync(written.fileno())
    for folder in {path.parent for path in paths}:
        sync_folder(folder)


def sync_folder(path: Path) -> None:
    """Make the names in a folder safe, where the system knows such a thing; Windows does not."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
