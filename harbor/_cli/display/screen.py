"""What a person sees while an auction runs: a live board in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from harbor._cli.display.render import cell
from harbor._core.events import (
    AuctionHeld,
    BiddersAsked,
    BidderSeated,
    BidderWithdrew,
    BidPlaced,
    Event,
    ItemOpened,
    ItemSold,
    ItemUnsold,
    LogOpened,
    Paused,
    PriceLowered,
    PublicEvent,
    RoundClosed,
    SaleOpened,
    SeriesOpened,
)
from harbor._core.log_lines import Entry
from harbor._core.money import dollars
from harbor._core.parsing import printable
from harbor._house.auctioneer import announce

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME_SECONDS = 0.06
"""The least time between two frames of the board."""


class Board:
    """The item under the hammer and the bidders, as a fold over the log."""

    def __init__(self, title: str = "") -> None:
        self._title = title
        self._items = 0
        self._closed = 0
        self._headline = ""
        self._status = ""
        self._budgets: dict[str, Decimal] = {}
        self._won: Counter[str] = Counter()
        self._doing: dict[str, str] = {}

    def note(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case BidderSeated(bidder=bidder, budget=budget):
                self._budgets[bidder] = budget
            case SaleOpened(lots=lots):
                self._items = len(lots)
            case ItemOpened(item=item, start=start) | PriceLowered(item=item, start=start):
                self._headline = f"Item {self._closed + 1} of {self._items}: {item}, from {dollars(start)}"
                self._status, self._doing = "no bid yet", {}
            case BidPlaced(bidder=bidder, amount=amount):
                self._doing[bidder] = f"bids {dollars(amount)}"
            case BidderWithdrew(bidder=bidder, reason=reason):
                self._doing[bidder] = "out" if reason == "declined" else f"out ({reason})"
            case RoundClosed(leader=leader, price=price, round=round):
                self._status = f"round {round}: {leader} leads with {dollars(price)}"
            case ItemSold(winner=winner, price=price):
                self._closed += 1
                self._budgets[winner] -= price
                self._won[winner] += 1
                self._status = f"sold to {winner} for {dollars(price)}"
            case ItemUnsold():
                self._closed += 1
                self._status = "not sold"
            case BiddersAsked(bidders=bidders):
                self._doing |= dict.fromkeys(bidders, "thinks")
            case Paused():
                self._status += "; the bidders think"
            case _ if isinstance(event, PublicEvent) and event.words:  # of the other games
                self._headline, self._status, self._doing = self._status, event.words, {}

    def render(self) -> Group:
        """Draw the board."""
        budgets = ("budget left", "items") if self._items else ()  # only the ascending auction has them
        table = Table("bidder", *budgets, "now", expand=False)
        for bidder, budget in self._budgets.items():
            left = (dollars(budget), str(self._won[bidder])) if budgets else ()
            table.add_row(cell(bidder), *left, cell(self._doing.get(bidder, "")))
        headline = ". ".join(filter(None, (self._title, self._headline)))
        return Group(Text(printable(headline), style="bold"), Text(printable(self._status)), table)


@contextmanager
def watching(console: Console) -> Iterator[Callable[[Entry], None]]:
    """Show an auction while it runs: a board in a terminal, else a line an event, or of a series a line an auction."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    with Live(Board().render(), console=console, auto_refresh=False) as live:
        boards = _Boards(live)
        yield boards
        boards.draw()


class _Boards:
    """The board of the auction that runs; above it, in a series, a line for each auction before."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._board = Board()
        self._drawn = time.monotonic()
        self._done, self._length = 0, 0

    def __call__(self, entry: Entry) -> None:
        match entry.event:
            case SeriesOpened(auctions=auctions):
                self._length = auctions
            case AuctionHeld() as done:
                self._done = done.auction
                self._live.console.print(Text(printable(_progress(done, self._length))))
            case LogOpened() if self._length:
                self._board = Board(f"Auction {self._done + 1} of {self._length}")
        self._board.note(entry.event)
        if time.monotonic() - self._drawn >= FRAME_SECONDS:
            self.draw()

    def draw(self) -> None:
        """Draw the board as it is now."""
        self._live.update(self._board.render(), refresh=True)
        self._drawn = time.monotonic()


class _Lines:
    """Prints what is announced; where nobody reads any more it goes quiet, and the auction goes on."""

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
    """Say in a line how an auction of a series went; of anything else, nothing."""
    if not isinstance(event, AuctionHeld):
        return ""
    ranked = sorted(event.ranks.items(), key=lambda one: one[1])
    told = ", ".join(f"{rank}. {bidder} {dollars(event.profits[bidder])}" for bidder, rank in ranked)
    return f"Auction {event.auction} of {length}: {told}"
