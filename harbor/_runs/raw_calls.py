"""calls.jsonl: the model calls of a run word for word, one JSON line each, which ends with a digest of the line.

A line that was damaged is found by its digest, or because it is no call. What it was can't be replayed, though it may
have been paid for. Lines of earlier versions have no digest.
"""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from harbor._core.errors import LogError
from harbor._core.events import Spent
from harbor._core.handles import remedy_of
from harbor._core.sent_files import LONGEST_LINE, MOST_RECORDS, read_sent
from harbor._models.replies.messages import MESSAGE
from harbor._models.replies.replay import RawCall

_DIGEST = b', "digest": "'
_LENGTH = 16
_FIELDS = tuple(field.name for field in fields(RawCall))


@dataclass(frozen=True, slots=True)
class RawCalls:
    """What a file of raw calls contains: the calls with their lines, in order, and the lines that can't be read.

    `damaged` has them by their numbers; what was left of a last line that was cut short is among them. `is_open`: the
    last line lacks nothing but its end.
    """

    calls: tuple[RawCall, ...] = ()
    lines: tuple[bytes, ...] = ()
    damaged: tuple[tuple[int, bytes], ...] = ()
    is_open: bool = False

    def hidden_in(self, damaged: bytes) -> int:
        """Give how many calls damaged bytes may have been: one per line, but zeros may hide line ends."""
        usual = -(-sum(map(len, self.lines)) // len(self.lines)) if self.lines else len(damaged)
        lines = [line for line in damaged.split(b"\n") if line.strip()]
        return sum(-(-len(line) // usual) if b"\0" in line else 1 for line in lines)


def line_of(call: RawCall) -> bytes:
    """Write a call as a line."""
    told = {name: getattr(call, name) for name in _FIELDS}
    if call.message is None:
        del told["message"]
    body = json.dumps(told, default=asdict).encode()[:-1]
    return body + _DIGEST + _digest(body) + b'"}\n'


def content_of(path: Path) -> bytes:
    """Read a file of records; one that is not there has none.

    Raises:
        LogError: it can't be read.
    """
    try:
        return read_sent(path, MOST_RECORDS)
    except FileNotFoundError:
        return b""
    except OSError as error:
        remedy = remedy_of(error, "restore the file")
        raise LogError(f"{str(path)!r} can't be read ({error.strerror}); {remedy}") from error


def recorded_calls(path: Path) -> RawCalls:
    """Read what a file of raw calls contains: nothing, if there is no file.

    Raises:
        LogError: it can't be read.
    """
    content = content_of(path)
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    calls = [(line, call_in(line)) for _, line in lines]
    readable = [(line, call) for line, call in calls if call is not None]
    return RawCalls(
        tuple(call for _, call in readable),
        tuple(line for line, _ in readable),
        tuple(one for one, (_, call) in zip(lines, calls, strict=True) if call is None),
        is_open=not content.endswith(b"\n") and bool(calls) and calls[-1][1] is not None,
    )


def read_calls(path: Path) -> list[RawCall]:
    """Read raw model calls from a file; a last line that was cut short is passed over.

    Raises:
        LogError: a line is not a model call; it says which.
    """
    found, last = recorded_calls(path), content_of(path).count(b"\n") + 1
    if wrong := [number for number, _ in found.damaged if number != last]:
        raise LogError(f"{str(path)!r} line {wrong[0]} is not a model call; restore the file")
    return list(found.calls)


def call_in(line: bytes) -> RawCall | None:
    """Read a line; None: it is damaged."""
    body, _, rest = line.rpartition(_DIGEST)
    if body and rest.rstrip() != _digest(body) + b'"}':
        return None
    try:
        if len(line) > LONGEST_LINE:
            return None
        told = json.loads(line)
        told.pop("digest", None)
        call = RawCall(**told | _nested(told))
        _check_types(call)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return call


def _nested(told: dict[str, Any]) -> dict[str, Any]:
    """Read what is no plain value of a call, as far as the line has it."""
    read: dict[str, Any] = {"message": MESSAGE.validate_python(told.get("message"))}
    read |= {name: tuple(told[name]) for name in ("marks", "not_taken") if name in told}
    return read | {name: Spent(**told[name]) for name in ("probes", "lost") if name in told}


def _digest(body: bytes) -> bytes:
    return sha256(body).hexdigest()[:_LENGTH].encode()


def _check_types(call: RawCall) -> None:
    """Refuse what is no number where one is added up, and what is no text where one is compared.

    Not by pydantic: half a character in a reply is kept as it came, and pydantic refuses it.
    """
    tokens = (call.input_tokens, call.cached_tokens, call.output_tokens, call.reasoning_tokens)
    beside = [value or 0 for spent in (call.probes, call.lost) for value in astuple(spent)]
    numbers = (*tokens, *beside, call.retries, call.began, call.seconds, call.cost_dollars or 0)
    noted = (call.key_env, call.fallback, call.reasoning, *call.marks, *call.not_taken)
    texts = (call.bidder, call.purpose, call.model, call.reply, call.error, *call.prompt, *noted)
    if type(call.imported) is not bool:
        raise TypeError
    if not all(isinstance(one, int | float) for one in numbers) or not all(isinstance(one, str) for one in texts):
        raise TypeError
