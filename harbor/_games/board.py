"""A board and its pictures show a game at a moment, as rows of texts and marks. The drawing code knows no game.

A board is a fold over events, and so are the marks that events add to pictures. A viewer's board is the fold over
the events that the viewer may see, so neither can show more than the viewer knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.basics.numbers import Money
from harbor._core.basics.redaction import of_strangers
from harbor._core.log.acts import Acted, Tried
from harbor._core.log.events import BiddersAsked, BidderSeated, BidderWithdrew, Event, LotClosed, Paused, PublicEvent
from harbor._core.log.log_entries import plain_sentence

Kind = Literal["line", "step", "point", "bar", "band"]
Scale = Literal["dollars", "number", "share"]
Number = Decimal | float
MOST = 10**15
"""The largest number that is drawn. Above it, a double has no cents, and all else on the picture is flat."""

OF_THOUGHTS = "beliefs", "expected", "profiles"
"""Names of the pictures of the bidders' thoughts, which every game has."""


class Picture(NamedTuple):
    """A chart of a game that pages show: its name, its title, and the titles `x` and `y` of its axes.

    `scale` says how the numbers of the y-axis are written, and `x_scale` how the numbers of the x-axis are written.
    With `of_part`, each part of the game (an item, a run or a day) has a chart of its own, and the page shows the chart
    of the current part. If a game has a picture with the name "bids", Harbor also draws the limits of bidders in it.

    >>> Picture("bids", "Bids", x="round", y="bid").scale
    'dollars'
    """

    name: str
    title: str
    x: str
    y: str
    scale: Scale = "dollars"
    of_part: bool = False
    x_scale: Scale = "number"


class Mark(NamedTuple):
    """A mark that an event adds to a picture, such as a point or a bar.

    Marks with the same picture, series, role and panel belong together. A "line" joins their points in the order of x.
    A "step" keeps the y of each mark up to the x of the next mark. A "band" fills the range from `y` to `high`. Of
    marks that belong together, only the last bar at each x is drawn, and only the last mark without an x.

    >>> Mark("bids", "Ann", "bid", "point", y=Decimal(30), x=1).series
    'Ann'

    Attributes:
        picture: The name of the picture.
        series: The name of a bidder, which has the same colour in all pictures, or another name, such as "price".
        role: The meaning of the mark, such as "bid" or "limit". In the table beside the picture, it is the name of a
            column.
        kind: The shape that is drawn.
        y: The vertical position; None ends a line or step.
        x: The horizontal position, a number or a name; None draws a horizontal line across the whole picture.
        high: The upper end of a band.
        panel: If each bidder or each pair of bidders has a version of the picture, the name of that bidder or pair,
            such as "Ann" or "Ann of Ben"; the page shows one version at a time.
    """

    picture: str
    series: str
    role: str
    kind: Kind
    y: Number | None
    x: Number | str | None = None
    high: Number | None = None
    panel: str = ""


def checked_marks(marks: Iterable[Mark], pictures: Sequence[Picture]) -> list[Mark]:
    """Return the marks; refuse any that can't be drawn.

    Raises:
        ConfigError: a mark is no `Mark`, has no picture or kind, a label that is no text, or a bad number.
    """
    found = list(marks)
    for mark in found:
        if not isinstance(mark, Mark):
            raise ConfigError(f"a board draws {mark!r}; give a Mark")
        if mark.picture not in [one.name for one in pictures]:
            raise ConfigError(f"a mark is of the picture {mark.picture!r}; name it among the board's pictures")
        if mark.kind not in get_args(Kind):
            raise ConfigError(f"a mark is drawn as {mark.kind!r}; choose one of: {', '.join(get_args(Kind))}")
        if not all(isinstance(one, str) for one in (mark.series, mark.role, mark.panel)):
            raise ConfigError(f"the series, the role or the panel of {mark!r} is no text; write it as one")
        if not is_drawable(mark):
            raise ConfigError(f"{mark!r} does not stand at finite numbers up to {MOST:,}; mend y, x or high")
    return found


def checked_pictures(pictures: Sequence[Picture]) -> list[Picture]:
    """Return the pictures; refuse any that can't be announced to a page.

    Raises:
        ConfigError: a picture is no `Picture`, lacks texts or a scale, or its name is taken.
    """
    found, names = list(pictures), set(OF_THOUGHTS)
    for one in found:
        if not isinstance(one, Picture) or not all(isinstance(text, str) for text in one[:4]):
            raise ConfigError(f"a board has the picture {one!r}; give a Picture with texts")
        if one.scale not in get_args(Scale) or one.x_scale not in get_args(Scale):
            raise ConfigError(f"the picture {one.name!r} has no scale of: {', '.join(get_args(Scale))}; choose one")
        if one.name in names:
            raise ConfigError(f"the picture {one.name!r} is there already; call it something else")
        names.add(one.name)
    return found


