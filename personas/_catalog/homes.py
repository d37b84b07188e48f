"""Harbor's own catalogues: ten kinds of home buyers, and two sets of houses.

Those of "homes" say in the words of a persona whom they suit. Those of "homes-low-overlap" tell it by facts, in other
words; it has houses that suit two personas, and some that suit nobody.
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


def _items(which: str = "") -> dict[str, Item]:
    suits = _read(f"labels{which}.toml")["persona_of"]
    found = {}
    for entry in _read(f"houses{which}.toml")["houses"]:
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

HOMES_LOW_OVERLAP = Catalogue(
    name="homes-low-overlap",
    description="the same buyers, and houses that tell whom they suit by facts and not by shared words",
    version="1",
    personas=HOMES.personas,
    items=_items("-low-overlap"),
)
