"""Stepping back: a run goes on from the last turn that everything is there for, if records of later ones are lost.

A power cut leaves no such run, as a reply is on the disk before the event that follows from it. A disk, an editor, or
somebody who sends a folder without its private file may.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from harbor._core.errors import RunFolderError
from harbor._core.events import Answered, ModelCalled
from harbor._core.layout import CALLS, CALLS_DAMAGED, EVENTS, EVENTS_CUT
from harbor._core.log import TURN_OPENS, Reading, of_type, read_whole_lines
from harbor._core.log_lines import Entry
from harbor._core.private_files import write_whole
from harbor._core.syncing import sync_files
from harbor._models.replies.replay import ReplayCache, lost_calls
from harbor._runs.raw_calls import RawCalls, content_of, recorded_calls

LINES_SHOWN = 5


def read_past(folder: Path) -> tuple[Reading | None, ReplayCache]:
    """Read the log of an interrupted run, up to where its calls are all recorded, and what is replayed.

    Without a log there is no reading. What is cut away is kept in files beside, and a warning tells it.

    Raises:
        RunFolderError: none of its calls is recorded, and they would have to be paid for again.
        LogError: the log was edited.
    """
    log, found = folder / EVENTS, recorded_calls(folder / CALLS)
    past = read_whole_lines(log) if log.exists() else None
    entries = past.entries if past else ()
    lost = list(lost_calls(entries, found.calls))
    if lost and not found.calls:
        _refuse_to_pay_again(folder, [call for _, call in lost])
    kept = entries[: lost[0][0] + 1] if lost else entries
    if past is not None:
        past = _cut(log, past, len(kept))
    mend_calls(folder, found)
    sync_files(*(file for file in (log, folder / CALLS) if file.exists()))  # what is written now follows from them
    return past, ReplayCache(kept, found.calls, entries[len(kept) :])


def _cut(log: Path, past: Reading, kept: int) -> Reading:
    """Cut a log after so many lines, once the others are safe elsewhere, and read it again; warns of it."""
    lines = log.read_bytes().splitlines(keepends=True)
    tail = b"".join(lines[kept:])
    is_aside = b"\n" in tail.strip(b"\0")
    if past.warning:
        rest = f"is kept in {EVENTS_CUT}" if is_aside else "is dropped"
        warnings.warn(f"log {str(log)!r}: {past.warning}, the rest {rest}", stacklevel=5)
    if not is_aside:  # at most a part of a line, and the log writes over it
        return past
    _set_aside(log.with_name(EVENTS_CUT), tail)
    os.truncate(log, len(b"".join(lines[:kept])))
    if kept < len(past.entries):
        _tell_of_cut(log, kept, past.entries[kept:])
    return read_whole_lines(log)


def _refuse_to_pay_again(folder: Path, lost: Sequence[ModelCalled]) -> None:
    paid = sum(call.cost_dollars != 0 for call in lost)
    if paid:
        raise RunFolderError(
            f"{str(folder / CALLS)!r} is missing or has no call, but {paid:,} calls of the run were paid for; restore"
            " it from where the run was made, or begin a new run"
        )


def _tell_of_cut(log: Path, kept: int, cut: Sequence[Entry]) -> None:
    again = sorted({event.bidder for event in of_type(_later(cut), Answered)})
    words = f"; {', '.join(map(repr, again))} will be asked again for words that are cut away" if again else ""
    warnings.warn(
        f"log {str(log)!r}: the run goes on from line {kept}, as {CALLS} lacks calls of the turn that begins there;"
        f" {len(cut):,} lines after it are kept in {EVENTS_CUT}{words}",
        stacklevel=5,
    )


def _later(cut: Sequence[Entry]) -> Sequence[Entry]:
    """Leave out the turn that is played again: its words are still an answer to it."""
    return cut[next((place for place, entry in enumerate(cut) if isinstance(entry.event, TURN_OPENS)), len(cut)) :]


def mend_calls(folder: Path, found: RawCalls) -> None:
    """Take lines that can't be read out of the calls of a folder, once they are safe elsewhere; warns of them."""
    if found.damaged:
        _set_aside(folder / CALLS_DAMAGED, b"".join(line + b"\n" for _, line in found.damaged))
    if found.damaged or found.is_open:  # else the next call would be written in the last line
        write_whole(folder / CALLS, b"".join(line + b"\n" for line in found.lines), synced=True)
    if found.damaged:
        _tell_of_damage(folder / CALLS, [str(number) for number, _ in found.damaged])


def _tell_of_damage(calls: Path, numbers: Sequence[str]) -> None:
    more = f" and {len(numbers) - LINES_SHOWN:,} more" if len(numbers) > LINES_SHOWN else ""
    warnings.warn(
        f"{str(calls)!r} line {', '.join(numbers[:LINES_SHOWN])}{more} can't be read and is kept in {CALLS_DAMAGED};"
        " what was asked there is asked, and paid for, again",
        stacklevel=6,
    )


def _set_aside(file: Path, content: bytes) -> None:
    write_whole(file, content_of(file) + content, synced=True)
