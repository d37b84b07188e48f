"""The log, the only source of truth: events in order, one JSON line each, appended and flushed at once.

The causes of an event are on the disk before the event. Input from outside is on the disk before the next turn begins.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeVar

from harbor._core.basics.errors import ConfigError, LogError
from harbor._core.files.marks import read_as_data
from harbor._core.files.safe_files import LONGEST_LINE, MOST_RECORDS, open_private, read_sent, remedy_of, sync_data
from harbor._core.log.events import (
    CLOCK_FIELDS,
    EVERYONE,
    SCHEMA_VERSION,
    Answered,
    BiddersAsked,
    Event,
    LogOpened,
    ModelCalled,
    Paused,
    SeatFailed,
    ThoughtFailed,
)
from harbor._core.log.log_entries import Entry, decode, encode, event_json, is_over, is_torn, named, schema_of
from harbor._core.log.thoughts import Recalled
from harbor._core.plugins.extensions import WITH_EVENTS
from harbor._core.plugins.finding import of_part

EventType = TypeVar("EventType", bound=Event)
LONGEST_SHOWN = 60
"""Characters of a field's value that the message of a difference shows."""
FROM_OUTSIDE = (LogOpened, Answered, SeatFailed, Recalled, ThoughtFailed)
"""Events that a second run would not repeat: draws, answers of agents and people, recalled memories, and failures."""
TURN_OPENS = (BiddersAsked, Paused)
"""Events that begin a turn."""


@dataclass(frozen=True)
class Reading:
    """The contents of a log file.

    `warning` says that the end of the log is missing or damaged; it is empty if the log is complete. `digest` is the
    digest of the last whole line. `size` is the length of all whole lines in bytes.
    """

    entries: tuple[Entry, ...] = ()
    warning: str = ""
    digest: str = ""
    size: int = 0

    @property
    def complete(self) -> bool:
        """True if the log ends with the close of its sale or series."""
        return is_over(self.entries)


class Log:
    """The only writer of a log: in memory, and in a file if `path` is given.

    Args:
        path: a new file, or the file that `past` was read from.
        clock: returns seconds.
        past: the contents of the file. A run resumes by replay: it runs again from the start, and the events it
            appends are compared with these, except for `CLOCK_FIELDS`. Only later events are written.
        sync_first: syncs the causes of an event before the event is written. If None, the log is not synced either:
            a new run repeats everything at no cost, so nothing needs to survive a power cut.
    """

    def __init__(
        self,
        path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        past: Reading | None = None,
        sync_first: Callable[[Event], None] | None = None,
    ) -> None:
        self.entries: list[Entry] = []
        self._path = path
        self._clock = clock
        self._sync_first, self._must_sync = sync_first, False
        self._past = past or Reading()
        self._replayed = len(self._past.entries)
        # The clock of a resumed log goes on from its last line, so that `at` never runs backwards.
        self._opened = clock() - (self._past.entries[-1].at if self._past.entries else 0.0)
        self._digest = self._past.digest
        self._file: IO[bytes] | None = open_private(path, "xb" if past is None else "r+b") if path else None
        if self._file is not None:
            self._file.seek(self._past.size)
        self._listeners: list[Callable[[Entry], None]] = []

    def listen(self, listener: Callable[[Entry], None]) -> None:
        """Call `listener` with every later entry, right after it is written or compared."""
        self._listeners.append(listener)

    @property
    def is_decided(self) -> bool:
        """True if the file has public events after the turn under way, and thus all answers of the turn."""
        past, later = self._past.entries, range(len(self.entries), self._replayed)
        return bool(later) and any(past[seq].event.audience == EVERYONE for seq in later)

    def now(self) -> float:
        """Return the seconds since the log was opened."""
        return self._clock() - self._opened

    def append(self, event: Event) -> Entry:
        """Write an event and flush it.

        Raises:
            LogError: the file has another event in this place; the file is left as it is.
        """
        seq = len(self.entries)
        if seq < self._replayed:
            entry = self._recorded(seq, event)
        else:
            entry = Entry(seq, self._clock() - self._opened, event)
            if self._file is not None:
                self._write(self._file, entry)
        self.entries.append(entry)
        # Listeners hear replayed events too: a display or a counter needs all events of a resumed run.
        for listener in self._listeners:
            listener(entry)
        return entry

    def _recorded(self, seq: int, event: Event) -> Entry:
        entry = self._past.entries[seq]
        if different := difference(entry.event, event):
            raise LogError(
                f"log {str(self._path)!r} line {seq + 1} {different}; resume with the config, models, agents and Harbor"
                " version that the run began with"
            )
        return entry

    def _write(self, file: IO[bytes], entry: Entry) -> None:
        if entry.seq == self._replayed:
            file.truncate()  # a crash may have left part of a line
        if self._sync_first is not None:
            self._sync_first(entry.event)
            if self._must_sync and isinstance(entry.event, TURN_OPENS):
                sync_data(file.fileno())
                self._must_sync = False
        line, self._digest = encode(entry, self._digest)
        file.write(line)
        file.flush()
        self._must_sync |= isinstance(entry.event, FROM_OUTSIDE) or _has_failed(entry.event)

    def close(self) -> None:
        """Close the file, synced; the entries stay in memory."""
        if self._file is not None:
            try:
                if self._sync_first is not None:
                    sync_data(self._file.fileno())
            finally:
                self._file.close()


