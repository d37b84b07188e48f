"""Decides whether to retry or to stop after a provider's error, and tells the error in a few words.

LangChain's error classes and the HTTP status suffice for most errors of every provider.
"""

from __future__ import annotations

import asyncio
import errno
import math
import os
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from json import JSONDecodeError
from operator import attrgetter
from typing import Any, Literal
from urllib.parse import urlsplit

from harbor._core.basics.redaction import redact

BUSY = (429,)
"""HTTP status for too many requests from this account."""
FOR_NOW = (408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529)
"""Other HTTP statuses of conditions that pass."""
OF_A_KEY = (401, 402, 403)
"""HTTP statuses for a key or account that is unknown, without money, or without access."""
KEY_IN_WORDS = re.compile(
    r"insufficient_quota|credit balance is too low|billing_hard_limit|payment required|do not have access"
    r"|api[ _-]?key (?:is )?(?:not valid|invalid|expired|not found)|API_KEY_INVALID"
    r"|(?:invalid|incorrect) (?:x-)?api[ _-]key"
    r"|account (?:is |has been |was )?(?:not active|deactivated|suspended|disabled)|(?:account|key)_deactivated",
    re.I,
)
"""Words for the same, with any status."""
TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|prompt is too long|input is too long|exceed_context_size"
    r"|exceeds? (?:the )?(?:available )?context (?:size|limit|length|window)|input token count[^.]{0,40}exceeds"
    r"|longer than the maximum model length|request too large for",
    re.I,
)
"""Words of OpenAI, vLLM, Anthropic, Bedrock, llama.cpp, Google and Groq for a prompt that is too long."""
LONGEST_PROMPT = re.compile(
    r"maximum context length (?:is|of) ([\d,]+)|([\d,]+) maximum context length|tokens > ([\d,]+) maximum"
    r"|context limit:[\d+ ]+> ([\d,]+)|tokens allowed \(([\d,]+)\)|context size \(([\d,]+)"
    r"|maximum model length of ([\d,]+)|n_ctx\W+([\d,]+)",
    re.I,
)
"""The longest possible prompt, in tokens, in such words."""
MUST_STREAM = re.compile(
    r"only supports? stream|stream[\w`'\" ]{0,20} must be (?:set to )?true|streaming is (?:strongly )?required"
    r"|non-?streaming (?:\w+ )?(?:is|are) not supported|please (?:set|use|enable) [`'\"]?stream",
    re.I,
)
"""Words of a server that answers only in streams."""
STREAM_REMEDY = "; it answers in streams alone: give extra = { streaming = true }"
FILTERED = re.compile(r"content_filter|content management policy|responsible_ai_policy", re.I)
"""Words of a provider whose content filter refuses a prompt."""
PASSING = (ConnectionError, TimeoutError, JSONDecodeError)  # errors of outages, cut connections and cut answers
SAID_NOTHING = re.compile(r"no data received|no generations? (was )?found", re.I)
"""Words of packages that read a stream, for a connection that ended before the first data."""
PASSING_NAMES = ("APIConnectionError", "TransportError", "StreamError", "ClientError", "ModelConnectionError")
"""Names of passing errors in client packages that need not be installed, such as `httpx.TransportError`."""
DURATION = r"(\d+(?:\.\d+)?) ?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])[ ,]*"
"""A part of a duration, as in "1h2m3.5s" or "2 hours"."""
WAIT_IN_WORDS = re.compile(rf"(?:retryDelay\W+|try again in )((?:{DURATION})+)", re.I)
"""Words of Google, OpenAI and Groq in the body for the time until a retry."""
SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
"""Seconds per unit of time, by its first letter; milliseconds are not here."""
LONGEST_ASKED = 31 * 86_400.0
"""The longest pause in seconds that a provider is believed to ask for: the longest quotas are per month."""
LONGEST_WORDS = 500  # characters of an error that are kept

