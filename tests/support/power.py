"""The state after a power cut: the synced size of each file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def synced_sizes() -> Iterator[Callable[[Path], int]]:
    """Record syncs while the context is open. Yield a function that returns the synced size of a file or folder."""
    sizes: dict[tuple[int, int], int] = {}
    sync = os.fsync

    def noted(handle: int) -> None:
        is_now = os.fstat(handle)
        sync(handle)
        sizes[is_now.st_dev, is_now.st_ino] = is_now.st_size

    def safe(path: Path) -> int:
        is_now = path.stat()
        return sizes.get((is_now.st_dev, is_now.st_ino), 0)

    with pytest.MonkeyPatch.context() as patch:
        patch_syncing(patch, noted)
        yield safe


def patch_syncing(patch: pytest.MonkeyPatch, sync: Callable[[int], object]) -> None:
    """Replace the functions that sync files, with and without their times."""
    for name in ("fsync", "fdatasync"):
        patch.setattr(os, name, sync, raising=False)
