"""Harbor's own catalogue: ten kinds of home buyers and forty houses.

Labels are in a file of their own, apart from the texts that bidders read.
Source: Harbor sec. 3.3 and App. A (names and prices); the texts are our own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from harbor._config.auction import Item, Persona, check
from harbor.personas._catalog.catalogue import Catalogue
from harbor.personas._catalog.sampling import sample


def personas() -> Mapping[str, Persona]:
    """Give the personas of the catalogue "homes" by id, in order."""
    return HOMES.personas


def houses(count: int = 10, seed: int = 0, matched: Mapping[str, int] | None = None) -> tuple[Item, ...]:
    """Sample houses of the catalogue "homes" without repeats, in random order.

    Args:
        count: how many houses.
        seed: equal seeds give equal samples.
        matched: exactly how many houses there are for each of these personas; the rest suit other personas.

    Raises:
        ConfigError: the catalogue has fewer houses than that.
    """
    return sample(HOMES, count, seed, matched)


def _personas() -> dict[str, Persona]:
    return {entry["id"]: check(Persona, entry, "personas.toml") for entry in _read("personas.toml")["personas"]}


def _items() -> dict[str, Item]:
    suits = _read("labels.toml")["persona_of"]
    found = {}
    for entry in _read("houses.toml")["houses"]:
        key = entry.pop("id")
        found[key] = check(Item, entry | {"persona": suits[key]}, f"house {key!r}")
    return found


def _read(name: str) -> dict:  # type: ignore[type-arg]
    return tomllib.loads((files("harbor.personas._catalog.data") / name).read_text(encoding="utf-8"))


HOMES = Catalogue(
    name="homes",
    description="ten kinds of home buyers and forty houses",
    version="1",
    personas=_personas(),
    items=_items(),
)