def _has_failed(event: Event) -> bool:
    return isinstance(event, ModelCalled) and event.outcome == "failed"


def of_type(entries: Iterable[Entry], kind: type[EventType]) -> list[EventType]:
    """Return the events of one type, `kind`, from the entries of a log, in order.

    >>> of_type([Entry(0, 0.0, LotOpened("Harbor View"))], LotOpened)
    [LotOpened(item='Harbor View')]
    """
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def is_public(entries: Sequence[Entry]) -> bool:
    """Return whether a log is a public copy, which has only public events."""
    return any(isinstance(entry.event, LogOpened) and entry.event.seed is None for entry in entries[:1])


def difference(recorded: Event, now: Event) -> str:
    """Say in which fields two events differ; return "" if they are equal but for `CLOCK_FIELDS`."""
    if recorded == now:
        return ""
    old, new = (json.loads(event_json(event)) for event in (recorded, now))
    if old["type"] != new["type"]:
        detail = f" ({new['detail']})" if "detail" in new else ""
        return f"is {old['type']!r}, but this run gives {new['type']!r}{detail}"
    fields = [key for key in new if old.get(key) != new[key] and key not in CLOCK_FIELDS]
    shown = ", ".join(f"{key} {_short(old.get(key))}, but this run gives {_short(new[key])}" for key in fields)
    return f"is {old['type']!r} with {shown}" if fields else ""


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."


def read_log(path: Path | str) -> Reading:
    """Read the log of a run from its file.

    If the last line is cut short, or a power cut has damaged the last lines, the log is read without these lines, and
    `Reading.warning` says so.

    Raises:
        LogError: the file is missing or has no whole line, a line was edited, the log has the format of another version
            of Harbor, or the package of its game is missing.
    """
    reading = read_whole_lines(Path(path))
    if not reading.entries:
        raise LogError(f"log {str(path)!r} has no complete line, so there is nothing to replay; run the auction again")
    if not reading.warning and not reading.complete:
        return replace(reading, warning=f"the log ends at line {len(reading.entries)}, before the sale closed")
    return reading


def read_whole_lines(path: Path) -> Reading:
    """Read the whole lines of a log; there may be none.

    Raises:
        LogError: as `read_log`, but an empty log is no error.
    """
    try:
        lines = read_sent(path, MOST_RECORDS).splitlines(keepends=True)
    except OSError as error:
        remedy = remedy_of(error, "give the folder of a run")
        raise LogError(f"log {str(path)!r} can't be read ({error.strerror}); {remedy}") from error
    entries: list[Entry] = []
    digest, warning, size = "", "", 0
    known = named(())
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):  # only a crash leaves this, as each line is written at once
            warning = f"line {number} is cut short; read up to line {number - 1}"
            break
        if len(line) > LONGEST_LINE:
            raise LogError(f"log {str(path)!r} line {number} is too long ({len(line):,} bytes); restore the file")
        if number == 1 and b"\0" not in line:
            _check_schema(path, line)
        try:
            entry, digest = decode(line, digest, known)
        except LogError as error:
            raise LogError(f"log {str(path)!r} line {number} {error}; restore the file as it was written") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if is_torn(lines[number - 1 :]):
                warning = f"line {number} is damaged, as by a power cut; read up to line {number - 1}"
                break
            raise LogError(f"log {str(path)!r} line {number} is not an event; restore the file") from error
        if number == 1 and isinstance(entry.event, LogOpened):
            known = _events_of(path, entry.event)
        entries.append(entry)
        size += len(line)
    return Reading(tuple(entries), warning, digest, size)


def _events_of(path: Path, opened: LogOpened) -> dict[str, type[Event]]:
    """Return the event types that a log with these parts may contain, by name."""
    try:
        with read_as_data(path):
            with_events = [of_part(part) for part in opened.parts if part.kind in WITH_EVENTS]
        return named(event for value in with_events for event in value.events)
    except ConfigError as error:
        raise LogError(f"log {str(path)!r} is of the {error}") from error


def _check_schema(path: Path, line: bytes) -> None:
    schema = schema_of(line)
    if schema is None:
        raise LogError(f"log {str(path)!r} line 1 is not the opening of a Harbor log; give the folder of a run")
    if schema < SCHEMA_VERSION:
        raise LogError(
            f"log {str(path)!r} has schema {schema} of an earlier Harbor, and this one reads {SCHEMA_VERSION}; run the"
            " auction again, or read the log with that Harbor"
        )
    if schema > SCHEMA_VERSION:
        raise LogError(
            f"log {str(path)!r} has schema {schema}, and this Harbor reads up to {SCHEMA_VERSION} only; upgrade Harbor"
        )
