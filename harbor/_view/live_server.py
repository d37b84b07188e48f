"""A server for the page of a run that is still going: on loopback alone, for whoever has its address.

What is in a log is private to its user, and other users of the machine reach loopback too: so the path has a token, as
the files have permissions. A page of another site can't reach it by a name of its own (DNS rebinding), because requests
for any other host are refused.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Event, Thread
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Header, Response
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from fastapi.sse import EventSourceResponse, ServerSentEvent

from harbor._core.errors import HarborError
from harbor._view.live_run import LiveRun
from harbor._view.shapes import Chunk, json_of

LOOPBACK = "127.0.0.1"
HOSTS = [LOOPBACK, "localhost"]
POLL_SECONDS = 0.1
"""How often the log is looked at."""
TOKEN_BYTES = 16
UNREADABLE = "the log can't be read on"
"""What a seat is told of an error, which names the folder and may repeat the log."""


def app_of(run: Path, page: bytes, token: str, seat: str = "") -> FastAPI:
    """Give the server of one run: the page, and the stream that feeds it.

    Args:
        run: the folder of a run that has begun.
        page: HTML without data; its script listens to `events`, beside it.
        token: what the path begins with.
        seat: the bidder whose page it is; "": the analyst's.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)

    @app.get(f"/{token}/")
    async def show() -> Response:
        return Response(page, media_type="text/html", headers={"Cache-Control": "no-store"})

    @app.get(f"/{token}/events", response_class=EventSourceResponse)
    async def events(last_event_id: Annotated[str, Header()] = "") -> AsyncIterator[ServerSentEvent]:
        try:
            live = LiveRun(run, seat)
        except HarborError as error:  # the folder has vanished since the page was opened
            yield _event("failed", UNREADABLE if seat else str(error))
            return
        async for event in _told(live, int(last_event_id) if last_event_id.isdecimal() else -1):
            yield event

    return app


async def _told(run: LiveRun, known: int) -> AsyncIterator[ServerSentEvent]:
    """Tell what a page does not know yet: a head at first, chunks, a new head when all is told, and the end."""
    told_head, last = False, known
    try:
        while (chunk := await asyncio.to_thread(run.read_on)) is not None or not run.is_over:
            if chunk is None:
                await asyncio.sleep(POLL_SECONDS)
                continue
            if not told_head:
                yield _event("head", run.head())
                told_head = True
            last = max((row[0] for row in chunk["entries"]), default=last)
            yield _event("add", _without(chunk, known), str(last))
            if run.is_at_end and not run.is_over:
                yield _event("head", await asyncio.to_thread(run.head))
        if told_head:
            yield _event("head", run.head())
        yield _event("over", {})
    except HarborError as error:
        yield _event("failed", UNREADABLE if run.seat else str(error))


def _event(name: str, data: object, seq: str | None = None) -> ServerSentEvent:
    return ServerSentEvent(event=name, raw_data=json_of(data), id=seq)


def _without(chunk: Chunk, known: int) -> Chunk:
    """Leave out entries and marks up to a number; boards and decisions replace what is known."""
    entries, marks = chunk["entries"], chunk["marks"]
    return {
        **chunk,
        "entries": [row for row in entries if row[0] > known],
        "marks": [row for row in marks if row[0] > known],
    }


def serve(
    run: Path,
    page: bytes,
    seat: str = "",
    opened: Callable[[str], None] = lambda _: None,
    stands: Callable[[str, bool], None] = lambda *_: None,
    ended: Event | None = None,
) -> None:
    """Serve the page of a run, also after its end, until Ctrl-C.

    Args:
        run: the folder of a run that has begun.
        page: HTML without data.
        seat: the bidder whose page it is; "": the analyst's.
        opened: is given the address, when it can be opened.
        stands: is told where the run stands whenever it has gone on, and whether nothing more comes.
        ended: ends the server once it is set; None: Ctrl-C alone does.

    Raises:
        RunFolderError: there is no log, or nobody of the name of the seat bids in it.
        LogError: the log is none that this Harbor can read.
    """
    LiveRun(run, seat).read_on()  # what can't be read, and a seat that nobody has, is refused before it is served
    token, over = secrets.token_urlsafe(TOKEN_BYTES), ended or Event()
    settings = uvicorn.Config(
        app_of(run, page, token, seat), log_level="critical", access_log=False, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(settings)

    def watch() -> None:
        _watch(run, seat, stands, over)
        over.wait()
        server.should_exit = True

    with socket.create_server((LOOPBACK, 0)) as listening:
        opened(f"http://{LOOPBACK}:{listening.getsockname()[1]}/{token}/")
        Thread(target=watch, daemon=True).start()
        try:
            server.run(sockets=[listening])
        finally:
            over.set()


def _watch(folder: Path, seat: str, stands: Callable[[str, bool], None], over: Event) -> None:
    """Tell where a run stands until nothing more comes, or `over` is set."""
    where = "nothing has happened"
    try:
        run = LiveRun(folder, seat)
        while not run.is_over and not over.is_set():
            if (chunk := run.read_on()) is None:
                over.wait(POLL_SECONDS)
            elif chunk["entries"]:
                where = f"event {chunk['entries'][-1][0]:,}"
                boards = chunk["boards"].get(seat)
                stands(" · ".join(filter(None, ("live", where, boards[-1][1][1] if boards else ""))), False)
        if run.is_over:
            stands("; ".join((f"over · {where}", *run.head()["notes"])), True)
    except HarborError as error:
        stands(f"it can't be followed after {where}: {error}", True)
