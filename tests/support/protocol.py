"""The JSON schema of a turn, from the page and the code. `python tests/support/protocol.py` writes it again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harbor._core.asking.asks import Space
from harbor._core.log.events import AnalystEvent, Event
from harbor._core.log.log_entries import named
from harbor._core.plugins.finding import find
from harbor._doors.door import PROTOCOL

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, SCHEMA = DOCS / "protocol.md", DOCS / "protocol.schema.json"
GAMES = ("english", "english-private", "first-price", "second-price", "beauty", "water")
TEXT, COUNT, TABLE = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "object"}
NUMBER = {"type": "integer", "minimum": 1}
TYPES: dict[str, dict[str, Any]] = {
    "harbor": {"const": PROTOCOL},
    "seat": TEXT,
    "turn": COUNT,
    "game": TEXT,
    "bidder": TEXT,
    "item": TEXT,
    "round": COUNT,
    "attempt": NUMBER,
    "refusal": TEXT,
    "note": TEXT,
    "space": {"$ref": "#/$defs/Space"},
    "answer": TABLE,
    "words": TEXT,
    "so_far": TEXT,
    "new": COUNT,
    "seen": {"type": "array", "items": {"$ref": "#/$defs/Event"}},
}


def schema() -> dict[str, Any]:
    """Return the schema as it should be, with descriptions from the page."""
    told = {name: kind | {"description": text} for (name, text), kind in zip(fields(), TYPES.values(), strict=True)}
    inner: dict[str, Any] = {}
    space = _placed(TypeAdapter(Space).json_schema(mode="serialization"), inner)
    shapes = dict(sorted(_events(inner)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A turn of Harbor's bidder protocol, version {PROTOCOL}",
        "type": "object",
        "required": list(told),
        "properties": told,
        "$defs": {"Space": space, "Event": _event(list(shapes)), **dict(sorted((inner | shapes).items()))},
    }


def fields() -> list[tuple[str, str]]:
    """Return each field of a turn and its description on the page."""
    table = PAGE.read_text(encoding="utf-8").partition("| field | what it is |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE)


def _event(names: list[str]) -> dict[str, Any]:
    """Describe the fields of each event by its type. Packages may bring other events, with only the type known."""
    return {
        **TABLE,
        "required": ["type"],
        "properties": {"type": TEXT},
        "allOf": [
            {"if": {"properties": {"type": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}"}} for name in names
        ],
    }


def _events(inner: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schema of each event that a bidder may see, by its type: the house's, and those of Harbor's games."""
    known = named(kind for game in GAMES for kind in find("game", game).events)
    for name, kind in known.items():
        if not issubclass(kind, AnalystEvent) and kind.__module__ != "harbor._core.log.thoughts":
            yield name, _shape(name, kind, inner)


def _shape(name: str, kind: type[Event], inner: dict[str, Any]) -> dict[str, Any]:
    shape = _placed(TypeAdapter(kind).json_schema(mode="serialization"), inner)
    described = " ".join(cleandoc(kind.__doc__ or "").partition("\n\n")[0].split())
    return {
        **TABLE,
        "description": described,
        "required": ["type", *shape.get("properties", {})],
        "properties": {"type": {"const": name}, **shape.get("properties", {})},
    }


def _placed(shape: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    """Move the inner schemas out, and drop titles, which only repeat names, and examples."""
    inner |= {name: _plain(one) for name, one in shape.pop("$defs", {}).items()}
    return _plain(shape)


def _plain(value: Any, names: bool = False) -> Any:
    if isinstance(value, str):
        return value.partition("\n\n>>> ")[0]  # an example in Python says nothing to other languages
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _plain(one, key == "properties") for key, one in value.items() if names or key != "title"}


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")
