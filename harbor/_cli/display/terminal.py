"""A person at a terminal sees everything that the seat may see, and types answers line by line in limited time."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeVar

from harbor._cli.display.render import width, wrapped
from harbor._config.auction import Bidder
from harbor._core.asking.asks import Unreadable
from harbor._core.basics.actions import printable
from harbor._core.basics.loops import running_seconds
from harbor._core.basics.numbers import dollars
from harbor._core.log.acts import Signal
from harbor._core.log.events import Event, Listed, LogOpened, SeriesOpened
from harbor._core.log.log_entries import Entry, is_seen_by
from harbor._games.board import GuardedBoard, PlainBoard, Shown
from harbor._games.game import game_of
from harbor._games.outcomes import Sale, sales, told_by, values_of
from harbor._house.auctioneer import answer_to, call, told_to
from harbor._house.people import Call, Person
from harbor._runs.inputs import Listener

TICK_SECONDS = 1.0
"""Seconds between two checks of the clock."""
MARKS = (60, 30, 10, 5, 4, 3, 2, 1)
"""Seconds left at which the display of the time is updated; before, each full minute."""


def is_due(told: float, left: int) -> bool:
    """Return whether a full minute or one of `MARKS` has passed since the time was last shown."""
    return any(left <= mark < told for mark in (*range(120, int(told) + 1, 60), *MARKS))


class Clock:
    """Counts down from the seconds of a seat.

    At a terminal the clock rewrites the line above the prompt, and saves and restores the cursor of the person. Without
    a terminal it writes nothing. Updates are rare, because a screen reader may read out each change.
    """

    def __init__(self, seconds: float) -> None:
        self._until = running_seconds() + seconds
        self._told = seconds
        self._first = True

    def told(self) -> str:
        """Return the time left in words; the first time, the whole time."""
        if not self._first:
            self._told = self._left()
        self._first = False
        return f"You have {self._told:g} s."

    async def awaits(self, typed: asyncio.Future[str], over: asyncio.Future[Any]) -> bool:
        """Wait for a line, and return whether it came before the call was over."""
        either: set[asyncio.Future[Any]] = {typed, over}
        while not (typed.done() or over.done()):
            await asyncio.wait(either, timeout=TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not (typed.done() or over.done()) and is_due(self._told, self._left()):
                self._show()
        return not over.done()

    def _left(self) -> int:
        return max(0, int(self._until - running_seconds()))

    def _show(self) -> None:
        if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            sys.stdout.write(f"\x1b7\x1b[1A\r{self.told()}\x1b[K\x1b8")
            sys.stdout.flush()


def anybody_there() -> bool:
    """Return whether answers can come from the standard input: a terminal, a pipe or a file."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return sys.stdin.isatty() or not stat.S_ISCHR(mode)
    except (AttributeError, OSError, ValueError):  # no standard input, or a closed one
        return False


