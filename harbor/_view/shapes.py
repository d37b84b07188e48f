"""The data of a page: one `Head`, and `Chunk`s of its entries. All values are texts and numbers for display."""

from __future__ import annotations

import json
from typing import NotRequired, TypedDict

Field = tuple[str, str]
"""The name of a field and its text."""
EntryRow = tuple[int, float, str, str, str, list[Field], int | None]
"""Number, seconds, audience, type, words, fields, and the number of the decision to which the entry belongs."""
WholeBoard = tuple[str, str, list[str], list[list[str]]]
"""A whole board: headline, state, columns, rows."""
ChangedBoard = tuple[str, str, dict[str, list[str]]]
"""A board with unchanged columns: headline, state, and the changed rows by their index."""
BoardRow = tuple[int, WholeBoard | ChangedBoard]
"""The number of the first entry that has this board. The first board of a chunk is whole."""
Place = tuple[int, str, str]
"""The number of an entry that begins a part or a round or is the end, "part", "round" or "end", and its name."""


PictureRow = tuple[str, str, str, str, str, bool, str]
"""A picture: its name, title, titles of x and y, scale of y, True if each part has its own picture, scale of x."""
MarkRow = tuple[int, int, str, str, str, str, float | str | None, float | None, float | None, int]
"""The number of the entry that adds a mark, the index of its picture in the head, panel, series, role, kind, x, y,
the upper end, and its viewers: the sum of 2 ** index over the head's `viewers` who see the mark."""
Moment = tuple[int, str]
"""The number of an event (-1: the end of the log) and its words."""
OtherRow = tuple[str, str, Moment | None, Moment | None]
"""A game with the same draw: its arm, the address of its page, and the first different event, here and there."""


class TableData(TypedDict):
    """A table of texts. `columns` may be empty."""

    columns: list[str]
    rows: list[list[str]]


class Beside(TypedDict):
    """A bidder's thoughts beside the facts. `off` lists the rows that differ, and `note` explains the table."""

    title: str
    note: NotRequired[str]
    columns: list[str]
    rows: list[list[str]]
    off: list[int]


class CallData(TypedDict):
    """A model call. `prompt`, `reply` and `reasoning` are indices in the chunk's texts, or empty if not recorded.

    `tokens` are input, cached input, output and reasoning. `dollars` is None if the price is not known. `notes`
    are further remarks in words.
    """

    attempt: int
    outcome: str
    model: str
    answered_by: str
    prompt: list[int]
    reply: int | None
    error: str
    tokens: tuple[int, int, int, int]
    dollars: float | None
    seconds: float
    retries: int
    cached: bool
    reasoning: int | None
    notes: list[str]


class DecisionData(TypedDict):
    """The thoughts and decision of a bidder at one moment: the calls that led to it, and tables beside the truth."""

    bidder: str
    what: str
    item: str
    round: int
    calls: list[CallData]
    beside: list[Beside]


class Chunk(TypedDict):
    """Entries and marks in order, boards by viewer ("": the analyst), decisions by number, and the texts of calls.

    A decision that comes again, in this chunk or in a later one, replaces the earlier one.
    """

    entries: list[EntryRow]
    boards: dict[str, list[BoardRow]]
    marks: list[MarkRow]
    decisions: dict[str, DecisionData]
    texts: list[str]


class Head(TypedDict):
    """The subject and contents of a page. `chunks` maps entries to files (empty: the entries are in the page).

    `viewers` are the seats, and "" for the analyst, whose boards and marks the page has. `marks` is the file of all
    marks if entries are in files. `others` are the games with the same draw in other arms of an experiment.
    """

    title: str
    game: str
    harbor: str
    simulated: bool
    seat: str
    seats: list[str]
    viewers: list[str]
    pictures: list[PictureRow]
    players: list[tuple[str, str, str]]
    notes: list[str]
    length: int
    parts: str
    places: list[Place]
    standings: TableData
    chunks: list[tuple[int, int, str]]
    marks: NotRequired[str]
    others: NotRequired[list[OtherRow]]
    back: NotRequired[str]


def json_of(data: object) -> str:
    """Return data as JSON. NaN and infinity, which a log from another user may hold, become null."""
    try:
        return json.dumps(data, separators=(",", ":"), allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(data), parse_constant=lambda _: None)
        return json.dumps(plain, separators=(",", ":"))