def is_drawable(mark: Mark) -> bool:
    """Return whether all numbers of a mark are finite and at most `MOST` in size; None is allowed."""
    return all(
        one is None or _is_number(one) for one in (mark.y, mark.high, None if isinstance(mark.x, str) else mark.x)
    )


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return False
    return not (isinstance(value, Decimal) and value.is_nan()) and -MOST <= value <= MOST


T = TypeVar("T")


class Shown(NamedTuple):
    """The content that the display of a game shows at one moment: a headline, the state of the game, and a table.

    `columns` are the names of the table's columns. Each of the `rows` has one text per column.

    >>> Shown("Vase", "opens at $30", ("bidder",), (("Ann",),)).rows
    (('Ann',),)
    """

    headline: str = ""
    state: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Board(Protocol):
    """The display of a game for one viewer.

    Harbor calls `note` with each event that the viewer may see, in order, and then `shown`. To be fast, `shown` should
    return the same tuple for a row that has not changed. A board with charts also has a property `pictures`, the list
    of these charts, and a method `marks(event)`, which returns the marks that an event adds to the charts. Harbor calls
    `marks(event)` after `note(event)`.
    """

    def note(self, event: Event) -> None:
        """Take note of one event, which may change the content."""
        ...

    def shown(self) -> Shown:
        """Return the content after all events so far."""
        ...


class Rows:
    """The table of a board, one row per bidder. A row is rebuilt only if one of its cells has changed.

    Args:
        columns: their names; the first is that of the bidders.
        known: the columns that are left out as long as they are empty.
    """

    def __init__(self, columns: tuple[str, ...], known: Iterable[str] = ()) -> None:
        self._first, self._known = columns[0], frozenset(known)
        self._cells: dict[str, dict[str, str]] = {column: {} for column in columns[1:]}
        self._made: dict[str, tuple[str, ...]] = {}
        self._stale: set[str] = set()
        self._told: tuple[str, ...] = ()

    def seat(self, bidders: Iterable[str]) -> None:
        """Keep one row for each of these bidders, in their order, and no other rows."""
        self._made = {bidder: self._made.get(bidder, ()) for bidder in bidders}
        self._stale = {*self._made}

    def put(self, column: str, texts: Mapping[str, str]) -> None:
        """Write a cell for each of these bidders; a bidder without a row gets one."""
        cells = self._cells[column]
        for bidder, text in texts.items():
            if bidder not in self._made:
                self._made[bidder] = ()
            elif cells.get(bidder) == text:
                continue
            cells[bidder] = text
            self._stale.add(bidder)

    def fill(self, column: str, text: str) -> None:
        """Write the same text in each row."""
        self.put(column, dict.fromkeys(self._made, text))

    def clear(self, column: str) -> None:
        """Empty a column."""
        self._cells[column].clear()
        self._stale = {*self._made}

    def of(self, column: str, bidder: str) -> str:
        """Return the text of a cell; empty if there is none."""
        return self._cells[column].get(bidder, "")

    def shown(self, headline: str, state: str) -> Shown:
        """Return the headline, the state and the table."""
        told = tuple(column for column, cells in self._cells.items() if cells or column not in self._known)
        for bidder in self._stale if told == self._told else self._made:
            row = (bidder, *(self._cells[column].get(bidder, "") for column in told))
            if row != self._made[bidder]:
                self._made[bidder] = row
        self._told = told
        self._stale.clear()
        return Shown(headline, state, (self._first, *told), tuple(self._made.values()))


class PlainBoard:
    """The default board: the last public words, and which bidders think, bid or are out. It draws the bids."""

    pictures = (Picture("bids", "Bids", x="round", y="bid", of_part=True),)

    def __init__(self) -> None:
        self._item = self._said = ""
        self._rows = Rows(("bidder", "now"))

    def note(self, event: Event) -> None:
        """Process one event; a bidder that is seated, asked or named gets a row."""
        self._item = getattr(event, "item", self._item) if isinstance(event, PublicEvent) else self._item
        self._rows.put("now", doing(event))
        match event:
            case BidderSeated(bidder=bidder):
                self._rows.put("now", {bidder: self._rows.of("now", bidder)})
            case LotClosed():
                self._rows.fill("now", "")
                self._said = event.words or plain_sentence(event)
            case BiddersAsked() | Acted() | BidderWithdrew() | Paused():
                pass
            case PublicEvent():
                self._said = event.words or self._said

    def shown(self) -> Shown:
        """Return the item, the last public words, and the action of each bidder."""
        return self._rows.shown(str(self._item), self._said)

    def marks(self, event: Event) -> Iterator[Mark]:
        """Yield a mark for each bid."""
        return bids_of(event)


