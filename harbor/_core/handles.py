"""Tells what to do where a program may open no more files: that is no fault of the file it wanted to open."""

from __future__ import annotations

import os
from errno import EMFILE, ENFILE

ALLOW_MORE = "too many files are open: allow more with `ulimit -n 4096`, or run less at once"

OUT_OF_HANDLES = frozenset({EMFILE, ENFILE})
"""The errors of a process, or a machine, that can open no more files."""


def remedy_of(error: BaseException, usual: str) -> str:
    """Give the remedy for an error at a file: the usual one, unless no more files may be opened."""
    if isinstance(error, OSError):
        return ALLOW_MORE if error.errno in OUT_OF_HANDLES else usual
    return ALLOW_MORE if _none_is_left() else usual  # SQLite tells no number


def _none_is_left() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in OUT_OF_HANDLES
    return False
