"""The catalog: ten personas and forty houses. Labels are in a file of their own, apart from the texts bidders read.

Source: Harbor sec. 3.3 and App. A (names and prices); the texts are our own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random

from harbor._config.auction import Item, Persona, check
from harbor._core.errors import ConfigError, unknown
from harbor._core.seeding import stream


@dataclass(frozen=True, slots=True)
class House:
    """A house with its id; the persona it was written for is in `item.persona`."""

    id: str
    item: Item


@cache
def personas() -> Mapping[str, Persona]:
    """Give the catalog's personas by id, in order."""
    return {entry["id"]: check(Persona, entry, "personas.toml") for entry in _read("personas.toml")["personas"]}


@cache
def catalog_houses() -> Mapping[str, House]:
    """Give the catalog's houses by id."""
    labels = _read("labels.toml")["persona_of"]
    found = {}
    for entry in _read("houses.toml")["houses"]:
        id = entry.pop("id")  # noqa: A001 - the catalog's word
        found[id] = House(id, check(Item, entry | {"persona": labels[id]}, f"house {id!r}"))
    return found


def extended(own: Sequence[Persona]) -> Mapping[str, Persona]:
    """Give the catalog with these personas added.

    Raises:
        ConfigError: one of them has an id of the catalog.
    """
    for one in own:
        if one.id in personas():
            raise ConfigError(f"persona {one.id!r} is in the catalog already; give yours another id")
    return {**personas(), **{one.id: one for one in own}}


def find(catalog: Mapping[str, Persona], id: str) -> Persona:  # noqa: A002 - the catalog's word
    """Find a persona.

    Raises:
        ConfigError: no such id; the message names the nearest.
    """
    try:
        return catalog[id]
    except KeyError:
        raise ConfigError(unknown("persona", id, catalog)) from None


def houses(count: int = 10, seed: int = 0, matched: Mapping[str, int] | None = None) -> tuple[Item, ...]:
    """Sample houses without repeats, in random order.

    Args:
        count: how many houses.
        seed: equal seeds give equal samples.
        matched: exactly how many houses there are for each of these personas; the rest suit other personas.

    Raises:
        ConfigError: the catalog has fewer houses than that.
    """
    rng = stream(seed, "houses")
    every = [house.item for house in catalog_houses().values()]
    if matched is None or not 0 <= count <= len(every):
        return tuple(_draw(rng, every, count, "the catalog"))
    drawn: list[Item] = []
    for id, wanted in matched.items():  # noqa: A001
        suits = find(personas(), id)
        suited = [item for item in every if item.persona == suits.id]
        drawn += _draw(rng, suited, wanted, f"persona {id!r}")
    if len(drawn) > count:
        raise ConfigError(
            f"{len(drawn)} matched houses are more than the {count} for sale; lower matched or raise count"
        )
    others = [item for item in every if item.persona not in matched]
    drawn += _draw(rng, others, count - len(drawn), "the rest of the catalog")
    rng.shuffle(drawn)
    return tuple(drawn)


def _draw(rng: Random, items: list[Item], count: int, of: str) -> list[Item]:
    if not 0 <= count <= len(items):
        raise ConfigError(f"{count} houses demanded, but {of} has {len(items)}; ask for at most {len(items)}")
    return rng.sample(items, count)


def _read(name: str) -> dict:  # type: ignore[type-arg]
    return tomllib.loads((files("harbor.personas._catalog.data") / name).read_text(encoding="utf-8"))
