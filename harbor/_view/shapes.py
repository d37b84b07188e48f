"""The data of a page: one `Head`, and `Chunk`s of its entries. All of it is texts and numbers, which the page shows."""

from __future__ import annotations

import json
from typing import NotRequired, TypedDict

Field = tuple[str, str]
"""The name of a field, and what it has, as a text."""
EntryRow = tuple[int, float, str, str, str, list[Field], int | None]
"""Number, seconds, audience, type, words, fields, and the number of the decision that it belongs to or came of."""
WholeBoard = tuple[str, str, list[str], list[list[str]]]
"""What a board shows: headline, state, columns, rows."""
ChangedBoard = tuple[str, str, dict[str, list[str]]]
"""What a board shows whose columns stay: headline, state, and the rows that have changed, by their places."""
BoardRow = tuple[int, WholeBoard | ChangedBoard]
"""The number of the entry from which on a board shows this; the first of a chunk is whole."""
Place = tuple[int, str, str]
"""The number of an entry where a part or a round begins or all is over, "part", "round" or "end", and its name."""


PictureRow = tuple[str, str, str, str, str, bool, str]
"""A picture: its name, title, titles of x and y, how y is written, whether each part has its own, how x is written."""
MarkRow = tuple[int, int, str, str, str, str, float | str | None, float | None, float | None, int]
"""The number of the entry that adds a mark, the place of its picture in the head, panel, series, role, kind, x, y,
the upper end, and who sees it: the sum of 2 ** place of each of the head's `viewers`."""
Moment = tuple[int, str]
"""The number of an event, -1 for the end of the log, and its words."""
OtherRow = tuple[str, str, Moment | None, Moment | None]
"""A game of the same draw: its arm, the address of its page, and the first event that differs, here and there."""


class TableData(TypedDict):
    """A table of texts; `columns` may be none."""

    columns: list[str]
    rows: list[list[str]]


class Beside(TypedDict):
    """What a bidder thought beside what was so; `off` are the rows that differ, and `note` says how to read it."""

    title: str
    note: NotRequired[str]
    columns: list[str]
    rows: list[list[str]]
    off: list[int]


class CallData(TypedDict):
    """A model call; `prompt`, `reply` and `reasoning` are places in the texts of the chunk, none if not recorded.

    `tokens` are input, cached input, output and reasoning; `dollars` is None where the price is not known. `notes`
    say in words what else there is to it.
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
    """What a bidder thought and decided at one moment: the calls that led to it, and tables beside the truth."""

    bidder: str
    what: str
    item: str
    round: int
    calls: list[CallData]
    beside: list[Beside]


class Chunk(TypedDict):
    """Entries and marks in order, boards by viewer ("": the analyst), decisions by number, texts that calls refer to.

    A decision that comes again, in this chunk or in a later one, replaces what was known of it.
    """

    entries: list[EntryRow]
    boards: dict[str, list[BoardRow]]
    marks: list[MarkRow]
    decisions: dict[str, DecisionData]
    texts: list[str]


class Head(TypedDict):
    """What a page is of. `chunks` says which entries are in which file (none: they stand in the page).

    `viewers` are those whose boards and marks are there: seats, and "" for the analyst. `marks` is the file of all
    marks, where entries are in files; `others` are the games of the same draw in other arms of an experiment.
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
    """Write data as JSON; what JSON has no number for, which a log that was sent may have, is null."""
    try:
        return json.dumps(data, separators=(",", ":"), allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(data), parse_constant=lambda _: None)
        return json.dumps(plain, separators=(",", ":"))
