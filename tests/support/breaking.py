"""Runs that break off at an entry of their log, as in a crash."""

from __future__ import annotations

from collections.abc import Callable

from harbor._core.log.log_entries import Entry


class Broken(Exception):
    """Breaks a run off, as a crash would."""


def breaking(when: Callable[[Entry], bool]) -> Callable[[Entry], None]:
    """Return a listener that breaks a run off at an entry for which `when` is true."""

    def listen(entry: Entry) -> None:
        if when(entry):
            raise Broken

    return listen


def breaking_at(seq: int) -> Callable[[Entry], None]:
    """Return a listener that breaks a run off right after the entry of this number is written."""
    return breaking(lambda entry: entry.seq == seq)
