"""Writes events as the JSON lines of a log, and reads them back.

A line is ``{"seq", "at", "audience", "type", ...the event's fields..., "digest"}``; `at` is seconds since the log was
opened. Each digest covers the line and the digest of the line before, so an edited line is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from types import ModuleType
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from harbor._core import events, thoughts
from harbor._core.errors import LogError
from harbor._core.events import AnalystEvent, Audience, Event, LogOpened, PrivateEvent, PublicEvent


class Entry(NamedTuple):
    """One line of a log: its number, seconds since the log was opened, and the event."""

    seq: int
    at: float
    event: Event


def _name(kind: type[Event]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_AUDIENCES = (PublicEvent, PrivateEvent, AnalystEvent)
_ADAPTERS: dict[type[Event], tuple[str, TypeAdapter[Any]]] = {}


def _events_in(*modules: ModuleType) -> Iterator[type[Event]]:
    for kind in (kind for module in modules for kind in vars(module).values()):
        if isinstance(kind, type) and issubclass(kind, _AUDIENCES) and kind not in _AUDIENCES:
            yield kind


def named(kinds: Iterable[type[Event]]) -> dict[str, type[Event]]:
    """Give the events that a log with these may have, by their names in it: Harbor's own, and these.

    Raises:
        LogError: two events have the same name.
    """
    known = dict(_OWN)
    for kind in kinds:
        if known.setdefault(_name(kind), kind) is not kind:
            raise LogError(f"two events are called {kind.__name__!r}; rename the one in {kind.__module__!r}")
    return known


_OWN: dict[str, type[Event]] = {_name(kind): kind for kind in _events_in(events, thoughts)}


def _adapter(kind: type[Event]) -> tuple[str, TypeAdapter[Any]]:
    """Give the name of an event type and what writes and reads it, made when it is first needed: it costs 1 ms."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = _name(kind), TypeAdapter(kind)
    return _ADAPTERS[kind]


@lru_cache(maxsize=4096)
def _addressed(audience: Audience, name: str) -> str:
    """Write the audience and the type of an event in JSON, without braces."""
    return json.dumps({"audience": audience, "type": name})[1:-1]


def encode(entry: Entry, digest_before: str) -> tuple[bytes, str]:
    """Write an entry as a JSON line; returns the line and its digest."""
    seq, at, event = entry
    name, adapter = _adapter(type(event))
    try:
        fields = adapter.serializer.to_json(event)[1:-1]
    except PydanticSerializationError:  # a lone surrogate, as in a broken file name
        plain = json.dumps(adapter.dump_python(event, mode="json"), ensure_ascii=False)
        fields = plain.encode(errors="replace")[1:-1]
    head = f'{{"seq": {seq}, "at": {round(at, 6)!r}, {_addressed(event.audience, name)}'
    body = head.encode() + (b"," + fields if fields else b"")
    digest = sha256(digest_before.encode() + body).hexdigest()[:16]
    return body + b',"digest":"' + digest.encode() + b'"}\n', digest


def decode(line: bytes, digest_before: str, known: Mapping[str, type[Event]]) -> tuple[Entry, str]:
    """Read a JSON line with one of the events `known` by their names.

    Raises:
        ValueError: not JSON, or not an event.
        LogError: its digest does not follow from the line and the digest before it.
    """
    fields = json.loads(line)
    digest = fields.pop("digest")
    # The digest covers the bytes as they stand, so that JSON written another way counts as edited too.
    body = line.rstrip(b"\n").rpartition(b',"digest":')[0]
    if sha256(digest_before.encode() + body).hexdigest()[:16] != digest:
        raise LogError("was edited: its digest does not match its text")
    _, adapter = _adapter(known[fields.pop("type")])
    seq, at = fields.pop("seq"), fields.pop("at")
    fields.pop("audience")
    return Entry(seq, at, adapter.validate_json(json.dumps(fields))), digest


def schema_of(line: bytes) -> int | None:
    """Give the schema in the opening line of a log; None if the line is something else."""
    try:
        fields = json.loads(line)
        return int(fields["schema"]) if fields["type"] == _name(LogOpened) else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