def doing(event: Event) -> dict[str, str]:
    """Return the action by bidder that an event of any game reports: it thinks, bids, is refused or is out."""
    match event:
        case BiddersAsked(bidders=bidders):
            return dict.fromkeys(bidders, "thinks")
        case Acted(bidder=bidder, act=Withdraw(reason=reason)) | BidderWithdrew(bidder=bidder, reason=reason):
            return {bidder: "out" if reason == "declined" else f"out ({reason})"}
        case Acted(bidder=bidder):
            return {bidder: event.did}
        case Tried(bidder=bidder, reason=reason):
            return {bidder: f"refused: {reason}"}
    return {}


def bids_of(event: Event, price: Money | None = None) -> Iterator[Mark]:
    """Yield a bid as a mark; with a price, also a withdrawal, at that price."""
    match event:
        case Acted(bidder=bidder, act=Bid(amount=amount), round=round):
            yield Mark("bids", bidder, "bid", "point", amount, round)
        case Acted(bidder=bidder, act=Withdraw(), round=round) | BidderWithdrew(bidder=bidder, round=round) if (
            price is not None
        ):
            yield Mark("bids", bidder, "out", "point", price, round)


class GuardedBoard:
    """A wrapper for a board of an extension. If that board fails, a plain board replaces it.

    `complaint` then holds the failure in one line.

    Args:
        name: the name of the game.
        make: makes its board.
    """

    def __init__(self, name: str, make: Callable[[], Board]) -> None:
        self._what = f"the board of the game {name!r}"
        self.complaint = ""
        self._shown = Shown()
        self._plain = PlainBoard()
        self._own: Board = self._try(lambda: _made(make)) or self._plain

    def note(self, event: Event) -> None:
        """Process one event."""
        if self._own is not self._plain:
            self._try(lambda: self._own.note(event))
        self._plain.note(event)

    def shown(self) -> Shown:
        """Return the current content."""
        shown = self._try(lambda: checked(self._own.shown(), self._shown))
        self._shown = shown if shown is not None else self._plain.shown()
        return self._shown

    @property
    def pictures(self) -> Sequence[Picture]:
        """The pictures of the game; the bids if its board has no pictures."""
        found = self._try(lambda: checked_pictures(self._drawer.pictures))
        return self._plain.pictures if found is None else found

    def marks(self, event: Event) -> list[Mark]:
        """Return the marks that an event adds; call `note` with it first."""
        found = self._try(lambda: checked_marks(self._drawer.marks(event), self._drawer.pictures))
        return list(self._plain.marks(event)) if found is None else found

    @property
    def _drawer(self) -> Any:
        """The board that draws: the plain one if the game's own has no pictures or no marks."""
        return self._own if hasattr(self._own, "pictures") and hasattr(self._own, "marks") else self._plain

    def _try(self, call: Callable[[], T]) -> T | None:
        try:
            return of_strangers(self._what, call)
        except HarborError as error:
            self.complaint = str(error) if self._what in str(error) else f"{self._what}: {error}"
            self._own = self._plain
            return None


def _made(make: Callable[[], Board]) -> Board:
    board = make()
    if not (hasattr(board, "note") and hasattr(board, "shown")):
        raise ConfigError(f"it is {board!r}; give what has note and shown")
    return board


def checked(shown: Shown, before: Shown | None = None) -> Shown:
    """Return the content of a board if it is a table of texts; skip the rows that are the same object in `before`.

    Raises:
        ConfigError: it is no `Shown`, a text is no string, or a row has another number of cells than `columns`.
    """
    if not isinstance(shown, Shown):
        raise ConfigError(f"a board shows {type(shown).__name__!r}; give a Shown")
    known = before.rows if before is not None and len(before.columns) == len(shown.columns) else ()
    rows = [
        row
        for row, old in zip_longest(shown.rows, known[: len(shown.rows)])
        if row is not old or not isinstance(row, tuple)
    ]
    texts = (shown.headline, shown.state, *shown.columns, *(cell for row in rows for cell in row))
    if strange := [text for text in texts if not isinstance(text, str)]:
        raise ConfigError(f"a board shows {strange[0]!r}, which is no text; write it as one")
    if uneven := [row for row in rows if len(row) != len(shown.columns)]:
        raise ConfigError(f"a board shows {uneven[0]!r} under {len(shown.columns)} columns; give each a cell")
    return shown
