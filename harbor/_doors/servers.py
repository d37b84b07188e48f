"""An agent behind a URL: Harbor posts each turn as JSON, and reads the answer from the body of the response."""

from __future__ import annotations

from functools import cache
from ssl import SSLContext

import httpx

from harbor._config.agents import AgentServer
from harbor._core.asking.asks import Unreadable
from harbor._core.basics.loops import running_seconds
from harbor._core.basics.redaction import named_secret, redact, told
from harbor._core.faces import __version__
from harbor._doors.door import LONGEST_ANSWER, Door, DoorFailed, Given, Turn, answer_in, object_of, turn_named

JSON, TEXT = "application/json", "text/plain"
HEADERS = {
    "accept": f"{JSON}, {TEXT}",
    "accept-encoding": "identity",  # a small body could become a huge one
    "content-type": JSON,
    "user-agent": f"harbor/{__version__}",
}
CONNECT_SECONDS = 10.0
"""Seconds that a server may take to accept a connection. The seat limits the time for the answer."""
LONGEST_SHOWN, MOST_LOOKED_AT = 200, 2_000
"""The greatest length of a server's text in an error, and of a text that is searched for keys, in characters."""


def bearer(settings: AgentServer) -> dict[str, str]:
    """Return the header with the server's key, and register the key as a secret. Return {} if it needs no key.

    Raises:
        ConfigError: the environment variable with the key is not set.
    """
    if settings.api_key_env is None:
        return {}
    return {"authorization": f"Bearer {named_secret(settings.api_key_env, 'api_key_env of an agent')}"}


NO_IDLE = httpx.Limits(max_keepalive_connections=0)
"""One connection per turn, because a server may close an idle one just when the next turn is sent."""


class ServerDoor(Door):
    """A door to an agent behind a URL.

    Raises:
        ConfigError: the environment variable with its key is not set.
    """

    def __init__(self, settings: AgentServer) -> None:
        self._url = settings.url
        self._client = httpx.AsyncClient(
            headers=HEADERS | bearer(settings),
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=NO_IDLE,
            verify=_certificates(),
        )

    async def ask(self, turn: Turn) -> Given:
        """Post a turn and return its answer. Redirects are not followed, because they would pass the key on.

        Raises:
            DoorFailed: the server can't be reached, breaks off, or answers with an error.
        """
        began = running_seconds()
        try:
            async with self._client.stream("POST", self._url, content=turn.line.encode()) as response:
                body = await _body(response)
        except httpx.ConnectTimeout as error:
            if running_seconds() - began < CONNECT_SECONDS / 2:  # this process was stopped for most of the time
                return await self.ask(turn)
            raise self._silent(error) from None
        except httpx.HTTPError as error:
            raise self._silent(error) from None
        if not response.is_success:
            raise DoorFailed(f"{self._url} answers {_error(response, body)}")
        return _answer(response, body, turn)

    def _silent(self, error: httpx.HTTPError) -> DoorFailed:
        return DoorFailed(f"{self._url} gives no answer ({told(error)}); start it, or mend its address")

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()


@cache
def _certificates() -> SSLContext:
    """Read the trusted certificates once, as reading them takes longer than many turns."""
    return httpx.create_ssl_context()


async def _body(response: httpx.Response) -> bytes:
    """Read the body up to one byte more than an answer may have."""
    body = b""
    async for part in response.aiter_raw():
        body += part
        if len(body) > LONGEST_ANSWER:
            break
    return body[: LONGEST_ANSWER + 1]


def _error(response: httpx.Response, body: bytes) -> str:
    """Describe an error response. Leave out an HTML page, which explains nothing here."""
    status = f"{response.status_code} {_shown(response.reason_phrase)}".strip()
    if response.has_redirect_location:
        there = _shown(response.headers["location"])
        return f"{status}: it is at {there!r}; give that address, as redirects are not followed"
    words = "" if _type(response) == "text/html" else _shown(body.decode(errors="replace"))
    return f"{status}: {words!r}" if words else status


def _shown(text: str) -> str:
    """Return a server's text in one line, shortened and without keys."""
    return " ".join(redact(text[:MOST_LOOKED_AT]).split())[:LONGEST_SHOWN]


def _type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", TEXT)).partition(";")[0].strip().lower()


def _answer(response: httpx.Response, body: bytes, turn: Turn) -> Given:
    kind = _type(response)
    try:
        if len(body) > LONGEST_ANSWER:
            raise ValueError(f"a body of more than {LONGEST_ANSWER:,} bytes is not read")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise ValueError("a compressed body is not read")
        if kind == TEXT:
            return answer_in(body.decode(), turn.ask)
        if kind != JSON:
            raise ValueError(f"a body of type {_shown(kind)[:80]!r} is not read")
        answer = object_of(body)
        if turn_named(answer, turn.number) < turn.number:
            raise ValueError(f"it answers an earlier turn, and this is turn {turn.number}")
        return answer_in(answer, turn.ask)
    except ValueError as error:
        what = f"the body of the response is no answer: {str(error)[:LONGEST_SHOWN]}"
        return Given(Unreadable(f"{what}; send one object as {JSON}, or words as {TEXT}"))
