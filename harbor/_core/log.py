"""The log: the only truth. Events in the order of the auction, one JSON line each, appended and flushed at once.

A line is ``{"seq", "at", "audience", "type", ...the event's fields..., "digest"}``; `at` is seconds since the log was
opened. Each digest covers the line and the digest before it, so an edited line is found.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple, TypeVar

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from harbor._core import events, thoughts
from harbor._core.errors import LogError
from harbor._core.events import CLOCK_FIELDS, SCHEMA_VERSION, AnalystEvent, Event, LogOpened, PrivateEvent, PublicEvent
from harbor._games import beauty, english_private, first_price, private_values, second_price, session, water

EventType = TypeVar("EventType", bound=Event)
LONGEST_SHOWN = 60


def _name(kind: type[Event]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_ADAPTERS: dict[type[Event], tuple[str, TypeAdapter[Any]]] = {}
_BY_NAME: dict[str, TypeAdapter[Any]] = {}


def know(*modules: ModuleType) -> None:
    """Learn the events of these modules, so that they can be written and read; do so for a game of yours.

    Raises:
        LogError: an event has the name of another one.
    """
    for kind in (kind for module in modules for kind in vars(module).values()):
        if isinstance(kind, type) and issubclass(kind, PublicEvent | PrivateEvent | AnalystEvent):
            name = _name(kind)
            if kind in _ADAPTERS or kind in (PublicEvent, PrivateEvent, AnalystEvent):
                continue
            if name in _BY_NAME:
                raise LogError(f"two events are called {kind.__name__!r}; rename the one in {kind.__module__!r}")
            _BY_NAME[name] = TypeAdapter(kind)
            _ADAPTERS[kind] = (name, _BY_NAME[name])


know(events, thoughts, water, session, private_values, second_price, first_price, english_private, beauty)


class Entry(NamedTuple):
    """One line of a log: its number, seconds since the log was opened, and the event."""

    seq: int
    at: float
    event: Event


@dataclass(frozen=True)
class Reading:
    """A log read back; `warning` says what is missing at its end, if anything is.

    `digest` is that of the last whole line, `size` the length of the whole lines in bytes.
    """

    entries: tuple[Entry, ...] = ()
    warning: str = ""
    digest: str = ""
    size: int = 0

    @property
    def complete(self) -> bool:
        """Whether the sale, or the series, closed."""
        return bool(self.entries) and isinstance(self.entries[-1].event, events.SaleClosed | events.SeriesClosed)


class Log:
    """The one writer of a log: in memory, and in a file where one is given.

    Args:
        path: of a new file, or of the file that `past` was read from.
        clock: gives seconds.
        past: what the file holds already. The events appended must be the same, but for `CLOCK_FIELDS`, and are not
            written again; only those after them are.
    """

    def __init__(
        self, path: Path | None = None, clock: Callable[[], float] = time.monotonic, past: Reading | None = None
    ) -> None:
        self.entries: list[Entry] = []
        self._path = path
        self._clock = clock
        self._past = past or Reading()
        self._opened = clock() - (self._past.entries[-1].at if self._past.entries else 0.0)
        self._digest = self._past.digest
        self._file: IO[bytes] | None = path.open("xb" if past is None else "r+b") if path else None
        if self._file is not None:
            self._file.seek(self._past.size)
        self._listeners: list[Callable[[Entry], None]] = []

    def listen(self, listener: Callable[[Entry], None]) -> None:
        """Call `listener` with every entry from here on, right after it is written."""
        self._listeners.append(listener)

    def now(self) -> float:
        """Give the seconds since the log was opened."""
        return self._clock() - self._opened

    def append(self, event: Event) -> Entry:
        """Write an event and flush it.

        Raises:
            LogError: the file holds another event in this place; it is left as it is.
        """
        seq = len(self.entries)
        entry = self._recorded(seq, event) if seq < len(self._past.entries) else self._write(seq, event)
        self.entries.append(entry)
        for listener in self._listeners:
            listener(entry)
        return entry

    def _recorded(self, seq: int, event: Event) -> Entry:
        entry = self._past.entries[seq]
        if different := difference(entry.event, event):
            raise LogError(
                f"log {str(self._path)!r} line {seq + 1} {different}; resume with the Harbor, models and agents that it"
                " was begun with, and its config as it was"
            )
        return entry

    def _write(self, seq: int, event: Event) -> Entry:
        entry = Entry(seq, self.now(), event)
        if self._file is not None:
            if seq == len(self._past.entries):
                self._file.truncate()  # what a crash left of a line
            line, self._digest = encode(entry, self._digest)
            self._file.write(line)
            self._file.flush()
        return entry

    def close(self) -> None:
        """Close the file; the entries stay in memory."""
        if self._file is not None:
            self._file.close()


def of_type(entries: Iterable[Entry], kind: type[EventType]) -> list[EventType]:
    """Pick the events of one type, in order."""
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def difference(recorded: Event, now: Event) -> str:
    """Say in which fields two events differ, but for `CLOCK_FIELDS`; empty if in none."""
    if recorded == now:
        return ""
    old, new = (json.loads(encode(Entry(0, 0.0, event), "")[0]) for event in (recorded, now))
    if old["type"] != new["type"]:
        detail = f" ({new['detail']})" if "detail" in new else ""
        return f"holds {old['type']!r}, but now comes {new['type']!r}{detail}"
    fields = [key for key in new if old.get(key) != new[key] and key not in CLOCK_FIELDS]
    shown = ", ".join(f"{key} {_short(old.get(key))}, but now {_short(new[key])}" for key in fields)
    return f"holds {old['type']!r} with {shown}" if fields else ""


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."


def encode(entry: Entry, digest_before: str) -> tuple[bytes, str]:
    """Write an entry as a JSON line; returns the line and its digest."""
    name, adapter = _ADAPTERS[type(entry.event)]
    head = json.dumps({"seq": entry.seq, "at": round(entry.at, 6), "audience": entry.event.audience, "type": name})
    try:
        fields = adapter.dump_json(entry.event)[1:-1]
    except PydanticSerializationError:  # half a character, as in a broken file name
        plain = json.dumps(adapter.dump_python(entry.event, mode="json"), ensure_ascii=False)
        fields = plain.encode(errors="replace")[1:-1]
    body = head[:-1].encode() + (b"," + fields if fields else b"")
    digest = sha256(digest_before.encode() + body).hexdigest()[:16]
    return body + b',"digest":"' + digest.encode() + b'"}\n', digest


def decode(line: bytes, digest_before: str) -> tuple[Entry, str]:
    """Read a JSON line.

    Raises:
        ValueError: not JSON, or not an event.
        LogError: its digest does not follow from the line and the digest before it.
    """
    fields = json.loads(line)
    digest = fields.pop("digest")
    body = line.rstrip(b"\n").rpartition(b',"digest":')[0]
    if sha256(digest_before.encode() + body).hexdigest()[:16] != digest:
        raise LogError("was edited: its digest does not match its text")
    adapter = _BY_NAME[fields.pop("type")]
    seq, at = fields.pop("seq"), fields.pop("at")
    fields.pop("audience")
    return Entry(seq, at, adapter.validate_json(json.dumps(fields))), digest


def read_log(path: Path | str) -> Reading:
    """Read a log back.

    A last line that is cut short is dropped, and the reading says so.

    Raises:
        LogError: no such file, no whole line, an edited line, or a schema newer than this Harbor knows.
    """
    reading = read_whole_lines(Path(path))
    if not reading.entries:
        raise LogError(f"log {str(path)!r} holds no whole line; there is nothing to replay")
    if not reading.warning and not reading.complete:
        return replace(reading, warning=f"the log ends at line {len(reading.entries)}, before the sale closed")
    return reading


def read_whole_lines(path: Path) -> Reading:
    """Read what there is of a log, be it nothing.

    Raises:
        LogError: as `read_log`.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise LogError(f"log {str(path)!r} can't be read ({error.strerror}); give the folder of a run") from error
    entries: list[Entry] = []
    digest, warning, size = "", "", 0
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            warning = f"line {number} is cut short; read up to line {number - 1}"
            break
        if number == 1:
            _check_schema(path, line)
        try:
            entry, digest = decode(line, digest)
        except LogError as error:
            raise LogError(f"log {str(path)!r} line {number} {error}; restore the file as it was written") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LogError(f"log {str(path)!r} line {number} is not an event; restore the file") from error
        entries.append(entry)
        size += len(line)
    return Reading(tuple(entries), warning, digest, size)


def _check_schema(path: Path, line: bytes) -> None:
    try:
        fields = json.loads(line)
        known = fields["type"] == _ADAPTERS[LogOpened][0]
        schema = int(fields["schema"]) if known else 0
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        known, schema = False, 0
    if not known:
        raise LogError(f"log {str(path)!r} line 1 is not the opening of a Harbor log; give the folder of a run")
    if schema > SCHEMA_VERSION:
        raise LogError(
            f"log {str(path)!r} has schema {schema}, newer than {SCHEMA_VERSION} that this Harbor reads; upgrade Harbor"
        )
