"""Slots: "@1", "@2" ..., the places in an experiment's settings that personas and models fill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

SLOT = re.compile(r"@[1-9][0-9]?")


def slots_of_models(settings: Iterable[object]) -> tuple[str, ...]:
    """Name the slots that stand for a `model` anywhere in settings, or in changes of them, in order."""
    return tuple(sorted({model for model in named("model", settings) if SLOT.fullmatch(model)}, key=number))


def number(slot: str) -> int:
    """Give the number of a slot, from 1."""
    return int(slot[1:])


def named(key: str, settings: object) -> Iterator[str]:
    """Yield every name that settings, or changes to them, have under a key at any depth; lists and mixes one by one."""
    if isinstance(settings, (list, tuple)):
        for one in settings:
            yield from named(key, one)
    elif isinstance(settings, Mapping):
        own = settings.get(key)
        several = own if isinstance(own, (list, tuple, Mapping)) else [own]
        yield from (one for one in several if isinstance(one, str))
        for one in settings.values():
            yield from named(key, one)
