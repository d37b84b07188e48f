"""Forges logs as an attacker can, since digests have no key: it changes fields and computes the digests again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

Line = dict[str, Any]
HEAD = ("seq", "at", "audience", "type", "digest")
NAMES = ("Nobody", "", "Ann", "Ben", "Cho", "run 1", "day 1", "First House")


def lines_of(log: Path) -> list[Line]:
    """Read the lines of a log."""
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def write(log: Path, lines: Iterable[Line], numbered: bool = True) -> None:
    """Write lines with matching numbers and digests."""
    digest, written = "", []
    for number, line in enumerate(lines):
        fields = {**line, "seq": number} if numbered else dict(line)
        if fields.get("audience") == "everyone":
            del fields["audience"]
        fields.pop("digest", None)
        body = json.dumps(fields)[:-1]
        digest = sha256((digest + body).encode()).hexdigest()[:16]
        written.append(f'{body},"digest":"{digest}"}}\n')
    log.write_text("".join(written), encoding="utf-8")


def of_type(lines: Iterable[Line], *names: str) -> list[Line]:
    """Return the lines of these types."""
    return [line for line in lines if line["type"] in names]


def public(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that everyone may see."""
    return [line for line in lines if "audience" not in line]


def forged(lines: list[Line], rng: Random, pick: Callable[[list[Line]], list[Line]] = public) -> tuple[str, list[Line]]:
    """Forge one of the picked lines: change a field, drop the line, write it twice, or swap it with another.

    Return a description of the change, and the new lines, which differ from the old ones.
    """
    while True:
        new = deepcopy(lines)
        line = rng.choice(pick(new))
        done = rng.choice((_change, _change, _change, _drop, _double, _swap))(new, line, pick, rng)
        if [_told(one) for one in new] != [_told(one) for one in lines]:
            return done, new


def _told(line: Line) -> Line:
    return {name: value for name, value in line.items() if name not in ("seq", "at", "digest")}


def _change(lines: list[Line], line: Line, pick: object, rng: Random) -> str:
    places = list(_places(line))
    if not places:
        return "nothing"
    holder, key = rng.choice(places)
    old = holder[key]
    holder[key] = _other(old, rng)
    return f"line {line['seq'] + 1} {line['type']}: {key} {old!r} -> {holder[key]!r}"


def _places(line: Line) -> Iterable[tuple[Any, Any]]:
    """Yield every value of an event, at any depth."""
    todo = [(line, key) for key in line if key not in HEAD]
    while todo:
        holder, key = todo.pop()
        yield holder, key
        inner = holder[key]
        if isinstance(inner, dict):
            todo += [(inner, name) for name in inner]
        elif isinstance(inner, list):
            todo += [(inner, place) for place in range(len(inner))]


def _other(value: Any, rng: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return rng.choice([value + 1, value - 1, -value, 0, 1, value * 2, 10**9])
    if isinstance(value, str):
        return rng.choice([*NAMES, f"{value}x"])
    if isinstance(value, list):
        return rng.choice([value[:-1], value[::-1], value + value[:1], []])
    if isinstance(value, dict):
        return {key: value[key] for key in list(value)[:-1]}
    return rng.choice([0, 1, "Ann"])


def _drop(lines: list[Line], line: Line, pick: object, rng: Random) -> str:
    lines.remove(line)
    return f"line {line['seq'] + 1} {line['type']} dropped"


def _double(lines: list[Line], line: Line, pick: object, rng: Random) -> str:
    lines.insert(lines.index(line), deepcopy(line))
    return f"line {line['seq'] + 1} {line['type']} doubled"


def _swap(lines: list[Line], line: Line, pick: Callable[[list[Line]], list[Line]], rng: Random) -> str:
    other = rng.choice(pick(lines))
    here, there = lines.index(line), lines.index(other)
    lines[here], lines[there] = lines[there], lines[here]
    return f"lines {line['seq'] + 1} {line['type']} and {other['seq'] + 1} {other['type']} swapped"