class Keyboard:
    """Lines of the standard input, read in a thread of their own, so that waiting for one delays nothing."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._started = False

    def start(self) -> None:
        """Start the reading thread once; it ends with the input or the program."""
        if self._started:
            return
        self._started = True
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()

    async def line(self) -> str:
        """Wait for a line.

        Raises:
            EOFError: the input has ended.
        """
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
            raise EOFError
        return line

    def forget(self) -> int:
        """Drop and count lines typed before anything was asked; keep them all if the input is no terminal."""
        typed = [self._lines.get_nowait() for _ in range(self._lines.qsize())]
        if sys.stdin.isatty() and None not in typed:
            return len(typed)
        for line in typed:
            self._lines.put_nowait(line)
        return 0

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        # Unbuffered: a thread that waits in the buffer of sys.stdin would block the exit of the program.
        with suppress(RuntimeError), open(0, "rb", buffering=0, closefd=False) as typed:
            while line := typed.readline():
                loop.call_soon_threadsafe(self._lines.put_nowait, line.decode(errors="replace"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)


def situation(call: Call) -> list[str]:
    """Return the facts that a person should see when a new item is for sale."""
    return [*_item(call.ask.item, call.seen), *_standings(call.seen)]


def _item(item: str, seen: Sequence[Event]) -> Iterator[str]:
    for event in seen:
        if isinstance(event, Listed):
            yield from (f"{lot.name}: {lot.listing}" for lot in event.lots if lot.name == item and lot.listing)
        elif isinstance(event, Signal) and event.noisy and item in event.values:
            yield f"Your estimate: {dollars(event.values[item])}."


def own_items(name: str, seen: Sequence[Event]) -> Iterator[str]:
    """Yield a line for each item that a bidder has bought."""
    values = values_of(seen)
    for item, sale in _listed_sales(seen).items():
        if sale.winner == name:
            worth = f", worth {dollars(values[item])}" if item in values else ""
            yield f"You bought {item} for {dollars(sale.price)}{worth}."


def _standings(seen: Sequence[Event]) -> Iterator[str]:
    """Yield a line for each winner: items, money spent and, if values are revealed, profit."""
    values, won = values_of(seen), dict[str, dict[str, Decimal]]()
    for item, sale in _listed_sales(seen).items():
        won.setdefault(sale.winner, {})[item] = sale.price
    for winner, wins in won.items():
        spent, items = sum(wins.values(), Decimal(0)), "item" if len(wins) == 1 else "items"
        earned = sum((values[item] - price for item, price in wins.items() if item in values), Decimal(0))
        yield f"So far {winner}: {len(wins)} {items} for {dollars(spent)}" + (
            f", profit {dollars(earned)}." if values else "."
        )


def _listed_sales(seen: Sequence[Event]) -> dict[str, Sale]:
    """Return the sales of items that were listed before the game; boards show runs and days."""
    listed = {lot.name for event in seen if isinstance(event, Listed) for lot in event.lots}
    return {item: sale for item, sale in sales(told_by(seen)).items() if item in listed}


R = TypeVar("R")
PROMPT = "> "
"""Prompt of the input line."""
HELP = """pass: withdraw
standings: how everybody stands, and what you have bought
quit: pause the auction, as Ctrl-C does; it can be resumed"""
"""Words that a person may type beside an answer."""
_SAY = re.compile(r" Say '[^\n]*\Z")
"""The end of a call, which tells an agent how to answer; a person may type less."""


async def at_the_terminal(
    bidder: Bidder, begin: Callable[[Listener, Mapping[str, Person]], Awaitable[R]], keys: Keyboard | None = None
) -> R:
    """Run an auction with a person at this terminal.

    Args:
        bidder: the person's bidder.
        begin: runs the auction, given a listener and the person by its bidder's name.
        keys: keyboard, if one person plays in several auctions (None: in this one only).

    Raises:
        EOFError: the input ended; the auction was stopped, and can be resumed.
    """
    person = Person()
    terminal = Terminal(bidder, person, keys or Keyboard())
    running = asyncio.ensure_future(begin(terminal.hear, {bidder.name: person}))
    served = asyncio.ensure_future(terminal.serve())
    try:
        await asyncio.wait({running, served}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await served
        return await running
    finally:
        served.cancel()
        running.cancel()
        await asyncio.wait({running, served})


class Terminal:
    """A client of a `Person`; it prints only public events, and events private to its bidder."""

    def __init__(self, bidder: Bidder, person: Person, keys: Keyboard) -> None:
        self._bidder = bidder
        self._person = person
        self._item = ""
        self._keys = keys
        self._board = GuardedBoard("", PlainBoard)
        self._told_of_dropped = False

    def hear(self, entry: Entry) -> None:
        """Print news as it happens."""
        if isinstance(entry.event, LogOpened):
            game = game_of([entry])
            self._board = GuardedBoard(game.name, game.board)
        if entry.seq == 1 and not isinstance(entry.event, SeriesOpened):
            self._item = ""
            _print(f"You are {self._bidder.name}. Ctrl-C pauses the auction; type help for the other commands.")
        if is_seen_by(self._bidder.name, entry.event):
            self._board.note(entry.event)
            for line in told_to(self._bidder.name, entry.event):
                _print(line)

    async def serve(self) -> None:
        """Pass calls to the person, as long as there is input.

        Raises:
            EOFError: the input has ended, or the person has quit.
        """
        self._keys.start()
        while True:
            asked = await self._person.asks.get()
            if asked is not None:
                await self._put(asked)

    async def _put(self, asked: Call) -> None:
        if asked.ask.item != self._item:
            for line in situation(asked):
                _print(line)
        self._item = asked.ask.item
        _print(f"{_SAY.sub('', call(asked.ask))} Type {asked.ask.space.hint}.")
        if self._keys.forget() and not self._told_of_dropped:
            self._told_of_dropped = True
            _print("Input typed before the question is dropped.")
        over = asyncio.ensure_future(self._person.asks.get())
        try:
            words = await self._words(asked, over)
        finally:
            over.cancel()
        if words is None:
            _print("Your time is up: that counts as a withdrawal.")
        else:
            self._person.answers.put_nowait(words)

    async def _words(self, asked: Call, over: asyncio.Future[Call | None]) -> str | None:
        """Read lines until one is an answer; return None if time runs out before that."""
        clock = Clock(self._bidder.timeout_seconds)
        while True:
            _print(clock.told())
            sys.stdout.write(PROMPT)
            sys.stdout.flush()
            typed = asyncio.ensure_future(self._keys.line())
            try:
                if not await clock.awaits(typed, over):
                    return None
                words = typed.result().strip()
            finally:
                typed.cancel()
            if (answer := self._answer(asked, words)) is not None:
                return answer

    def _answer(self, asked: Call, words: str) -> str | None:
        """Return words that are an answer; else obey a command or explain how to answer, and return None.

        Raises:
            EOFError: the person quits.
        """
        found = answer_to(asked.ask, words)
        if not isinstance(found, Unreadable):
            return words
        match words.lower():
            case "help" | "?":
                _print(f"Type {asked.ask.space.hint}.\n{HELP}")
            case "standings":
                for line in [*_rows(self._board.shown()), *own_items(self._bidder.name, asked.seen)]:
                    _print(line)
            case "quit":
                raise EOFError
            case "":
                _print(f"Nothing was typed. Type {asked.ask.space.hint}, or: help")
            case _:
                _print(f"That can't be read: {found.reason}. Type {asked.ask.space.hint}, or: help")
        return None


def _rows(shown: Shown) -> list[str]:
    """Return each row of a board as a line, without empty cells."""
    lines = []
    for first, *rest in shown.rows:
        told = (
            text if name == "now" else f"{name} {text}"
            for name, text in zip(shown.columns[1:], rest, strict=True)
            if text
        )
        lines.append(f"{first}: {', '.join(told)}")
    return [shown.state, *lines]


def _print(text: str) -> None:
    if sys.stdout.isatty():
        text = "\n".join(wrapped(line, width()) for line in text.split("\n"))
    sys.stdout.write("\n".join(map(printable, text.split("\n"))) + "\n")
    sys.stdout.flush()
