"""How facts stand in a prompt: as JSON or in prose, between marks that nothing in them can close."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from harbor._core.dialogue import merged
from harbor._core.money import as_number
from harbor._core.prose import from_prose, in_prose

Form = Literal["json", "prose"]
SINCE = "\nSince your last answer:\n"
"""What stands in prose before that which continues earlier lists."""
_BLOCK = re.compile(r"<facts>\n(.*?)\n</facts>", re.DOTALL)


def block(written: str, form: Form = "json") -> str:
    """Set facts, which `as_json` wrote, between their marks."""
    return f"<facts>\n{written if form == 'json' else _as_prose(written)}\n</facts>"


def facts_in(text: str) -> dict[str, Any]:
    """Read the facts of a text, in whichever form; in a dialogue, each turn adds what is new."""
    return merged(_read(found[1]) for found in _BLOCK.finditer(text))


def as_json(facts: Mapping[str, Any]) -> str:
    """Write facts as one line of JSON that cannot close the block it stands in.

    Angle brackets and control characters inside texts are escaped.
    """
    text = _ENCODER.encode(facts)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _as_prose(written: str) -> str:
    told = json.loads(written)  # as the reader of JSON would have them
    added = told.pop("added", None)
    return in_prose(told) + (f"{SINCE}{in_prose(added)}" if added else "")


def _read(written: str) -> dict[str, Any]:
    if written.endswith("}"):  # a sentence ends with a stop
        read: dict[str, Any] = json.loads(written)
        return read
    told, _, added = f"\n{written}".partition(SINCE)
    return {**from_prose(told[1:]), **({"added": from_prose(added)} if added else {})}


def _number(value: object) -> int | float:
    if isinstance(value, Decimal):
        return as_number(value)
    raise TypeError(f"{value!r} is no fact: facts are texts, numbers, lists and tables")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_number)
