"""The connection of a worker to the governor that its driver serves; one line of JSON is one message."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from harbor._models.governor.terms import Gone, Request, Stopped, TooLong, Verdict


@dataclass(frozen=True, slots=True)
class GovernorAddress:
    """Where a governor is served, and the token that opens it."""

    host: str
    port: int
    token: str

    def __repr__(self) -> str:
        return f"GovernorAddress({self.host!r}, {self.port})"  # the token is a key


class Link:
    """One connection to the driver, at the worker's end."""

    def __init__(self, address: GovernorAddress, writer: asyncio.StreamWriter) -> None:
        self.gone = False
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._reading: asyncio.Task[None] | None = None

    @staticmethod
    async def open(address: GovernorAddress) -> Link:
        """Connect to the driver.

        Raises:
            Gone: nobody listens there.
        """
        try:
            reader, writer = await asyncio.open_connection(address.host, address.port)
        except OSError as error:
            raise Gone(_gone(address)) from error
        writer.write(f"{address.token}\n".encode())
        link = Link(address, writer)
        link._reading = asyncio.create_task(link._read(reader))
        return link

    async def enter(self, number: int, request: Request) -> None:
        """Wait until a call may start, as the governor says."""
        entry = self._waiting[number] = self._loop.create_future()
        self._send({"number": number, "enter": asdict(request)})
        try:
            await entry
        finally:
            self._waiting.pop(number, None)

    def leave(self, number: int, verdict: Verdict) -> None:
        """Say how a call ended."""
        self.tell({"number": number, "verdict": type(verdict).__name__, "words": asdict(verdict)})

    def tell(self, message: dict[str, object]) -> None:
        """Send a message, from whichever thread; nobody hears it if the driver is gone."""
        if asyncio._get_running_loop() is self._loop:
            self._send(message)
        else:
            with suppress(RuntimeError):  # its loop is closed, and the connection with it
                self._loop.call_soon_threadsafe(self._send, message)

    def _send(self, message: dict[str, object]) -> None:
        if not self.gone:
            self._writer.write(line_of(message))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            with suppress(OSError, ValueError):
                while line := await reader.readline():
                    self._hear(json.loads(line))
        finally:
            self.gone = True
            self._writer.close()
            for entry in self._waiting.values():
                if not entry.done():
                    entry.set_exception(Gone(_gone(self._address)))

    def _hear(self, message: dict[str, object]) -> None:
        entry = self._waiting.get(int(str(message["number"])))
        if entry is None or entry.done():
            return  # it was given up meanwhile, and the driver has been told
        if "stopped" in message:
            entry.set_exception(Stopped(str(message["stopped"])))
        elif "too_long" in message:
            entry.set_exception(TooLong(float(str(message["too_long"]))))
        else:
            entry.set_result(None)


def _gone(address: GovernorAddress) -> str:
    return (
        f"the driver at {address.host!r}, port {address.port}, which says when calls may start, is gone; resume the run"
    )


def line_of(message: dict[str, object]) -> bytes:
    """Write a message as one line."""
    return json.dumps(message).encode() + b"\n"
