"""How two sets of settings differ, in words."""

from __future__ import annotations

from collections.abc import Iterator

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
MOST_NAMED = 3
LONGEST_SHOWN = 60
NOT_SET = "not set"


def differences(then: Json, now: Json, was: str = "then", is_: str = "now") -> str:
    """Name the first keys that differ, with both values: ``seed 7 then, 8 now``."""
    found = list(differing("", then, now))
    named = [f"{key} {short(old)} {was}, {short(new)} {is_}" for key, old, new in found[:MOST_NAMED]]
    more = [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    return "; ".join([*named, *more])


def differing(place: str, then: Json, now: Json) -> Iterator[tuple[str, Json, Json]]:
    """Give each key that differs, below `place`, with both values; None where it is not set."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            yield from differing(f"{place}.{key}".lstrip("."), then.get(key), now.get(key))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from differing(f"{place}[{number}]", old, new)
    elif then != now:
        yield place, then, now


def short(value: Json) -> str:
    """Write a value in one short line."""
    shown = str(value).lower() if isinstance(value, bool) else NOT_SET if value is None else repr(value)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."
