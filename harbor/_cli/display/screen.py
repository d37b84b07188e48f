"""Display of a running auction: a live board in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from harbor._cli.display.progress import LiveLine, told_each_minute
from harbor._cli.display.render import cell
from harbor._core.basics.actions import printable
from harbor._core.basics.numbers import dollars
from harbor._core.log.acts import Acted
from harbor._core.log.events import (
    AuctionHeld,
    BiddersAsked,
    BidderWithdrew,
    Event,
    LogOpened,
    LotOpened,
    Paused,
    PrivateEvent,
    PublicEvent,
    SeriesOpened,
)
from harbor._core.log.log_entries import Entry
from harbor._games.board import GuardedBoard, PlainBoard, Shown
from harbor._games.game import game_of
from harbor._house.auctioneer import announce

if TYPE_CHECKING:
    from collections.abc import Callable

BARS = "▁▂▃▄▅▆▇█"
"""Bars of a price chart, lowest to highest."""
MOST_PRICES = 40
"""The greatest number of prices of an item that are drawn: the last ones."""
EVERYBODY = "the bidders"
"""Name for all bidders during a pause."""


class Ticker:
    """The prices of the item and the start of each bidder's thinking, as a fold over the log."""

    def __init__(self) -> None:
        self._prices: list[Decimal] = []
        self._since: dict[str, float] = {}

    def note(self, event: Event, now: float) -> None:
        """Update from one event; `now` is its time on a clock, in seconds."""
        match event:
            case LotOpened(called=price):
                self._prices, self._since = [] if price is None else [price], {}
            case PublicEvent(called=Decimal() as price):
                self._prices, self._since = [*self._prices, price], {}
            case BiddersAsked(bidders=bidders):
                self._since = dict.fromkeys(bidders, now)
            case Paused():
                self._since = {EVERYBODY: now}
            case PrivateEvent(bidder=bidder) | Acted(bidder=bidder) | BidderWithdrew(bidder=bidder):
                self._since = {name: since for name, since in self._since.items() if name != bidder}
            case PublicEvent():
                self._since = {}

    def prices(self) -> str:
        """Return the prices of the item as a line of bars, lowest to highest; empty before the second."""
        shown = self._prices[-MOST_PRICES:]
        if len(shown) < 2:
            return ""
        low, high = min(shown), max(shown)
        steps = [int((price - low) / ((high - low) or 1) * (len(BARS) - 1)) for price in shown]
        return f"price {dollars(shown[0])} {''.join(BARS[step] for step in steps)} {dollars(shown[-1])}"

    def thinking(self, now: float) -> str:
        """Return the thinking bidders with their whole seconds, without those below one second."""
        waited = {name: int(now - since) for name, since in self._since.items()}
        told = ", ".join(f"{name} {seconds} s" for name, seconds in waited.items() if seconds)
        return f"thinking: {told}" if told else ""


FRAME_SECONDS = 0.06
"""Least seconds between two frames of the board."""
REFRESHED = 2
"""Redraws per second without events, to update the seconds that bidders have been thinking."""


def drawn(shown: Shown, title: str = "", below: Sequence[str] = (), last: Sequence[LiveLine] = ()) -> Group:
    """Return the drawing of a board, with lines below its state, and lines at the end."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in shown.columns:
        table.add_column(cell(name))
    for row in shown.rows:
        table.add_row(*map(cell, row))
    headline = ". ".join(filter(None, (title, shown.headline)))
    lines = [Text(printable(line)) for line in (shown.state, *below)]
    return Group(Text(printable(headline), style="bold"), *lines, *([table] if shown.columns else []), *last)


@contextmanager
def watching(console: Console) -> Iterator[Callable[[Entry], None]]:
    """Show a running auction: a board in a terminal, else a line per event or per auction of a series."""
    if not console.is_terminal:
        with told_each_minute():
            yield _Lines(console)
        return
    with Live(console=console, refresh_per_second=REFRESHED) as live:  # redraws show the seconds without events
        boards = _Boards(live)
        live.update(boards)
        yield boards
        boards.draw()


class _Boards:
    """The board of the running auction; in a series, a line for each auction before is above it."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._title = ""
        self._board, self._told = GuardedBoard("", PlainBoard), ""
        self._drawn = time.monotonic()
        self._done, self._length = 0, 0
        self._ticker = Ticker()
        self._shown = Shown()

    def __rich__(self) -> Group:
        """Return the last drawing. A thread of the screen calls this too, so it does not read the board."""
        prices = self._ticker.prices() if "UTF" in self._live.console.encoding.upper() else ""
        return drawn(self._shown, self._title, [prices, self._ticker.thinking(time.monotonic())], [LiveLine()])

    def __call__(self, entry: Entry) -> None:
        match entry.event:
            case SeriesOpened(auctions=auctions):
                self._length = auctions
            case AuctionHeld() as done:
                self._done = done.auction
                self._live.console.print(Text(printable(_progress(done, self._length))))
            case LogOpened():
                game = game_of([entry])
                self._title = f"Auction {self._done + 1} of {self._length}" if self._length else ""
                self._board = GuardedBoard(game.name, game.board)
        self._note(entry.event)
        if time.monotonic() - self._drawn >= FRAME_SECONDS:
            self.draw()

    def draw(self) -> None:
        """Draw the current board."""
        self._shown = self._board.shown()
        self._live.refresh()
        self._drawn = time.monotonic()

    def _note(self, event: Event) -> None:
        """Update from an event; print the complaint of a failed board once, above the plain board that replaces it."""
        self._ticker.note(event, time.monotonic())
        self._board.note(event)
        if self._board.complaint != self._told:
            self._told = self._board.complaint
            self._live.console.print(Text(printable(self._board.complaint)))


class _Lines:
    """Prints announcements; if the reader has gone, it falls silent and the auction goes on."""

    def __init__(self, console: Console) -> None:
        self._console: Console | None = console
        self._length = 0

    def __call__(self, entry: Entry) -> None:
        if isinstance(entry.event, SeriesOpened):
            self._length = entry.event.auctions
        line = _progress(entry.event, self._length) if self._length else announce(entry.event)
        if self._console is None or not line:
            return
        try:
            self._console.print(Text(printable(line)), soft_wrap=True)
        except OSError:
            self._console = None


def _progress(event: Event, length: int) -> str:
    """Return a line on an auction of a series that is over; empty for any other event."""
    if not isinstance(event, AuctionHeld):
        return ""
    ranked = sorted(event.ranks.items(), key=lambda one: one[1])
    told = ", ".join(f"{rank}. {bidder} {dollars(event.profits[bidder])}" for bidder, rank in ranked)
    return f"Auction {event.auction} of {length}: {told}"
