"""calls.jsonl as a page needs it: where each call stands, so that words are in memory only while they are written."""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import Path

from harbor._core.handles import remedy_of
from harbor._core.layout import CALLS
from harbor._core.sent_files import LONGEST_LINE, MOST_RECORDS, open_sent
from harbor._models.replies.replay import CallKey, RawCall
from harbor._runs.raw_calls import call_in


class CallFile:
    """The recorded calls beside a log, found by their keys; of equal keys, in their order.

    Attributes:
        damaged: how many lines are no calls.
        missing: why there is nothing to read; empty if there is.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / CALLS
        self._places: dict[CallKey, deque[int]] = defaultdict(deque)
        self._end = 0
        self.damaged = 0
        self.missing = ""

    def read_on(self) -> None:
        """Find the calls that were written since; a last line that is not whole is read later."""
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
        """Give the place of the next call of a key, once; None: it is not recorded."""
        places = self._places.get(key)
        return places.popleft() if places else None

    def at(self, place: int) -> RawCall | None:
        """Read the call at a place."""
        try:
            with open_sent(self._path, MOST_RECORDS) as file:
                file.seek(place)
                return call_in(file.readline(LONGEST_LINE).strip())
        except OSError:
            return None
