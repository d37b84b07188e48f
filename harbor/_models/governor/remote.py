"""The driver of an experiment serves its governor to several processes, and its workers ask it over TCP.

One line of JSON is one message. The first line is a token, which has to come at once. A connection that closes gives
back its tickets and leaves its queue, so that a killed worker holds up nobody.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import count

from pydantic import TypeAdapter

from harbor._core.basics.redaction import known_secret
from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.terms import (
    Answered,
    Busy,
    Failed,
    Gone,
    Refused,
    Request,
    Stopped,
    Ticket,
    TooLong,
    Verdict,
    Wait,
)


@dataclass(frozen=True, slots=True)
class GovernorAddress:
    """The address of a served governor, and the token that opens it."""

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
            Gone: no driver listens there.
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
        """Wait until the governor lets a call start."""
        entry = self._waiting[number] = self._loop.create_future()
        self._send({"number": number, "enter": asdict(request)})
        try:
            await entry
        finally:
            self._waiting.pop(number, None)

    def leave(self, number: int, verdict: Verdict) -> None:
        """Tell the governor how a call ended."""
        self.tell({"number": number, "verdict": type(verdict).__name__, "words": asdict(verdict)})

    def tell(self, message: dict[str, object]) -> None:
        """Send a message from any thread. It is lost if the driver is gone."""
        if asyncio._get_running_loop() is self._loop:
            self._send(message)
        else:
            with suppress(RuntimeError):  # the loop is closed, and the connection with it
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
            return  # the call was given up meanwhile, and the driver knows
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


TOKEN_SECONDS = 10.0
"""Seconds in which a connection has to give the token; workers give it at once."""
MOST_SILENT = 100
"""Limit of connections without a token. Any user of this machine can open some, and each takes a file handle."""
_REQUEST, _WAIT = TypeAdapter(Request), TypeAdapter(Wait | None)
_VERDICTS = {kind.__name__: kind for kind in (Answered, Busy, Failed, Refused)}


@asynccontextmanager
async def serving(governor: LocalGovernor, host: str = "127.0.0.1") -> AsyncIterator[GovernorAddress]:
    """Serve a governor to other processes; with workers on other machines, `host` is an address that they reach."""
    token = secrets.token_urlsafe(32)
    served = set[asyncio.Task[None]]()
    silent = dict[asyncio.StreamWriter, None]()  # connections without a token, the oldest first

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(TOKEN_SECONDS):
                first = await reader.readline()
            silent.pop(writer, None)
            if hmac.compare_digest(first.strip(), token.encode()):
                await _Served(governor, writer).run(reader)
        except (OSError, ValueError):
            pass  # the worker is gone or silent, or sent no line of ours
        finally:
            silent.pop(writer, None)
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        served.add(task)
        silent[writer] = None
        if len(silent) > MOST_SILENT:
            oldest = next(iter(silent))
            del silent[oldest]
            oldest.close()
        task.add_done_callback(served.discard)

    server = await asyncio.start_server(accept, host, 0)
    try:
        yield GovernorAddress(host, server.sockets[0].getsockname()[1], token)
    finally:
        server.close()
        for task in tuple(served):
            task.cancel()
        await asyncio.gather(*served, return_exceptions=True)


class _Served:
    """One connection of a worker, at the driver's end; calls have the worker's numbers."""

    def __init__(self, governor: LocalGovernor, writer: asyncio.StreamWriter) -> None:
        self._governor = governor
        self._writer = writer
        self._entering: dict[int, asyncio.Task[None]] = {}
        self._tickets: dict[int, Ticket] = {}
        self._noted = set[int]()

    async def run(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                message = json.loads(line)
                number = int(message["number"])
                if "enter" in message:
                    request = _REQUEST.validate_python(message["enter"])
                    self._entering[number] = asyncio.create_task(self._enter(number, request))
                elif "wait" in message:
                    self._note(number, _WAIT.validate_python(message["wait"]))
                elif "spent" in message:
                    self._governor.spend(message["spent"] if message["spent"] is None else float(message["spent"]))
                else:
                    self._leave(number, _VERDICTS[message["verdict"]](**message["words"]))
        except (KeyError, TypeError, OverflowError, RecursionError):
            return  # a stranger's message: the connection ends
        finally:
            for number in (*self._entering, *self._tickets):
                self._leave(number, Failed())
            for number in tuple(self._noted):
                self._note(number, None)

    def _note(self, number: int, wait: Wait | None) -> None:
        (self._noted.discard if wait is None else self._noted.add)(number)
        self._governor.note((id(self), number), wait)

    async def _enter(self, number: int, request: Request) -> None:
        try:
            self._tickets[number] = await self._governor.enter(request)
            self._send({"number": number})
        except Stopped as stopped:
            self._send({"number": number, "stopped": str(stopped)})
        except TooLong as pause:
            self._send({"number": number, "too_long": pause.seconds})
        finally:
            self._entering.pop(number, None)

    def _leave(self, number: int, verdict: Verdict) -> None:
        if number in self._tickets:
            self._governor.leave(self._tickets.pop(number), verdict)
        elif number in self._entering:
            self._entering.pop(number).cancel()

    def _send(self, message: dict[str, object]) -> None:
        self._writer.write(line_of(message))


class RemoteGovernor:
    """A worker's access to the governor that the driver serves; each event loop has its own connection."""

    def __init__(self, address: GovernorAddress) -> None:
        known_secret(address.token)
        self._address = address
        self._numbers = count(1)
        self._links: dict[asyncio.AbstractEventLoop, asyncio.Task[Link]] = {}
        self._held: dict[int, Link] = {}

    async def enter(self, request: Request) -> Ticket:
        """Wait until a call may start.

        Raises:
            Stopped: the first call of the same model was refused for good, or the driver is gone.
            TooLong: the provider asks for a longer pause than the call waits for.
        """
        link = await self._link()
        ticket = Ticket(request.account, next(self._numbers))
        self._held[ticket.number] = link
        try:
            await link.enter(ticket.number, request)
        except BaseException:
            self.leave(ticket, Failed())
            raise
        return ticket

    def leave(self, ticket: Ticket, verdict: Verdict) -> None:
        """Say how a call ended."""
        link = self._held.pop(ticket.number, None)
        if link is not None:
            link.leave(ticket.number, verdict)

    def note(self, call: int, wait: Wait | None) -> None:
        """Report the wait of a call of this process; None: it waits no longer."""
        self._tell({"number": call, "wait": None if wait is None else asdict(wait)})

    def spend(self, dollars: float | None) -> None:
        """Report the cost of a call in dollars; None if its price is unknown."""
        self._tell({"number": 0, "spent": dollars})

    def _tell(self, message: dict[str, object]) -> None:
        """Tell the driver over this event loop's connection; drop the message if there is none yet."""
        opening = self._links.get(asyncio.get_running_loop())
        if opening is not None and opening.done() and not opening.cancelled() and opening.exception() is None:
            opening.result().tell(message)

    async def _link(self) -> Link:
        loop = asyncio.get_running_loop()
        for closed in [other for other in self._links if other.is_closed()]:
            del self._links[closed]
        opening = self._links.get(loop)
        if opening is None or (
            opening.done() and (opening.cancelled() or opening.exception() or opening.result().gone)
        ):
            opening = self._links[loop] = loop.create_task(Link.open(self._address))
        return await asyncio.shield(opening)
