"""A person at a terminal: shows what its seat may see, and takes its answers line by line."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from harbor._cli.display.clock import Clock
from harbor._cli.display.fitting import width, wrapped
from harbor._cli.display.keyboard import Keyboard
from harbor._cli.display.narration import own_items, situation
from harbor._config.auction import Bidder
from harbor._core.asks import Unreadable
from harbor._core.events import LogOpened, SeriesOpened
from harbor._core.log_lines import Entry, is_seen_by
from harbor._core.parsing import printable
from harbor._games.board import GuardedBoard, PlainBoard, Shown
from harbor._games.game import game_of
from harbor._house.auctioneer import answer_to, call, told_to
from harbor._house.people import Call, Person
from harbor._runs.result import Listener

R = TypeVar("R")
PROMPT = "> "
HELP = """pass: withdraw
standings: how everybody stands, and what you have bought
quit: pause the auction, as Ctrl-C does; it can be resumed"""
_SAY = re.compile(r" Say '[^\n]*\Z")
"""How an agent answers, in a call; a person may type less."""


async def at_the_terminal(
    bidder: Bidder, begin: Callable[[Listener, Mapping[str, Person]], Awaitable[R]], keys: Keyboard | None = None
) -> R:
    """Run an auction with a person at this terminal.

    Args:
        bidder: whom the person plays.
        begin: runs the auction, given a listener and the person by its bidder's name.
        keys: what is typed, where one person plays in several auctions (None: in this one alone).

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
    """One client of a `Person`; all that it prints is public, or private to its bidder."""

    def __init__(self, bidder: Bidder, person: Person, keys: Keyboard) -> None:
        self._bidder = bidder
        self._person = person
        self._item = ""
        self._keys = keys
        self._board = GuardedBoard("", PlainBoard)
        self._told_of_dropped = False

    def hear(self, entry: Entry) -> None:
        """Tell the news as it happens."""
        if isinstance(entry.event, LogOpened):
            game = game_of([entry])
            self._board = GuardedBoard(game.name, game.board)
        if entry.seq == 1 and not isinstance(entry.event, SeriesOpened):
            self._item = ""
            _print(f"You are {self._bidder.name}. Ctrl-C pauses the auction; type help for what else you can type.")
        if is_seen_by(self._bidder.name, entry.event):
            self._board.note(entry.event)
            for line in told_to(self._bidder.name, entry.event):
                _print(line)

    async def serve(self) -> None:
        """Put calls to the person, for as long as there is input.

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
            _print("What you typed before you were asked is dropped.")
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
        """Read lines until one is an answer; None if time runs out before that."""
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
        """Take words that are an answer; do what others ask for, or explain how to answer.

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
    """Write each row of a board as a line, without what is empty."""
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
