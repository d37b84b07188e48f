"""Faults of a provider on demand: each kind by name, for a share of the requests or for some by number."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import blake2b
from math import ceil

from harbor._core.basics.numbers import stream
from support.providers.speech import CHARACTERS_PER_TOKEN, Said, Trouble
from support.providers.wire import Question, Reply

BUSY = ("429", "429 date", "429 bare", "529")
"""Too many requests: with a Retry-After in seconds, as a date, or without it; and an overloaded provider."""
LATER = ("503 later",)
"""An outage with a stated end."""
BROKEN = ("500", "503", "reset", "cut", "html", "truncated")
"""Faults that end at once. The same request gets the same answer when it is sent again."""
HOLLOW = ("502", "other json", "error in 200", "no choices")
"""Faults of gateways in front of a model. The last three have a status of success."""
STUCK = ("hang", "endless")
"""Faults that last until the client leaves."""
TRANSIENT = BUSY + BROKEN + STUCK
CONTENT = ("wrong tool", "wrong arguments", "prose", "empty", "refusal", "length", "huge")
"""Faults of the model."""
PERMANENT = ("401", "403", "404", "400", "quota", "echoed key")
KINDS = TRANSIENT + HOLLOW + LATER + CONTENT + PERMANENT
PROSE = "Let me think about this a little longer."
REFUSAL = "I'm sorry, but I can't help with that."
HTML = b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n"
HUGE = 10_000_000


@dataclass(frozen=True, slots=True)
class Faults:
    """One of `kinds`, at random, at a `share` of the requests or at those whose numbers are in `only`, from 1.

    The fault of a request depends on the seed, on the request and on its number of repeats, so not on the order in
    which requests arrive. `retry_after` is in seconds.
    """

    kinds: tuple[str, ...] | str
    share: float = 1.0
    seed: int = 0
    only: Container[int] | None = None
    retry_after: float = 1

    def __post_init__(self) -> None:
        if unknown := set(self.every) - set(KINDS):
            raise ValueError(f"unknown faults {sorted(unknown)!r}; choose of {KINDS}")

    @property
    def every(self) -> tuple[str, ...]:
        return (self.kinds,) if isinstance(self.kinds, str) else self.kinds

    def hit(self, question: Question, number: int, times: int) -> str:
        """Return the fault of a request that was sent `times` times before, or "" for no fault."""
        if self.only is not None and number not in self.only:
            return ""
        digest = blake2b(question.path.encode() + question.body, digest_size=8).hexdigest()
        chance = stream(self.seed, digest, str(times))
        return chance.choice(self.every) if chance.random() < self.share else ""

    def trouble(self, kind: str, key: str) -> Trouble | None:
        """Return the server's error, or None if this kind of fault is no error."""
        wait, limit = self.retry_after, "Rate limit reached for requests per min (RPM)."
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=ceil(wait)), usegmt=True)
        return {
            "429": Trouble(429, "rate", limit, headers={"retry-after": f"{wait:g}"}),
            "429 date": Trouble(429, "rate", limit, headers={"retry-after": date}),
            "429 bare": Trouble(429, "rate", limit),
            "529": Trouble(529, "overloaded", "Overloaded"),
            "500": Trouble(500, "server", "The server had an error while processing your request."),
            "502": Trouble(502, "server", "Bad gateway."),
            "503 later": Trouble(503, "unavailable", "Down for maintenance.", headers={"retry-after": f"{wait:g}"}),
            "503": Trouble(503, "unavailable", "The service is not ready yet."),
            "401": wrong_key(key),
            "403": Trouble(403, "access", "Your project does not have access to this model."),
            "404": Trouble(404, "model", "The model does not exist or you do not have access to it."),
            "400": refused("temperature"),
            "quota": Trouble(429, "quota", "You exceeded your current quota, please check your plan and billing."),
            "echoed key": Trouble(401, "key", f"Incorrect API key provided: ...{key[-20:]}."),
        }.get(kind)


def wrong_key(key: str) -> Trouble:
    """Refuse a key as OpenAI does."""
    shown = f"{key[:3]}***{key[-4:]}" if len(key) > 12 else "***"
    return Trouble(401, "key", f"Incorrect API key provided: {shown}. You can find your API key in your settings.")


def refused(parameter: str) -> Trouble:
    """Refuse a parameter."""
    message = f"Unsupported parameter: '{parameter}' is not supported with this model."
    return Trouble(400, "parameter", message, parameter)


def misspoken(said: Said, kind: str) -> Said:
    """Return the model's faulty reply. Return the reply unchanged if the fault is not the model's."""
    match kind:
        case "wrong tool" if said.tool:
            return replace(said, tool="think_aloud")
        case "wrong arguments" if said.tool:
            return replace(said, arguments={"answer": [said.tool]})
        case "wrong tool" | "wrong arguments":
            return replace(said, text=json.dumps({"answer": [1]}))
        case "prose":
            return replace(said, tool="", text=PROSE)
        case "empty":
            return replace(said, tool="", text="", written=said.thought)
        case "refusal":
            return replace(said, tool="", text=REFUSAL, end="refusal")
        case "length":
            return cut_off(said, said.written // 2)
        case "huge":
            return _huge(said)
    return said


def cut_off(said: Said, most: int) -> Said:
    """Cut a reply off at `most` tokens."""
    whole = json.dumps(said.arguments) if said.tool else said.text
    return replace(said, text=whole[: most * CHARACTERS_PER_TOKEN], written=most, end="length")


def _huge(said: Said) -> Said:
    padding = "so " * (HUGE // 3)
    if said.tool:
        return replace(said, arguments={**said.arguments, "reasons": padding}, written=said.written + HUGE // 4)
    return replace(said, text=said.text + padding, written=said.written + HUGE // 4)


def spoiled(reply: Reply, kind: str) -> Reply:
    """Damage a reply in transit."""
    match kind:
        case "html":
            return Reply(200, HTML, "text/html; charset=utf-8")
        case "other json":
            return replace(reply, body=b'{"status": "ok", "data": null}')
        case "error in 200":
            return replace(reply, body=b'{"error": {"message": "Provider returned error", "code": 502}}')
        case "no choices":
            return replace(reply, body=b'{"object": "chat.completion", "model": "any", "choices": [], "usage": null}')
        case "truncated":
            return replace(reply, body=reply.body[: len(reply.body) // 2])
        case "cut" | "reset" | "hang" | "endless":
            return replace(reply, manner=kind)
    return reply
