"""A server for the page of a running run. It listens on loopback only, for anyone with the secret address.

A log is private to its user, but other users of the machine also reach loopback, so the path holds a token. A page of
another site can't reach the server by its own host name (DNS rebinding), because requests for any other host are
refused.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from functools import cached_property
from pathlib import Path
from threading import Event, Thread
from typing import Annotated, NamedTuple

import uvicorn
from fastapi import FastAPI, Header, Response
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from fastapi.sse import EventSourceResponse, ServerSentEvent

from harbor._core.basics.errors import HarborError, LogError, RunFolderError, unknown
from harbor._core.files.layout import log_of
from harbor._core.files.marks import read_as_data
from harbor._core.files.safe_files import LONGEST_LINE, MOST_RECORDS, open_sent
from harbor._core.log.events import PublicEvent, SeriesOpened
from harbor._core.log.evidence import EvidenceReader, Wrong
from harbor._core.log.log_entries import Entry, is_over, is_seen_by
from harbor._games.game import game_of
from harbor._view.chunks import Chunks
from harbor._view.entries import Decisions
from harbor._view.page_data import head_of, recorded, seats_of, viewers_of
from harbor._view.run_record import CallFile, RunRecord, notes_of
from harbor._view.shapes import Chunk, Head, json_of
from harbor.evaluation._metrics.calls import is_simulated

OPENS = (PublicEvent, SeriesOpened)
"""Events that come after all bidders are known."""
BATCH_BYTES = 100_000
"""Bytes of a log after which a read stops, so that a page that opens late gets chunks of limited size."""


class LiveRun:
    """A growing run in the view of the analyst or of one seat.

    Args:
        run: the folder of a run that has begun, or its log.
        seat: the bidder whose view is shown ("": the analyst's view).

    Attributes:
        seat: as given.
        is_over: True if no more events will come.
        is_at_end: True if all written events have been returned.

    Raises:
        RunFolderError: there is no log.
    """

    def __init__(self, run: Path, seat: str = "") -> None:
        self._log = log_of(run)
        self.seat = seat
        self._reader = EvidenceReader(self._log)
        self._end = 0
        self._sent = 0
        self._wrong: Wrong | None = None
        self._calls = CallFile(self._log.parent)
        self._seen: list[Entry] = []
        self.is_over = self.is_at_end = False

    def read_on(self) -> Chunk | None:
        """Return the next batch of new entries, or None. The first batch waits until all bidders are known.

        Raises:
            LogError: this Harbor can't read the log.
            RunFolderError: the log has no bidder with the seat's name.
        """
        if self.is_over:
            return None
        self._read_lines()
        entries = self._reader.entries
        self.is_over |= is_over(entries[self._sent :])
        if not self._sent and not self.is_over and not any(isinstance(one.event, OPENS) for one in entries):
            return None
        new, self._sent = entries[self._sent :], len(entries)
        return self._chunk(new) if new else None

    def _read_lines(self) -> None:
        try:
            with open_sent(self._log, MOST_RECORDS) as file:
                file.seek(self._end)
                start, self.is_at_end = self._end, True
                while (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
                    if self._end - start > BATCH_BYTES:
                        self.is_at_end = False
                        return
                    self._end += len(line)
                    if wrong := self._reader.take(line):
                        self._wrong, self.is_over = wrong, True
                        return
        except OSError as error:
            raise LogError(f"log {str(self._log)!r} can't be read ({error.strerror}); open it again") from error

    def head(self) -> Head:
        """Return the current head, which replaces the previous one."""
        head = head_of(self._record(), self.seat, self._seats(), simulated=is_simulated(self._reader.entries))
        head["notes"] += self._making.chunks.complaints
        return head

    def _chunk(self, new: list[Entry]) -> Chunk:
        if not self.seat:
            self._calls.read_on()  # each call is recorded before its event is logged
        shown = [entry for entry in new if not self.seat or is_seen_by(self.seat, entry.event)]
        self._seen += shown
        decisions = self._making.decisions
        numbers = [decisions.note(entry.event, recorded(self._calls, entry.event)) for entry in shown]
        changed = list(decisions.changed)
        decisions.changed.clear()
        return self._making.chunks.of(shown, numbers, changed)

    @cached_property
    def _making(self) -> _Making:
        """The makers of chunks, created when all bidders are known."""
        seats, record = self._seats(), self._record()
        if self.seat and self.seat not in seats:
            raise RunFolderError(unknown("bidder", self.seat, seats))
        decisions = Decisions(record.game)
        return _Making(decisions, Chunks(record, decisions, viewers_of(self.seat, seats)))

    def _seats(self) -> list[str]:
        return seats_of(self._reader.entries)

    def _record(self) -> RunRecord:
        with read_as_data(self._log):
            game = game_of(self._reader.entries)
        notes = tuple(notes_of(self._reader.passed_over, self._wrong))
        return RunRecord(self._log.parent, self._seen, game, self._calls, notes)


class _Making(NamedTuple):
    decisions: Decisions
    chunks: Chunks


LOOPBACK = "127.0.0.1"
HOSTS = [LOOPBACK, "localhost"]
POLL_SECONDS = 0.1
"""Seconds between two reads of the log."""
TOKEN_BYTES = 16
"""Random bytes of the token in the path."""
UNREADABLE = "the log can't be read on"
"""The only error text for a seat, as the full text names the folder and may quote the log."""


def app_of(run: Path, page: bytes, token: str, seat: str = "") -> FastAPI:
    """Return the server of one run: its page, and the event stream for the page.

    Args:
        run: the folder of a run that has begun.
        page: HTML without data. Its script listens to `events`, beside it.
        token: the first part of the path.
        seat: the bidder whose view is shown ("": the analyst's view).
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
        except HarborError as error:  # the folder was removed after the page was opened
            yield _event("failed", UNREADABLE if seat else str(error))
            return
        async for event in _told(live, int(last_event_id) if last_event_id.isdecimal() else -1):
            yield event

    return app


async def _told(run: LiveRun, known: int) -> AsyncIterator[ServerSentEvent]:
    """Yield the data that a page lacks: a head first, chunks, a new head after all of these, and the end."""
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
    """Drop entries and marks up to number `known`. Boards and decisions stay, as they replace old ones."""
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
    """Serve the page of a run until Ctrl-C, also after the run's end.

    Args:
        run: the folder of a run that has begun.
        page: HTML without data.
        seat: the bidder whose view is shown ("": the analyst's view).
        opened: called with the address when the server listens.
        stands: called with the state of the run after each change, and with True if no more events will come.
        ended: ends the server when set (None: only Ctrl-C does).

    Raises:
        RunFolderError: there is no log, or it has no bidder with the seat's name.
        LogError: this Harbor can't read the log.
    """
    LiveRun(run, seat).read_on()  # refuse an unreadable log and an unknown seat before the server starts
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
    """Report the state of a run until no more events come or `over` is set."""
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