Kind = Literal["busy", "passing", "refused", "key", "long", "filtered", "odd"]
FOR_GOOD: tuple[Kind, ...] = ("refused", "key", "filtered")
"""Faults that no retry helps, for any caller. A prompt that is too long concerns only its game."""


class StrangeAnswer(ConnectionError):
    """The server sent no model's answer: a web page, or more bytes than any reply has."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of a provider.

    `kind` is "busy" (too many requests), "passing" (an outage, a cut connection, a time-out), "refused" (a retry does
    not help), "key" (the key or its account is refused), "long" (the prompt is too long), "filtered" (the provider
    refuses to answer this prompt, which counts as an answer), or "odd" (unknown). `retry_after` is the provider's wait
    in seconds, and `most_tokens` the longest possible prompt; both are None if the provider does not tell.
    """

    kind: Kind
    words: str
    retry_after: float | None = None
    most_tokens: int | None = None


def fault_of(error: BaseException) -> Fault:
    """Classify an error."""
    strange = next((one for one in chain_of(error) if isinstance(one, StrangeAnswer)), None)
    words = _words(strange or error)
    told = f"{words} {_body(error)}"
    kind: Kind = "odd" if strange else _kind(error, told)
    remedy = STREAM_REMEDY if kind == "refused" and MUST_STREAM.search(told) else ""
    most = _most_tokens(told) if kind == "long" else None
    return Fault(kind, redact(words)[:LONGEST_WORDS] + remedy, _retry_after(error), most)


def is_of_key(words: str) -> bool:
    """Say whether the words of a refusal are about a key or its account."""
    return bool(KEY_IN_WORDS.search(words) or re.search(r"\b40[123]\b", words))


def _kind(error: BaseException, told: str) -> Kind:
    status = status_of(error)
    if status is not None and status >= 400 and TOO_LONG.search(told):
        return "long"
    if status in OF_A_KEY or KEY_IN_WORDS.search(told):
        return "filtered" if FILTERED.search(told) else "key"
    if status in BUSY:
        return "busy"
    if status in FOR_NOW:
        return "passing"
    if status is not None and status >= 400:
        return "filtered" if FILTERED.search(told) else "refused"
    if any(isinstance(one, PASSING) or _is_passing(one) for one in chain_of(error)):
        return "passing"
    return "passing" if SAID_NOTHING.search(told) else "odd"


def _most_tokens(told: str) -> int | None:
    """Read the limit of tokens in a prompt; None if no limit is told."""
    found = LONGEST_PROMPT.search(told)
    number = next(filter(None, found.groups()), "").replace(",", "") if found else ""
    return int(number) if 0 < len(number) < 10 else None


def _is_passing(error: BaseException) -> bool:
    if getattr(error, "is_retryable", False) is True:  # LangChain's own mark
        return True
    return any(kind.__name__ in PASSING_NAMES for kind in type(error).__mro__)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Return an error and its causes, at most eight in all."""
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__


def status_of(error: BaseException) -> int | None:
    """Find the HTTP status, which each package keeps in another place; None if there is none."""
    for one in chain_of(error):
        for place in (one, getattr(one, "response", None)):
            for name in ("status_code", "code", "status", "http_status"):
                value = getattr(place, name, None)
                if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600:
                    return value
    return None


def _body(error: BaseException) -> str:
    """Return the provider's answer as text, because its package may show only a part in the message."""
    return " ".join(
        str(getattr(one, name, ""))
        for one in chain_of(error)
        for name in ("code", "type", "body", "details", "message")
    )


def _words(error: BaseException) -> str:
    try:
        said = " ".join(str(error).split())
    except Exception:  # a package's error may fail to format itself
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def end_of_pause(seconds: float) -> str:
    """Write the end and length of a pause that begins now, such as "2026-11-23 14:05 UTC (2 h 0 min)"."""
    end = (datetime.now(UTC) + timedelta(seconds=seconds)).astimezone()
    if seconds < 60:
        return f"{end:%Y-%m-%d %H:%M:%S %Z} ({seconds:.3g} s)"
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{end:%Y-%m-%d %H:%M %Z} ({hours} h {minutes} min)"


