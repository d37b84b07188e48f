"""Reads the folder of a run for a page, as far as it is valid, and notes the missing parts in words.

The reader loads no code that the folder names, because the folder may come from another user.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from harbor._core.basics.errors import LogError
from harbor._core.files.layout import CALLS, log_of
from harbor._core.files.marks import read_as_data
from harbor._core.files.safe_files import LONGEST_LINE, MOST_RECORDS, open_sent, read_sent, remedy_of
from harbor._core.log.events import EVERYONE, ModelCalled
from harbor._core.log.evidence import Wrong, read_evidence
from harbor._core.log.log import is_public, of_type, read_whole_lines
from harbor._core.log.log_entries import Entry, is_over, is_seen_by, told_alone
from harbor._games.game import Game, game_of
from harbor._models.replies.replay import CallKey, RawCall
from harbor._runs.raw_calls import call_in
from harbor._view.shapes import EntryRow


class CallFile:
    """The recorded calls beside a log, found by their keys. Calls with equal keys come in their order.

    Attributes:
        damaged: number of lines that are no calls.
        missing: why no call can be read ("" if calls can be read).
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / CALLS
        self._places: dict[CallKey, deque[int]] = defaultdict(deque)
        self._end = 0
        self.damaged = 0
        self.missing = ""

    def read_on(self) -> None:
        """Index the calls written since the last read. An incomplete last line is left for the next read."""
        try:
            with open_sent(self._path, MOST_RECORDS) as file:
                file.seek(self._end)
                while (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
                    self._note(line)
                    self._end += len(line)
                self.missing = ""
        except FileNotFoundError:
            self.missing = f"{CALLS} is not there"
        except OSError as error:
            self.missing = f"{CALLS} can't be read ({error.strerror}); {remedy_of(error, 'restore it')}"

    def _note(self, line: bytes) -> None:
        call = call_in(line.strip()) if line.strip() else None
        if call is not None:
            self._places[call.key].append(self._end)
        elif line.strip():
            self.damaged += 1

    def take(self, key: CallKey) -> int | None:
        """Return the place of the next call with this key, each once. Return None if no more is recorded."""
        places = self._places.get(key)
        return places.popleft() if places else None

    def at(self, place: int) -> RawCall | None:
        """Read the call at a place. Return None if it can't be read."""
        try:
            with open_sent(self._path, MOST_RECORDS) as file:
                file.seek(place)
                return call_in(file.readline(LONGEST_LINE).strip())
        except OSError:
            return None


OTHER_VERSION = "written by another version, or of a game that is not installed: shown as far as it is known"
HEAD = frozenset({"seq", "at", "audience", "type", "digest"})


class Note(NamedTuple):
    """A note about a log: the full text, and the text for a seat, which quotes no entry."""

    full: str
    to_seat: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The data of a run. If this Harbor can't read the log, `raw` has its lines unchanged."""

    folder: Path
    entries: Sequence[Entry]
    game: Game | None
    calls: CallFile
    notes: tuple[Note, ...] = ()
    raw: Sequence[EntryRow] = ()

    @property
    def raw_seats(self) -> list[str]:
        """Return the bidders to whom raw entries are addressed alone."""
        return list(dict.fromkeys(seat for row in self.raw for seat in told_alone(row[2])))

    def seen_by(self, seat: str) -> RunRecord:
        """Return the data that a bidder may see, without calls."""
        return replace(
            self,
            entries=[entry for entry in self.entries if is_seen_by(seat, entry.event)],
            raw=[row for row in self.raw if row[2] == EVERYONE or seat in told_alone(row[2])],
            calls=CallFile(self.folder),
        )


def read_run(run: Path) -> RunRecord:
    """Read the folder of a run, or its log.

    Raises:
        RunFolderError: there is no log.
        LogError: no entry can be read.
    """
    log = log_of(run)
    entries, notes, raw = _entries(log)
    calls = CallFile(log.parent)
    if not entries:
        return RunRecord(log.parent, (), None, calls, notes, raw)
    calls.read_on()
    with read_as_data(log):
        game = game_of(entries)
    return RunRecord(log.parent, entries, game, calls, (*notes, *_missing(entries, calls)))


def notes_of(passed_over: Iterable[str], wrong: Wrong | None) -> Iterator[Note]:
    """Yield notes about the parts of a log that are not shown."""
    for what in passed_over:
        yield Note(
            f"passed over: {what}", "the log is cut short, or another version wrote it: shown as far as it is known"
        )
    if wrong is not None:
        full = f"shown up to line {wrong.line - 1}: line {wrong.line} has {wrong.found}, and not {wrong.expected}"
        yield Note(full, f"the log is damaged from event {wrong.line - 1} on")


def _entries(log: Path) -> tuple[Sequence[Entry], tuple[Note, ...], Sequence[EntryRow]]:
    """Read the entries as evidence, or else up to the damage, or else as raw lines."""
    try:
        found = read_evidence(log)
    except LogError as error:
        return _damaged(log, error)
    notes = list(notes_of(found.passed_over, found.wrong))
    if found.wrong is None and not is_over(found.entries):
        open_end = "it is not over: the log ends before the sale closed; see more with --follow while it is held"
        notes.append(Note(open_end, open_end))
    return found.entries, tuple(notes), ()


def _damaged(log: Path, error: LogError) -> tuple[Sequence[Entry], tuple[Note, ...], Sequence[EntryRow]]:
    try:
        reading = read_whole_lines(log)
    except LogError:
        raw = list(_raw(log))
        if not raw:
            raise error from None
        return (), (Note(f"shown as it is written: {error}", OTHER_VERSION),), raw
    if not reading.entries:
        raise error
    return reading.entries, (Note(reading.warning, "the log is cut short"),), ()


def _raw(log: Path) -> Iterator[EntryRow]:
    """Yield the JSON lines of a log unchanged, up to the first line that is no JSON."""
    for line in read_sent(log, MOST_RECORDS).splitlines():
        try:
            told = json.loads(line)
            seq, at, kind = int(told["seq"]), float(told["at"]), str(told["type"])
            audience = str(told.get("audience", EVERYONE))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return
        fields = [(str(name), _text(value)) for name, value in told.items() if name not in HEAD]
        yield (seq, at, audience, kind, kind.replace("_", " "), fields, None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _missing(entries: Sequence[Entry], calls: CallFile) -> Iterator[Note]:
    """Yield notes about missing calls of a run."""
    if is_public(entries):
        public = "a public copy: facts, thoughts and prompts of bidders are not in it"
        yield Note(public, public)
    elif calls.missing and of_type(entries, ModelCalled):
        yield Note(f"{calls.missing}: prompts and replies are not shown")
    if calls.damaged:
        lines = "line" if calls.damaged == 1 else "lines"
        yield Note(f"{calls.damaged} {lines} of calls.jsonl can't be read: those prompts and replies are not shown")
