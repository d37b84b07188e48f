"""A person at a terminal: shows what its seat may see, and takes its answers line by line."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from harbor._cli.display.narration import news, situation
from harbor._config.auction import Bidder
from harbor._core.asks import Unreadable
from harbor._core.events import EVERYONE
from harbor._core.log_lines import Entry
from harbor._core.parsing import printable
from harbor._house.auctioneer import answer_to, call
from harbor._house.people import Call, Person
from harbor._runs.result import Listener

R = TypeVar("R")
PROMPT = "> "


async def at_the_terminal(bidder: Bidder, begin: Callable[[Listener, Mapping[str, Person]], Awaitable[R]]) -> R:
    """Run an auction with a person at this terminal.

    Args:
        bidder: whom the person plays.
        begin: runs the auction, given a listener and the person by its bidder's name.

    Raises:
        EOFError: the input ended; the auction was stopped, and can be resumed.
    """
    person = Person()
    terminal = Terminal(bidder, person)
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

    def __init__(self, bidder: Bidder, person: Person) -> None:
        self._bidder = bidder
        self._person = person
        self._mine = f"bidder:{bidder.name}"
        self._item = ""
        self._keys = Keyboard()

    def hear(self, entry: Entry) -> None:
        """Tell the news as it happens."""
        if entry.seq == 0:
            _print(f"You are {self._bidder.name}. Ctrl-C pauses the auction.")
        if entry.event.audience in (EVERYONE, self._mine):
            for line in news(entry.event, self._bidder.name):
                _print(line)

    async def serve(self) -> None:
        """Put calls to the person, for as long as there is input.

        Raises:
            EOFError: the input has ended.
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
        _print(f"{call(asked.ask)} You have {self._bidder.timeout_seconds:g} s.")
        self._keys.forget()
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
        while True:
            sys.stdout.write(PROMPT)
            sys.stdout.flush()
            typed = asyncio.ensure_future(self._keys.line())
            try:
                either: set[asyncio.Future[Any]] = {typed, over}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if over.done():
                    return None
                words = typed.result().strip()
            finally:
                typed.cancel()
            answer = answer_to(asked.ask, words)
            if not isinstance(answer, Unreadable):
                return words
            _print(f"That can't be read: {answer.reason}. Type {asked.ask.space.hint}")


class Keyboard:
    """Lines of the standard input, read in a thread of their own, so that waiting for one delays nothing."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    def start(self) -> None:
        """Begin to read; the thread ends with the input or the program."""
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()

    async def line(self) -> str:
        """Wait for a line.

        Raises:
            EOFError: there is none any more.
        """
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
            raise EOFError
        return line

    def forget(self) -> None:
        """Drop what was typed before anything was asked; a program that writes to us does so on purpose."""
        typed = [self._lines.get_nowait() for _ in range(self._lines.qsize())]
        if not sys.stdin.isatty() or None in typed:
            for line in typed:
                self._lines.put_nowait(line)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        # Unbuffered: a thread that sleeps in the buffer of sys.stdin would hang the end of the program.
        with suppress(RuntimeError), open(0, "rb", buffering=0, closefd=False) as typed:
            while line := typed.readline():
                loop.call_soon_threadsafe(self._lines.put_nowait, line.decode(errors="replace"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)


def _print(text: str) -> None:
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()