def _retry_after(error: BaseException) -> float | None:
    told = _told_to_wait(error)
    return None if told is None else min(told, LONGEST_ASKED)


def _told_to_wait(error: BaseException) -> float | None:
    for one in chain_of(error):
        headers: Any = getattr(getattr(one, "response", None), "headers", None)
        if headers is None or not hasattr(headers, "get"):
            continue
        if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
            return milliseconds / 1_000
        if (told := headers.get("retry-after")) is not None:
            return _seconds(str(told))
    found = WAIT_IN_WORDS.search(_body(error))
    return _duration(found[1]) if found else None


def _seconds(told: str) -> float | None:
    """Read a Retry-After header: seconds or a date, as in HTTP, or a duration such as "2 hours"."""
    if (seconds := _number(told)) is not None:
        return seconds
    if re.fullmatch(rf"(?:{DURATION})+", told, re.I):
        return _duration(told)
    try:
        date = parsedate_to_datetime(told)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def _duration(told: str) -> float:
    parts = re.findall(DURATION, told, re.I)
    return sum(float(number) * _seconds_of(unit.lower()) for number, unit in parts)


def _seconds_of(unit: str) -> float:
    return 0.001 if unit == "ms" or unit.startswith("mil") else SECONDS[unit[0]]


def _number(told: object) -> float | None:
    try:
        number = float(str(told))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


NO_CONNECTION = "no connection"
UNCONNECTED = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ClientConnectorError")
"""Names of errors in HTTP packages for a connection that was never made."""
LONGEST_TOLD = 60  # characters of an error or address in a status
_ADDRESSES = (
    "root_async_client.base_url",
    "_async_client._client.base_url",
    "client._api_client._http_options.base_url",
)
"""Attributes with the default address in the clients of OpenAI, Ollama and Google."""


def status_in_words(fault: Fault, error: BaseException | None) -> str:
    """Describe the end of a request: "503", "no connection (connection refused)", "no answer in time"."""
    if error is None:
        return fault.words[:LONGEST_TOLD]
    if (status := status_of(error)) is not None:
        return str(status)
    if is_unconnected(error):
        return f"{NO_CONNECTION} ({_why(error)})"
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "no answer in time"
    return "an odd answer" if fault.kind == "odd" else fault.words[:LONGEST_TOLD]


def is_unconnected(error: BaseException | None) -> bool:
    """Say whether no connection was made; a connection that was cut later does not count."""
    return error is not None and any(type(one).__name__ in UNCONNECTED for one in chain_of(error))


def at_host(fault: Fault, error: BaseException | None, host: str) -> Fault:
    """Add the host to a fault of an unreachable host, because the providers' packages leave it out."""
    if error is None or not is_unconnected(error):
        return fault
    return replace(fault, words=f"{NO_CONNECTION} to {host} ({_why(error)})")


def _why(error: BaseException) -> str:
    for one in reversed(list(chain_of(error))):
        if isinstance(one, socket.gaierror):
            return "unknown host"
        if isinstance(one, ssl.SSLCertVerificationError):
            return "its certificate is not trusted"
        if isinstance(one, ssl.SSLError):
            return "no TLS there"
        if isinstance(one, OSError) and one.errno is not None and one.errno in errno.errorcode:
            return os.strerror(one.errno).lower()
    return "it did not come about"


def host_of_client(chat: Any) -> str:
    """Return a chat model's default host; empty if its package keeps the host elsewhere."""
    for place in _ADDRESSES:
        with suppress(AttributeError):
            return host_of(str(attrgetter(place)(chat)))
    return ""


def host_of(address: str) -> str:
    """Return the host and port of an address, without user, path and query; return other text after its last "@"."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        return (f"{host}:{parts.port}" if parts.port else host) if host else address.rpartition("@")[2][:LONGEST_TOLD]
    except ValueError:
        return address.rpartition("@")[2][:LONGEST_TOLD]
