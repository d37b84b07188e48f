"""Any event as texts that a person can read, also one of a stranger's game: its fields, and a plain sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from decimal import Decimal
from typing import Any

from harbor._core.events import Event, PrivateEvent
from harbor._core.money import dollars

Spell = Callable[[Decimal], str]
"""How an amount is written whose type says only that somebody claims it."""
_WORDS = re.compile(r"(?<!^)(?=[A-Z])")
_FIELDS: dict[type, tuple[Field[Any], ...]] = {}


def number(amount: Decimal) -> str:
    """Write an amount that is not money."""
    return f"{amount:,f}"


def name_of_kind(event: Event) -> str:
    """Name the type of an event in words.

    >>> from harbor._core.events import SaleClosed
    >>> name_of_kind(SaleClosed())
    'sale closed'
    """
    return _WORDS.sub(" ", type(event).__name__).lower()


def field_texts(event: Event, spell: Spell = dollars) -> Iterator[tuple[str, str]]:
    """Give the name and the value of each field of an event."""
    return _of_dataclass(event, spell)


def plain_sentence(event: Event, spell: Spell = dollars) -> str:
    """Say in a sentence what an event is that has no words of its own."""
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
