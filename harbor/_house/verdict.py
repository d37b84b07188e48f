"""What checking a log finds: whether it follows, as far as it was checked, or the first line that does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harbor._core.events import Event
from harbor._core.log_lines import Entry, event_json

Level = Literal["heading", "rules", "public", "deep"]
NOTHING = "nothing"
LONGEST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a log follows, and from what.

    The level says what it was compared with: the rules, from what the log tells of everyone ("rules") or in public
    ("public"), or the whole run, played again ("deep"). Where nothing tells the rules, the opening alone was looked at
    ("heading"). If it does not follow, `line` is the number of the first line that differs, `event` its type, and
    `expected` and `found` are what differs, as JSON or in words. `unchecked` says in sentences what could not be
    checked.
    """

    follows: bool
    level: Level
    line: int | None = None
    event: str = ""
    expected: str = ""
    found: str = ""
    unchecked: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What differs, in one line."""
        if self.follows:
            return "the log follows from its rules"
        where = "" if self.line is None else f"line {self.line}: "
        return f"the log does not follow from its rules: {where}{self.event} with {self.found}, not {self.expected}"


class Ended(Exception):
    """The log breaks off here; so far it follows."""


class Differs(Exception):
    """A log tells something else than what follows; `verdict` says where."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.words)
        self.verdict = verdict


def differs(found: Entry, expected: Event | None, level: Level = "rules") -> Differs:
    """Give the difference of a line of a log from the event that follows there (None: there is none)."""
    return Differs(differing(level, found.seq + 1, expected, found.event))


def what_differs(expected: Any, found: Any) -> tuple[Any, Any]:
    """Leave out of two values of JSON what they have in common: keys of dicts, places of lists of one length."""
    if isinstance(expected, dict) and isinstance(found, dict):
        names = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
        pairs = {name: what_differs(expected.get(name), found.get(name)) for name in names}
        return {name: wanted for name, (wanted, _) in pairs.items()}, {
            name: given for name, (_, given) in pairs.items()
        }
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        places = [place for place, one in enumerate(expected) if one != found[place]]
        return [expected[place] for place in places], [found[place] for place in places]
    return expected, found


def differing(level: Level, line: int | None, expected: Event | None, found: Event | None) -> Verdict:
    """Give the verdict on two events of one place, of which one may be missing: the fields that differ, as JSON."""
    wanted, given = fields_of(expected), fields_of(found)
    if wanted and given and wanted["type"] == given["type"]:
        wanted, given = what_differs(wanted, given)
    name = fields_of(found or expected)["type"]
    return Verdict(False, level, line, name, shown(wanted), shown(given))


def fields_of(event: Event | None) -> dict[str, Any]:
    """Give the type and the fields of an event; nothing: none."""
    if event is None:
        return {}
    fields: dict[str, Any] = json.loads(event_json(event))
    return fields


def body_of(line: bytes) -> dict[str, Any]:
    """Give the type and the fields of the event in a line of a log, as they stand there."""
    fields: dict[str, Any] = json.loads(line)
    return {name: value for name, value in fields.items() if name not in ("seq", "at", "audience", "digest")}


def shown(fields: Mapping[str, Any]) -> str:
    """Write fields as JSON, as far as there is room."""
    text = json.dumps(fields, ensure_ascii=False) if fields else NOTHING
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
