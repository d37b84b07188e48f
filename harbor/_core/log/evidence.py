"""Reads a log as evidence: all events that this Harbor knows, also of a later schema, up to the first wrong line.

`read_log` is strict, because a measurement must not miss anything. This module passes over unknown events and fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harbor._core.basics.errors import ConfigError, LogError
from harbor._core.basics.feedback import steps
from harbor._core.files.marks import read_as_data
from harbor._core.files.safe_files import LONGEST_LINE, MOST_RECORDS, read_sent
from harbor._core.log.events import SCHEMA_VERSION, Event, LogOpened
from harbor._core.log.log_entries import Entry, decode_fields, digest_of, fields_of_kind, named, schema_of
from harbor._core.plugins.extensions import WITH_EVENTS
from harbor._core.plugins.finding import of_part


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line that contradicts itself: its number, its type, and the expected and the found value in words."""

    line: int
    event: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The known part of a log: entries before the first `wrong` line (None: all are right), and notes on the rest."""

    entries: tuple[Entry, ...]
    wrong: Wrong | None = None
    passed_over: tuple[str, ...] = ()


def read_evidence(path: Path) -> Evidence:
    """Read a log up to its first wrong line, without the parts that this Harbor does not know.

    Raises:
        LogError: there is no log, or it is not JSON, of an earlier schema, or of a game whose package is missing.
    """
    try:
        lines = read_sent(path, MOST_RECORDS).splitlines(keepends=True)
    except OSError as error:
        raise LogError(f"log {str(path)!r} can't be read ({error.strerror}); give the folder of a run") from error
    reader = EvidenceReader(path)
    wrong = next((wrong for line in steps(lines or [b""], "events read") if (wrong := reader.take(line))), None)
    return Evidence(tuple(reader.entries), wrong, tuple(reader.passed_over))


class EvidenceReader:
    """Reads a log line by line.

    Attributes:
        entries: the entries known so far.
        passed_over: the parts of the log that this Harbor does not know, in words.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self.passed_over: dict[str, None] = {}
        self._lines = 0
        self._known: Mapping[str, type[Event]] = named(())
        self._fields: dict[str, frozenset[str]] = {}
        self._digest = ""

    def take(self, line: bytes) -> Wrong | None:
        """Take the next line; return its fault, or None.

        Raises:
            LogError: as `read_evidence`.
        """
        self._lines += 1
        if self._lines == 1:
            self._check_opening(line)
        if line.endswith(b"\n"):
            return self._take(self._lines, line)
        self._pass_over(f"line {self._lines}, which is cut short")
        return None

    def _check_opening(self, line: bytes) -> None:
        schema = schema_of(line)
        if schema is None:
            raise LogError(f"log {str(self.path)!r} does not begin as a Harbor log does; give the folder of a run")
        if schema < SCHEMA_VERSION:
            raise LogError(f"log {str(self.path)!r} has schema {schema} of an earlier Harbor; verify it with that one")
        if schema > SCHEMA_VERSION:
            self._pass_over(f"what schema {schema} has and this Harbor, which knows {SCHEMA_VERSION}, does not")

    def _take(self, number: int, line: bytes) -> Wrong | None:
        if len(line) > LONGEST_LINE:
            raise LogError(f"log {str(self.path)!r} line {number} is too long ({len(line):,} bytes); restore the file")
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise LogError(f"log {str(self.path)!r} line {number} is not JSON; restore the file") from error
        if not isinstance(fields, dict):
            raise LogError(f"log {str(self.path)!r} line {number} is not a JSON object; restore the file")
        kind = str(fields.get("type"))
        digest = digest_of(line, self._digest)
        if digest != fields.get("digest"):
            return Wrong(number, kind, f"the digest {digest!r} of what it says", f"{fields.get('digest')!r}")
        self._digest = digest
        if fields.get("seq") != number - 1 or isinstance(fields.get("seq"), bool):
            return Wrong(number, kind, f"seq {number - 1}", f"seq {fields.get('seq')!r}")
        if kind not in self._known:
            self._pass_over(f"events of the type {kind!r}, which this Harbor does not know")
            return None
        return self._known_event(number, kind, fields, line)

    def _known_event(self, number: int, kind: str, fields: dict[str, object], line: bytes) -> Wrong | None:
        try:
            entry = decode_fields(fields, line, self._known[kind])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return Wrong(number, kind, "the fields and the audience of such an event", "others")
        if number == 1 and isinstance(entry.event, LogOpened):
            with read_as_data(self.path):
                self._known = named(self._events_of(entry.event))
        if kind not in self._fields:
            self._fields[kind] = fields_of_kind(self._known[kind])
        for strange in fields.keys() - self._fields[kind]:
            self._pass_over(f"the field {strange!r} of {kind!r}, which this Harbor does not know")
        self.entries.append(entry)
        return None

    def _events_of(self, opened: LogOpened) -> list[type[Event]]:
        """Return the event types of the parts of a log: its game, and other installed packages."""
        events: list[type[Event]] = []
        for part in opened.parts:
            try:
                events += of_part(part).events if part.kind in WITH_EVENTS else ()
            except ConfigError as error:
                if part.kind == "game":
                    raise LogError(f"log {str(self.path)!r} is of the {error}") from error
                self._pass_over(f"events of the {part.kind} {part.name!r}, whose package is missing")
        return events

    def _pass_over(self, what: str) -> None:
        self.passed_over.setdefault(what)
