"""What is typed at a terminal, or comes from a pipe, line by line."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from contextlib import suppress


def anybody_there() -> bool:
    """Tell whether the standard input is a terminal, a pipe or a file: something that answers can come from."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return sys.stdin.isatty() or not stat.S_ISCHR(mode)
    except (AttributeError, OSError, ValueError):  # there is none, or it was closed
        return False


class Keyboard:
    """Lines of the standard input, read in a thread of their own, so that waiting for one delays nothing."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._started = False

    def start(self) -> None:
        """Begin to read, unless it has begun; the thread ends with the input or the program."""
        if self._started:
            return
        self._started = True
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

    def forget(self) -> int:
        """Drop the lines that were typed before anything was asked, and count them; those of a program are meant."""
        typed = [self._lines.get_nowait() for _ in range(self._lines.qsize())]
        if sys.stdin.isatty() and None not in typed:
            return len(typed)
        for line in typed:
            self._lines.put_nowait(line)
        return 0

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        # Unbuffered: a thread that sleeps in the buffer of sys.stdin would hang the end of the program.
        with suppress(RuntimeError), open(0, "rb", buffering=0, closefd=False) as typed:
            while line := typed.readline():
                loop.call_soon_threadsafe(self._lines.put_nowait, line.decode(errors="replace"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)
