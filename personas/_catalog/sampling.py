"""Items of a catalogue for sale: a sample, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from harbor._config.auction import Item
from harbor._core.errors import ConfigError
from harbor._core.seeding import stream
from harbor.personas._catalog.catalogue import Catalogue, persona_of


def sample(catalogue: Catalogue, count: int, seed: int, matched: Mapping[str, int] | None = None) -> tuple[Item, ...]:
    """Sample items without repeats, in random order.

    Args:
        catalogue: of which.
        count: how many items.
        seed: equal seeds give equal samples.
        matched: exactly how many items there are for each of these personas; the rest suit none of them. So an item
            that suits two of them is not drawn.

    Raises:
        ConfigError: the catalogue has fewer items than that.
    """
    rng, whole = stream(seed, "houses"), f"catalogue {catalogue.name!r}"
    every = list(catalogue.items.values())
    if matched is None or not 0 <= count <= len(every):
        return tuple(_draw(rng, every, count, whole))
    drawn: list[Item] = []
    for persona, wanted in matched.items():
        drawn += _draw(rng, suited(catalogue, persona, matched), wanted, f"persona {persona!r}")
    if len(drawn) > count:
        raise ConfigError(
            f"{len(drawn)} matched items are more than the {count} for sale; lower matched or raise count"
        )
    others = [item for item in every if matched.keys().isdisjoint(item.suits)]
    drawn += _draw(rng, others, count - len(drawn), f"the rest of {whole}")
    rng.shuffle(drawn)
    return tuple(drawn)


def suited(catalogue: Catalogue, persona: str, matched: Iterable[str]) -> list[Item]:
    """List the items that suit a persona, and no other of those whose items are counted (`matched`).

    Raises:
        ConfigError: the catalogue knows no such persona, and has no item that suits it; the message names the nearest.
    """
    items = catalogue.suiting(persona)
    if not items:
        persona_of(catalogue.personas, persona)
    others = {*matched} - {persona}
    return [item for item in items if others.isdisjoint(item.suits)]


def _draw(rng: Random, items: list[Item], count: int, of: str) -> list[Item]:
    if not 0 <= count <= len(items):
        raise ConfigError(f"{count} items demanded, but {of} has {len(items)}; ask for at most {len(items)}")
    return rng.sample(items, count)
