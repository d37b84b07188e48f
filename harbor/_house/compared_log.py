"""A log that is only compared: each event of a run that is carried again with the one that stands in its place."""

from __future__ import annotations

from collections.abc import Sequence

from harbor._core.events import EVERYONE, Event
from harbor._core.log import Log, difference
from harbor._core.log_lines import Entry
from harbor._house.verdict import NOTHING, Differs, Ended, Level, Verdict, differs, fields_of


class ComparedLog(Log):
    """A log that is read: what is appended is compared with it, except for clocks, and nothing is written.

    Args:
        told: the entries of the log that are compared, in order.
        complete: whether the sale has closed in it.
        level: what it is compared with.
        warning: what is missing at its end.
    """

    def __init__(self, told: Sequence[Entry], complete: bool, level: Level, warning: str = "") -> None:
        super().__init__()
        self.told, self.complete, self.level, self.warning = told, complete, level, warning

    @property
    def rest(self) -> Sequence[Entry]:
        """What stands in the log and has not been compared."""
        return self.told[len(self.entries) :]

    @property
    def here(self) -> Entry | None:
        """The entry that is compared next; None at the end."""
        place = len(self.entries)
        return self.told[place] if place < len(self.told) else None

    def append(self, event: Event) -> Entry:
        """Compare an event with the one in its place; of a public log, public events alone.

        Raises:
            Differs: there is another one.
            Ended: there is none.
        """
        if self.level == "public" and event.audience != EVERYONE:
            return Entry(0, 0.0, event)
        entry = self.here
        if entry is None:
            raise Ended
        if difference(entry.event, event):
            raise differs(entry, event, self.level)
        self.entries.append(entry)
        return entry

    def take(self) -> Entry:
        """Take the next entry as it is told."""
        entry = self.told[len(self.entries)]
        self.entries.append(entry)
        return entry

    def lacks(self, what: str) -> Differs | Ended:
        """Give what follows where something is not there: an end, or a difference if the log goes on."""
        if self.here is None and not self.complete:
            return Ended()
        return found_at(self.here, what, NOTHING, self.level)

    def check_over(self) -> None:
        """Compare the end.

        Raises:
            Differs: there are further lines.
        """
        if self.here is not None:
            raise differs(self.here, None, self.level)


def found_at(entry: Entry | None, expected: str, found: str, level: Level = "deep") -> Differs:
    """Give the difference at a line, in words."""
    line, event = (entry.seq + 1, fields_of(entry.event)["type"]) if entry else (None, "")
    return Differs(Verdict(False, level, line, event, expected, found))
