"""What a game shows at a moment, as data: a headline, a state, and rows of texts. Whoever draws it knows no game.

A board is a fold over events. The board of a viewer is the fold over what that viewer may see, so it can't show more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from harbor._core.errors import ConfigError, HarborError, of_strangers
from harbor._core.event_texts import plain_sentence
from harbor._core.events import (
    BiddersAsked,
    BidderSeated,
    BidderWithdrew,
    BidFailed,
    BidPlaced,
    Event,
    LotClosed,
    Paused,
    PublicEvent,
)
from harbor._core.money import dollars

T = TypeVar("T")


class Shown(NamedTuple):
    """What a board shows: what it is about, how that stands, and a table; `columns` names the cells of each row."""

    headline: str = ""
    state: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Board(Protocol):
    """What a game shows, as a fold over the events that a viewer may see, in order."""

    def note(self, event: Event) -> None:
        """Take one event in."""
        ...

    def shown(self) -> Shown:
        """Give what there is to see now."""
        ...


class PlainBoard:
    """The board of a game that brings none: what was said last, and who thinks, bids or is out."""

    def __init__(self) -> None:
        self._item = self._said = ""
        self._doing: dict[str, str] = {}

    def note(self, event: Event) -> None:
        """Take one event in; the bidders are those who are seated, asked or named."""
        self._item = getattr(event, "item", self._item) if isinstance(event, PublicEvent) else self._item
        doing(self._doing, event)
        match event:
            case BidderSeated(bidder=bidder):
                self._doing.setdefault(bidder, "")
            case LotClosed():
                self._doing = dict.fromkeys(self._doing, "")
                self._said = event.words or plain_sentence(event)
            case BiddersAsked() | BidPlaced() | BidderWithdrew() | Paused():
                pass
            case PublicEvent():
                self._said = event.words or self._said

    def shown(self) -> Shown:
        """Give the item, what was said last, and who does what."""
        return Shown(str(self._item), self._said, ("bidder", "now"), tuple(self._doing.items()))


def doing(now: dict[str, str], event: Event) -> None:
    """Write down who thinks, bids, is refused or is out, as any game's events tell it."""
    match event:
        case BiddersAsked(bidders=bidders):
            now |= dict.fromkeys(bidders, "thinks")
        case BidPlaced(bidder=bidder, amount=amount):
            now[bidder] = f"bids {dollars(amount)}"
        case BidderWithdrew(bidder=bidder, reason=reason):
            now[bidder] = "out" if reason == "declined" else f"out ({reason})"
        case BidFailed(bidder=bidder, reason=reason):
            now[bidder] = f"refused: {reason}"


class GuardedBoard:
    """A board that may be a stranger's: one that fails is told of in one line, and a plain one takes its place.

    Args:
        name: of the game.
        make: makes its board.
    """

    def __init__(self, name: str, make: Callable[[], Board]) -> None:
        self._what = f"the board of the game {name!r}"
        self.complaint = ""
        self._plain = PlainBoard()
        self._own: Board = self._try(lambda: _made(make)) or self._plain

    def note(self, event: Event) -> None:
        """Take one event in."""
        if self._own is not self._plain:
            self._try(lambda: self._own.note(event))
        self._plain.note(event)

    def shown(self) -> Shown:
        """Give what there is to see now."""
        shown = self._try(lambda: checked(self._own.shown()))
        return shown if shown is not None else self._plain.shown()

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


def checked(shown: Shown) -> Shown:
    """Refuse what is no table of texts.

    Raises:
        ConfigError: it says what is wrong.
    """
    if not isinstance(shown, Shown):
        raise ConfigError(f"a board shows {type(shown).__name__!r}; give a Shown")
    texts = (shown.headline, shown.state, *shown.columns, *(cell for row in shown.rows for cell in row))
    if strange := [text for text in texts if not isinstance(text, str)]:
        raise ConfigError(f"a board shows {strange[0]!r}, which is no text; write it as one")
    if uneven := [row for row in shown.rows if len(row) != len(shown.columns)]:
        raise ConfigError(f"a board shows {uneven[0]!r} under {len(shown.columns)} columns; give each a cell")
    return shown
