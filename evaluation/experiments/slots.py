"""Slots: "@1", "@2" ..., the places in an experiment's settings that personas and models fill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

SLOT = re.compile(r"@[1-9][0-9]?")


def slots_of_models(settings: Iterable[object]) -> tuple[str, ...]:
    """Name the slots that stand for a `model` anywhere in settings, or in changes of them, in order."""
    named = {model for one in settings for model in _models(one) if SLOT.fullmatch(model)}
    return tuple(sorted(named, key=number))


def number(slot: str) -> int:
    """Give the number of a slot, from 1."""
    return int(slot[1:])


def _models(settings: object) -> Iterator[str]:
    if isinstance(settings, list):
        for one in settings:
            yield from _models(one)
    elif isinstance(settings, Mapping):
        if isinstance(settings.get("model"), str):
            yield settings["model"]
        for one in settings.values():
            yield from _models(one)
