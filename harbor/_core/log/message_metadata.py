"""The JSON that an auctioneer's message carries beside its words: its events, and the ask.

A message is written for one seat, and holds only events that this seat may see. The reader makes sure that the
auctioneer spoke.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json

from harbor._core.asking.asks import Ask, Pause
from harbor._core.log.events import Event
from harbor._core.log.log_entries import event_of, is_seen_by

ASK: TypeAdapter[Ask | Pause] = TypeAdapter(Ask | Pause)
"""Writes and reads asks; it is not in the module of asks, as it takes a while to make."""


EVENTS, ASKED = "events", "ask"
MOST_CARRIED = 1_000_000
"""Greatest length of the JSON under one name, in characters."""


def carried(events: Sequence[str], ask: Ask | Pause | None = None) -> dict[str, str]:
    """Write events that are JSON already, and an ask, as the metadata of a message."""
    told = {EVENTS: f"[{','.join(events)}]"} if events else {}
    return told if ask is None else {**told, ASKED: json.dumps(_fields(ask), ensure_ascii=False)}


def ask_in(metadata: Mapping[str, Any]) -> Ask | Pause | None:
    """Read the ask that a message carries; None if it carries none."""
    try:
        told = from_json(_text(metadata, ASKED))
        is_call = isinstance(told, dict) and not told.keys().isdisjoint(("item", "space"))
        ask = ASK.validate_python({"round": 1, **told} if is_call else told)
    except (ValueError, TypeError):  # TypeError: a lone surrogate
        return None
    return None if is_call and isinstance(ask, Pause) else ask  # a call that lacks something is no time to think


def events_in(metadata: Mapping[str, Any], bidder: str, kinds: Iterable[type[Event]]) -> list[Event] | None:
    """Read the events that a message carries; None if it carries no list.

    Values that are no events, and events that this bidder may not see, are left out.

    Args:
        metadata: of the message.
        bidder: the hearer.
        kinds: the events of the game, beside Harbor's own.
    """
    try:
        told = from_json(_text(metadata, EVENTS))
    except (ValueError, TypeError):  # TypeError: a lone surrogate
        return None
    return [event for event in _read(told, kinds) if is_seen_by(bidder, event)] if isinstance(told, list) else None


def _fields(ask: Ask | Pause) -> Any:
    """Return an ask with the names of its fields, as a turn of the protocol has them."""
    told = ASK.dump_python(ask, mode="json")
    return dict(zip(ask._fields, told, strict=True)) if isinstance(ask, Ask) else told


def _text(metadata: Mapping[str, Any], name: str) -> str:
    text = metadata.get(name)
    if not isinstance(text, str) or len(text) > MOST_CARRIED:
        raise ValueError(f"the message carries no JSON text of at most {MOST_CARRIED:,} characters under {name!r}")
    return text


def _read(told: Iterable[Any], kinds: Iterable[type[Event]]) -> Iterator[Event]:
    for one in told:
        try:
            yield event_of(json.dumps(one), kinds)
        except (ValueError, TypeError):  # a type that is no name
            continue
