"""The page of events, with the audience and the fields of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import Field, fields
from typing import Any

from harbor._core.log import acts, events, thoughts
from harbor._core.log.events import AnalystEvent, Event, PrivateEvent, PublicEvent, SharedEvent
from harbor._core.log.log_entries import _events_in, _name
from harbor._core.plugins.finding import everything
from support.references.markdown import MADE, code, prose, table

HEAD = f"""# Events

Each line of a log (`events.jsonl`) is one event: `seq`, `at` (seconds since the beginning), its type, the audience that
may see it, and its own fields. The audience is left out where it is everyone, and so is a field that has its default.
Amounts are dollars. An `Act` is an action as JSON, such as `{{"action": "bid", "amount": 120}}`. In Python events are
the dataclasses of `harbor.events`.

{MADE}"""
AUDIENCES: dict[str, type[Event]] = {
    "Everyone may see": PublicEvent,
    "Only its bidder and the analyst may see": PrivateEvent,
    "Some seats, which it names, and the analyst may see": SharedEvent,
    "Only the analyst may see": AnalystEvent,
}


def page() -> str:
    """Return the page as it should be."""
    own = list(_events_in(events, thoughts, acts))
    lines = [HEAD]
    for title, audience in AUDIENCES.items():
        lines += [f"## {title}\n", *_listed(kind for kind in own if issubclass(kind, audience))]
    for found in everything("game"):
        if theirs := [kind for kind in found.value.events if kind not in own]:
            lines += [f"## Of the game `{found.name}`\n", *_listed(theirs)]
    return "\n".join(lines).rstrip() + "\n"


def _listed(kinds: Iterable[type[Event]]) -> Iterator[str]:
    for kind in kinds:
        yield f"**`{_name(kind)}`** (`{kind.__name__}`, {_seen_by(kind)}). {prose(kind)}\n"
        if rows := [(code(one.name), _type(one)) for one in fields(kind)]:
            yield from table(("field", "type"), rows)


def _seen_by(kind: type[Event]) -> str:
    if issubclass(kind, PublicEvent):
        return "public"
    if issubclass(kind, SharedEvent):
        return "of some seats"
    return "of one bidder" if issubclass(kind, PrivateEvent) else "the analyst's"


def _type(one: Field[Any]) -> str:
    return code("number" if one.name == "units" else re.sub(r"\b(Money|Claim)\b", "dollars", str(one.type)))
