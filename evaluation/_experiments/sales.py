"""What trials sell: items that match personas, drawn so that trials share them, and the order of sale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Annotated

from pydantic import Field

from harbor._config.auction import AuctionConfig, Houses, Item, OwnItems
from harbor._config.for_sale import MOST_ITEMS
from harbor._core.errors import ConfigError
from harbor._core.seeding import stream
from harbor._core.settings import Settings
from harbor._runs.items import resolve_items
from harbor.evaluation._experiments.variations import Order
from harbor.personas._catalog.catalogue import Catalogue
from harbor.personas._catalog.sampling import suited


class MatchedItems(Settings):
    """A sample of items: how many in all, and how many of them match the persona of a slot or of a bidder.

    `of` are items to draw from in place of those of the catalogue.
    """

    count: int = Field(10, ge=1, le=MOST_ITEMS)
    matched: dict[str, Annotated[int, Field(ge=0, le=MOST_ITEMS)]]
    of: OwnItems = ()


def matched_sale(
    catalogue: Catalogue,
    wanted: MatchedItems,
    seed: int,
    mixes: Mapping[str, Sequence[str]],
    reserved: Set[str] = frozenset(),
) -> tuple[Item, ...]:
    """Draw items so that sales of one seed share as many as possible, each at the same place in the order of sale.

    The seed alone fixes three orders: of the items of each persona, of the others (the fillers), and of the places.
    So where an arm wants one more matched item, that item replaces one filler, and nothing else changes. An item that
    suits two of the personas is never drawn, as it would match more than it was drawn for.

    Args:
        catalogue: of which.
        wanted: how many items, and how many match whom.
        seed: that of the repeat.
        mixes: the personas of each whom items shall match, which take turns.
        reserved: personas of other arms, whose items become fillers only after all others.

    Raises:
        ConfigError: a persona is not of the catalogue, or it has too few items.
    """
    turns = [
        (turn, mixes[whose][turn % len(mixes[whose])])
        for turn in range(max(wanted.matched.values(), default=0))
        for whose, count in wanted.matched.items()
        if turn < count
    ]
    if len(turns) > wanted.count:
        raise ConfigError(
            f"{len(turns)} matched items are more than the {wanted.count} for sale; lower matched or raise count"
        )
    demanded = {persona for mix in mixes.values() for persona in mix}
    matched: list[Item] = []
    for turn, persona in turns:
        found = _shuffled(suited(catalogue, persona, demanded), seed, persona)
        matched.append(_next(found, persona, turn, matched))
    fillers = [item for item in _shuffled(catalogue.items.values(), seed, "all") if demanded.isdisjoint(item.suits)]
    fillers.sort(key=lambda item: not reserved.isdisjoint(item.suits))
    left = wanted.count - len(matched)
    if left > len(fillers):
        raise ConfigError(
            f"{left} items that match nobody demanded, but catalogue {catalogue.name!r} has {len(fillers)}; lower count"
        )
    sale = [*matched, *reversed(fillers[:left])]
    places = stream(seed, "houses", "places").sample(range(len(sale)), len(sale))
    return tuple(sale[place] for place in places)


def _shuffled(items: Iterable[Item], seed: int, which: str) -> list[Item]:
    """Put items in the order in which they are drawn; `which` is the persona that they match, or "all"."""
    found = list(items)
    return stream(seed, "houses", which).sample(found, len(found))


def _next(found: Sequence[Item], persona: str, turn: int, drawn: Sequence[Item]) -> Item:
    """Give the item of this turn that matches a persona, or the next that is not drawn."""
    left = [item for item in (*found[turn:], *found[:turn]) if item not in drawn]
    if not left:
        raise ConfigError(f"more than {len(found)} items demanded that suit persona {persona!r}; lower matched")
    return left[0]


def listed(config: AuctionConfig, order: Order) -> AuctionConfig:
    """Put the items of a trial in the order of the design; a series that samples items does so in each auction.

    Raises:
        ConfigError: the order does not name all items, or is that of items which are not known beforehand.
    """
    if config.series is not None and isinstance(config.items, Houses):
        if order != "given":
            raise ConfigError(f"order {order!r}: a series draws its items anew in each auction; list items, or drop it")
        return config
    items = resolve_items(config)
    return config.model_copy(update={"items": _ordered(items, order, config.seed)}) if items else config


def _ordered(items: tuple[Item, ...], order: Order, seed: int) -> tuple[Item, ...]:
    if order == "random":
        return tuple(stream(seed, "order").sample(items, len(items)))
    if order in ("ascending", "descending"):
        return tuple(sorted(items, key=lambda item: item.start, reverse=order == "descending"))
    if isinstance(order, tuple):
        by_name = {item.name: item for item in items}
        if sorted(order) != sorted(by_name):
            raise ConfigError(f"order {list(order)!r} is not one of all items; name each of {sorted(by_name)} once")
        return tuple(by_name[name] for name in order)
    return items
