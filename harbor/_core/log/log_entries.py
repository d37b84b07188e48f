"""The entries of a log: writes their events as JSON lines, reads them back, and puts them in words for people.

A line is ``{"seq", "at", "audience", "type", ...the event's fields..., "digest"}``; `at` is seconds since the log was
opened. The audience is left out where it is everyone, and so is a field that has its default. Each digest covers the
line and the digest of the line before, so an edited line is found. The words of an event without its own are its
fields and a plain sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from functools import cache, lru_cache
from hashlib import sha256
from math import isfinite
from types import ModuleType
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from harbor._core.basics.errors import LogError
from harbor._core.basics.numbers import dollars
from harbor._core.log import acts, events, thoughts
from harbor._core.log.events import (
    EVERYONE,
    AnalystEvent,
    Audience,
    Event,
    LogOpened,
    PrivateEvent,
    PublicEvent,
    SaleClosed,
    SeriesClosed,
    SharedEvent,
)

DIGEST = b',"digest":'
"""Separator in a line between its event and its digest."""


class Entry(NamedTuple):
    """One line of a log: its number `seq`, its time `at`, and its event.

    Lines are numbered from 0. Times are in seconds since the log was opened.

    >>> Entry(0, 0.5, LotOpened("Harbor View")).event.item
    'Harbor View'
    """

    seq: int
    at: float
    event: Event


def is_over(entries: Sequence[Entry]) -> bool:
    """Say whether the last of these entries closes a sale, or a series."""
    return bool(entries) and isinstance(entries[-1].event, SaleClosed | SeriesClosed)


def seats_of(event: Event) -> tuple[str, ...]:
    """Name the seats that may see an event which is not for everyone."""
    if isinstance(event, SharedEvent):
        return event.seats
    return (event.bidder,) if isinstance(event, PrivateEvent) else ()


def told_alone(audience: str) -> tuple[str, ...]:
    """Return the seats in a written audience; empty for everyone and for the analyst.

    >>> told_alone("bidder:Ann"), told_alone('seats:["Ann", "Ben"]'), told_alone("everyone")
    (('Ann',), ('Ann', 'Ben'), ())
    """
    kind, _, names = audience.partition(":")
    if kind == "bidder":
        return (names,)
    try:
        return tuple(json.loads(names)) if kind == "seats" else ()
    except (ValueError, TypeError):
        return ()


def is_seen_by(bidder: str, event: Event) -> bool:
    """Say whether a bidder may see an event."""
    return event.audience == EVERYONE or bidder in seats_of(event)


def _name(kind: type[Event]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_AUDIENCES = (PublicEvent, PrivateEvent, SharedEvent, AnalystEvent)
_ADAPTERS: dict[type[Event], tuple[str, TypeAdapter[Any]]] = {}


def _events_in(*modules: ModuleType) -> Iterator[type[Event]]:
    for kind in (kind for module in modules for kind in vars(module).values()):
        if isinstance(kind, type) and issubclass(kind, _AUDIENCES) and kind not in _AUDIENCES:
            yield kind


def named(kinds: Iterable[type[Event]]) -> dict[str, type[Event]]:
    """Return Harbor's own event types and these, by their names in a log.

    Raises:
        LogError: two events have the same name.
    """
    known = dict(_OWN)
    for kind in kinds:
        if known.setdefault(_name(kind), kind) is not kind:
            raise LogError(f"two events are called {kind.__name__!r}; rename the one in {kind.__module__!r}")
    return known


_OWN: dict[str, type[Event]] = {_name(kind): kind for kind in _events_in(events, thoughts, acts)}


def _adapter(kind: type[Event]) -> tuple[str, TypeAdapter[Any]]:
    """Return the name of an event type and its `TypeAdapter`, which is made at its first use (1 ms)."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = _name(kind), TypeAdapter(kind)
    return _ADAPTERS[kind]


def name_in_log(event: Event) -> str:
    """Return the name of an event's type, as a log has it."""
    return _adapter(type(event))[0]


@lru_cache(maxsize=4096)
def _addressed(audience: Audience, name: str) -> str:
    """Write the audience and the type of an event in JSON, without braces."""
    shown = {"type": name} if audience == EVERYONE else {"audience": audience, "type": name}
    return json.dumps(shown, separators=(",", ":"))[1:-1]


def encode(entry: Entry, digest_before: str) -> tuple[bytes, str]:
    """Write an entry as a JSON line; return the line and its digest."""
    seq, at, event = entry
    name, fields = _written(event, _at_default(event))
    head = f'{{"seq":{seq},"at":{round(at, 6)!r},{_addressed(event.audience, name)}'
    body = head.encode() + (b"," + fields if fields else b"")
    digest = sha256(digest_before.encode() + body).hexdigest()[:16]
    return body + DIGEST + b'"' + digest.encode() + b'"}\n', digest


def event_json(event: Event) -> str:
    """Write an event as a bidder gets it: with all its fields, but without its number, time, audience and digest."""
    name, fields = _written(event)
    return f'{{"type":"{name}"' + (f",{fields.decode()}" if fields else "") + "}"


def event_of(text: str, kinds: Iterable[type[Event]]) -> Event:
    """Read an event that `event_json` wrote: one of Harbor's own, or of these kinds.

    Raises:
        ValueError: it is none.
    """
    fields = json.loads(text)
    kind = named(kinds).get(fields.pop("type", "")) if isinstance(fields, dict) else None
    if kind is None:
        raise ValueError(f"{text[:100]!r} is no event")
    event: Event = _adapter(kind)[1].validate_json(json.dumps(fields))
    return event


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """Return the fields of a type of event that have a default, with the default."""
    factories = ((one, one.default_factory) for one in dataclass_fields(kind) if one.default_factory is not MISSING)
    return (
        *((one.name, one.default) for one in dataclass_fields(kind) if one.default is not MISSING),
        *((one.name, make()) for one, make in factories),
    )


