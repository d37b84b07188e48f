"""A small separate file system, which can be full."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ENOUGH = 256 * 2**20


@contextmanager
def small(folder: Path, size: int) -> Iterator[None]:
    """Mount a file system of `size` bytes in a folder."""
    _do("mount", "-t", "tmpfs", "-o", f"size={size}", "crash-lab", str(folder))
    try:
        yield
    finally:
        _do("umount", "--lazy", str(folder))


def make_room(folder: Path) -> None:
    """Enlarge the file system."""
    _do("mount", "-o", f"remount,size={ENOUGH}", str(folder))


@cache
def permitted() -> bool:
    """Return whether this user can mount a file system."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with small(Path(folder), 4096):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def _do(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
