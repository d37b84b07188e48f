"""Compares two golden sets by kind and game, and shows the first different value of each."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

AROUND = 120
"""Characters that are shown before and after the first different one."""


class Difference(NamedTuple):
    """The place of a difference between two sets, and both values."""

    kind: str
    game: str
    where: str
    old: str
    new: str


def differences(old: Path, new: Path) -> Iterator[Difference]:
    """Yield the first difference of each kind in each game, with both values if both sets have them."""
    if (old / "full.jsonl.gz").is_file() and (new / "full.jsonl.gz").is_file():
        yield from _of_sets(_full(old), _full(new))
    else:
        yield from _of_sets(json.loads(_golden(old))["games"], json.loads(_golden(new))["games"])


def _golden(place: Path) -> str:
    return (place / "golden.json").read_text(encoding="utf-8")


def _full(place: Path) -> dict[str, Any]:
    with gzip.open(place / "full.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {one["game"]: one["kept"] for one in map(json.loads, lines)}


def _of_sets(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Difference]:
    for game in sorted(old.keys() | new.keys()):
        if game not in old or game not in new:
            yield Difference("game", game, "", *("is there" if game in one else "is missing" for one in (old, new)))
            continue
        for kind in sorted(old[game].keys() | new[game].keys()):
            found = first(old[game].get(kind), new[game].get(kind))
            if found is not None:
                yield Difference(kind, game, *found)


def first(old: Any, new: Any, where: str = "") -> tuple[str, str, str] | None:
    """Return the first difference of two values: its place, and the two texts."""
    if old == new:
        return None
    if isinstance(old, dict) and isinstance(new, dict):
        places: Any = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        return first(old.get(places[0]), new.get(places[0]), f"{where}.{places[0]}") if places else (where, "", "")
    if isinstance(old, list) and isinstance(new, list):
        at = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
        if at is not None:
            return first(old[at], new[at], f"{where}[{at}]")
        at = min(len(old), len(new))
        ends = [_text(one[at]) if at < len(one) else "(ends)" for one in (old, new)]
        return f"{where}[{at}]", *_excerpts(*ends)
    return where, *_excerpts(_text(old), _text(new))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _excerpts(old: str, new: str) -> tuple[str, str]:
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    begin = max(0, same - AROUND)
    cut = "…" if begin else ""
    return cut + old[begin : same + AROUND], cut + new[begin : same + AROUND]


def report(found: list[Difference], most: int) -> Iterator[str]:
    """Report the number of different games for each kind, and show the first ones."""
    for kind in sorted({one.kind for one in found}):
        own = [one for one in found if one.kind == kind]
        yield f"{kind}: {len(own)} games differ"
        for one in own[:most]:
            yield f"  {one.game} {one.where}\n    old: {one.old}\n    new: {one.new}"
    yield "" if found else "no difference"