def _at_default(event: Event) -> set[str] | None:
    """Name the fields of an event that have their default."""
    kind: Any = type(event)
    return {name for name, default in _defaults(kind) if getattr(event, name) == default} or None


def _written(event: Event, exclude: set[str] | None = None) -> tuple[str, bytes]:
    """Return the name of an event, and its fields in JSON without braces."""
    name, adapter = _adapter(type(event))
    try:
        return name, adapter.serializer.to_json(event, exclude=exclude)[1:-1]
    except PydanticSerializationError:  # a lone surrogate, as in a broken file name
        try:
            fields = adapter.dump_python(event, mode="json", exclude=exclude)
        except PydanticSerializationError as error:
            raise LogError(
                f"{event!r} can't be written; give each field what its type says, and an amount as a Decimal"
            ) from error
        plain = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return name, plain.encode(errors="replace")[1:-1]


def decode(line: bytes, digest_before: str, known: Mapping[str, type[Event]]) -> tuple[Entry, str]:
    """Read a JSON line with one of the events `known` by their names.

    Raises:
        ValueError: not JSON, or not an event.
        LogError: its digest does not follow from the line and the digest before it.
    """
    fields = json.loads(line)
    digest = digest_of(line, digest_before)
    if digest != fields["digest"]:
        raise LogError("was edited: its digest does not match its text")
    return decode_fields(fields, line, known[fields["type"]]), digest


def digest_of(line: bytes, digest_before: str) -> str:
    """Return the digest of a line's bytes; so a line whose JSON was only reformatted counts as edited too."""
    body = line.rstrip(b"\n").rpartition(DIGEST)[0]
    return sha256(digest_before.encode() + body).hexdigest()[:16]


def decode_fields(fields: Mapping[str, Any], line: bytes, kind: type[Event]) -> Entry:
    """Make an entry from a line whose JSON is `fields`, with an event of this kind.

    Raises:
        ValueError: the number is no integer, the time is not finite, or the fields or the audience are not those of
            the event.
    """
    seq, at = fields["seq"], fields["at"]
    if type(seq) is not int or type(at) not in (int, float) or not isfinite(at):
        raise ValueError("neither number nor time of a line")
    _, adapter = _adapter(kind)
    event: Event = adapter.validate_json(line)
    if fields.get("audience", EVERYONE) != event.audience:
        raise ValueError(f"of the audience {fields.get('audience', EVERYONE)!r}, and its event is {event.audience!r}'s")
    return Entry(seq, at, event)


def fields_of_kind(kind: type[Event]) -> frozenset[str]:
    """Name the fields of a line with an event of this kind."""
    return frozenset({"seq", "at", "audience", "type", "digest", *(one.name for one in dataclass_fields(kind))})


def schema_of(line: bytes) -> int | None:
    """Return the schema in the opening line of a log; None if the line is something else."""
    try:
        fields = json.loads(line)
        return int(fields["schema"]) if fields["type"] == _name(LogOpened) else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def is_torn(lines: Sequence[bytes]) -> bool:
    """Say whether a power cut damaged the last lines of a log: they begin with zeros, or none of them is JSON.

    A line that is JSON was written whole; if it is no event, it was edited.
    """
    return b"\0" in lines[0] or not any(map(_is_json, lines))


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


Spell = Callable[[Decimal], str]
"""Writes an amount whose type says only that somebody claims it."""
_WORDS = re.compile(r"(?<!^)(?=[A-Z])")
_FIELDS: dict[type, tuple[Field[Any], ...]] = {}


def number(amount: Decimal) -> str:
    """Write an amount that is not money."""
    return f"{amount:,f}"


def name_of_kind(event: Event) -> str:
    """Name the type of an event in words.

    >>> from harbor._core.log.events import SaleClosed
    >>> name_of_kind(SaleClosed())
    'sale closed'
    """
    return _WORDS.sub(" ", type(event).__name__).lower()


def field_texts(event: Event, spell: Spell = dollars) -> Iterator[tuple[str, str]]:
    """Return the name and the value of each field of an event."""
    return _of_dataclass(event, spell)


def plain_sentence(event: Event, spell: Spell = dollars) -> str:
    """Write an event that has no words of its own as a sentence."""
    whose = f"{event.bidder}: " if isinstance(event, PrivateEvent) else ""
    told = "; ".join(f"{name} {text}" for name, text in field_texts(event, spell) if text and name != "bidder")
    return f"{whose}{name_of_kind(event)}{f' ({told})' if told else ''}."


def _of_dataclass(value: Any, spell: Spell) -> Iterator[tuple[str, str]]:
    kind = type(value)
    if kind not in _FIELDS:
        _FIELDS[kind] = fields(kind)
    for one in _FIELDS[kind]:
        how = dollars if "Money" in str(one.type) else spell
        yield one.name.replace("_", " "), _text(getattr(value, one.name), how)


def _text(value: object, spell: Spell) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case Decimal():
            return spell(value)
        case tuple() | list():
            return _joined([_text(one, spell) for one in value])
        case Mapping():
            return _joined([f"{name} {_text(one, spell)}" for name, one in value.items()])
        case _ if is_dataclass(value):
            return ", ".join(f"{name} {text}" for name, text in _of_dataclass(value, spell) if text)
        case _:
            return str(value)


def _joined(texts: list[str]) -> str:
    return ("; " if any("," in text for text in texts) else ", ").join(texts)
