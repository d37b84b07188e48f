"""Out of file handles: the remedy is more of them, not another folder."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harbor import Auction, Bidder, houses, read_log
from harbor._core.basics.errors import LogError, MemoryStoreError, RunFolderError
from harbor._runs.folder import RunFolder
from harbor.memory._store.backend import FAILURES, plain_errors

MORE = r"Too many open files\); too many files are open: allow more with `ulimit -n 4096`"


@contextmanager
def no_handles() -> Iterator[None]:
    """Take all handles that this process may have."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_neither_a_log_nor_a_folder_nor_a_memory_is_at_fault(tmp_path):
    with pytest.raises(LogError, match=MORE), no_handles():
        read_log(tmp_path / "log")
    sale = Auction(seed=7, items=houses(2, seed=7), bidders=[Bidder("Ann", rule="minimum-raise")])
    with pytest.raises(RunFolderError, match=MORE), no_handles():
        RunFolder.make(tmp_path / "run", sale)
    match = "unable to open database file; too many files are open: allow more"
    with pytest.raises(MemoryStoreError, match=match), no_handles(), plain_errors("memory 'm'", FAILURES):
        sqlite3.connect(tmp_path / "memory.db")


def test_what_else_is_wrong_keeps_its_remedy(tmp_path):
    with pytest.raises(MemoryStoreError, match="make the folder writable"), plain_errors("memory 'm'", FAILURES):
        sqlite3.connect(tmp_path / "no folder" / "memory.db")
