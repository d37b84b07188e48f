"""A run that may still be going, read on as it is written: the same head and chunks as those of one that is over."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from harbor._core.errors import LogError, RunFolderError, unknown
from harbor._core.events import PublicEvent, SeriesOpened
from harbor._core.evidence import EvidenceReader, Wrong
from harbor._core.layout import log_of
from harbor._core.log_lines import Entry, is_over, is_seen_by
from harbor._core.marks import read_as_data
from harbor._core.sent_files import LONGEST_LINE, MOST_RECORDS, open_sent
from harbor._games.game import game_of
from harbor._view.call_file import CallFile
from harbor._view.chunks import Chunks
from harbor._view.decision import Decisions
from harbor._view.run_data import head_of, recorded, seats_of, viewers_of
from harbor._view.run_record import RunRecord, notes_of
from harbor._view.shapes import Chunk, Head
from harbor.evaluation._metrics.lineup import is_simulated

OPENS = (PublicEvent, SeriesOpened)
"""What comes once it is told who bids."""
BATCH_BYTES = 100_000
"""How much of a log is read at a time, so that a page that opens late is sent chunks of a bounded size."""


class LiveRun:
    """A run as it grows, as the analyst or one seat sees it.

    Args:
        run: the folder of a run that has begun, or its log.
        seat: the bidder whose page it is; "": the analyst's.

    Attributes:
        seat: as given.
        is_over: whether nothing more comes.
        is_at_end: whether all that was written has been given.

    Raises:
        RunFolderError: there is no log.
    """

    def __init__(self, run: Path, seat: str = "") -> None:
        self._log = log_of(run)
        self.seat = seat
        self._reader = EvidenceReader(self._log)
        self._end = 0
        self._sent = 0
        self._wrong: Wrong | None = None
        self._calls = CallFile(self._log.parent)
        self._seen: list[Entry] = []
        self.is_over = self.is_at_end = False

    def read_on(self) -> Chunk | None:
        """Give what was written since, a batch at a time; None: nothing. The first has what tells who bids.

        Raises:
            LogError: the log is none that this Harbor can read.
            RunFolderError: nobody of the name of the seat bids in it.
        """
        if self.is_over:
            return None
        self._read_lines()
        entries = self._reader.entries
        self.is_over |= is_over(entries[self._sent :])
        if not self._sent and not self.is_over and not any(isinstance(one.event, OPENS) for one in entries):
            return None
        new, self._sent = entries[self._sent :], len(entries)
        return self._chunk(new) if new else None

    def _read_lines(self) -> None:
        try:
            with open_sent(self._log, MOST_RECORDS) as file:
                file.seek(self._end)
                start, self.is_at_end = self._end, True
                while (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
                    if self._end - start > BATCH_BYTES:
                        self.is_at_end = False
                        return
                    self._end += len(line)
                    if wrong := self._reader.take(line):
                        self._wrong, self.is_over = wrong, True
                        return
        except OSError as error:
            raise LogError(f"log {str(self._log)!r} can't be read ({error.strerror}); open it again") from error

    def head(self) -> Head:
        """Give the head as it is now; it replaces the one before."""
        head = head_of(self._record(), self.seat, self._seats(), simulated=is_simulated(self._reader.entries))
        head["notes"] += self._making.chunks.complaints
        return head

    def _chunk(self, new: list[Entry]) -> Chunk:
        if not self.seat:
            self._calls.read_on()  # each call is recorded before the log tells of it
        shown = [entry for entry in new if not self.seat or is_seen_by(self.seat, entry.event)]
        self._seen += shown
        decisions = self._making.decisions
        numbers = [decisions.note(entry.event, recorded(self._calls, entry.event)) for entry in shown]
        changed = list(decisions.changed)
        decisions.changed.clear()
        return self._making.chunks.of(shown, numbers, changed)

    @cached_property
    def _making(self) -> _Making:
        """What makes chunks, from when it is known who bids."""
        seats, record = self._seats(), self._record()
        if self.seat and self.seat not in seats:
            raise RunFolderError(unknown("bidder", self.seat, seats))
        decisions = Decisions(record.game)
        return _Making(decisions, Chunks(record, decisions, viewers_of(self.seat, seats)))

    def _seats(self) -> list[str]:
        return seats_of(self._reader.entries)

    def _record(self) -> RunRecord:
        with read_as_data(self._log):
            game = game_of(self._reader.entries)
        notes = tuple(notes_of(self._reader.passed_over, self._wrong))
        return RunRecord(self._log.parent, self._seen, game, self._calls, notes)


class _Making(NamedTuple):
    decisions: Decisions
    chunks: Chunks
