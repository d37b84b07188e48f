"""A provider of models on loopback. It serves in a thread, over real persistent connections."""

from __future__ import annotations

import asyncio
import socket
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import pytest

from support.providers.mind import Answer, Mind
from support.providers.service import Service
from support.providers.wire import receive, reset, send

LONGEST = 2**28


class Provider(Service):
    """A service at an address. `provider` makes one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.connections, self.open, self.port = 0, 0, 0
        self._changed = threading.Condition()
        self._writers = set[StreamWriter]()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        """The base URL, which the clients of Anthropic, Google and Ollama use unchanged."""
        return f"http://127.0.0.1:{self.port}"

    anthropic_url = google_url = ollama_url = url

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's client."""
        return f"{self.url}/v1"

    def start(self) -> None:
        """Start the server."""
        self._thread.start()
        self._do(self._listen())

    def stop(self) -> None:
        """Stop the server and release hanging requests."""
        self._do(self._hang_up())
        self._do(self._finish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def is_left(self) -> bool:
        """Wait at most 60 s until all clients have closed their connections. Return whether they did."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.open, timeout=60)

    def fail(self, outage: Literal["refused", "unavailable"]) -> None:
        """Begin an outage: refuse connections, or answer every request with a 503."""
        self.unavailable = outage == "unavailable"
        if outage == "refused":
            self._do(self._close())
            self._do(self._hang_up())

    def recover(self) -> None:
        """End the outage."""
        if not self.unavailable:
            self._do(self._listen())
        self.unavailable = False

    def _do(self, what: Any) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result()

    async def _listen(self) -> None:
        listening = await asyncio.start_server(
            self._connection, "127.0.0.1", self.port, limit=LONGEST, backlog=4_096, reuse_address=True
        )
        self._listening = listening
        self.port = listening.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        for listening in self._listening.sockets:
            listening._sock.shutdown(socket.SHUT_RDWR)  # forked processes may still have it open
        self._listening.close()

    async def _hang_up(self) -> None:
        for writer in tuple(self._writers):
            reset(writer)

    async def _finish(self) -> None:
        self._listening.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _connection(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._count(1)
        self._writers.add(writer)
        try:
            await self._converse(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client has left, or the server is stopping
        finally:
            self._writers.discard(writer)
            writer.close()
            self._count(-1)

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        going = True
        while going and (question := await receive(reader)):
            going = await self.attend(question, lambda reply: send(reply, reader, writer))

    def _count(self, change: int) -> None:
        with self._changed:
            self.open += change
            self.connections += change > 0
            self._changed.notify_all()


@contextmanager
def provider(
    *,
    seed: int = 0,
    name: str = "mine",
    minds: Mapping[str, tuple[int, str]] | None = None,
    answer: Answer | None = None,
    thought: int = 0,
    **service: Any,
) -> Iterator[Provider]:
    """Serve models while the context is open.

    Args:
        seed: seed of the game; the model answers as the game's built-in model named `name`.
        name: see `seed`.
        minds: other seeds and names, by model ID.
        answer: answers instead of the built-in model.
        thought: thinking tokens of every reply.
        **service: fields of `Service`.
    """
    server = Provider(Mind((seed, name), minds or {}, answer, thought), **service)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def as_openai(patch: pytest.MonkeyPatch, **settings: Any) -> Iterator[Provider]:
    """Serve under the address that OpenAI's package uses, with a key in the environment."""
    with provider(**settings) as server:
        patch.setenv("OPENAI_BASE_URL", server.openai_url)
        patch.setenv("OPENAI_API_KEY", "nobody")
        yield server
