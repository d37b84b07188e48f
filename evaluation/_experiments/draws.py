"""The draws that trials share: rotation of personas over the slots, and sampling and order of matched items.

Over the pool: every repeat is a draw of its own, and every slot moves on by one persona. Within a draw: as many repeats
as there are slots share seed, items and order, and the personas of the draw take turns in the slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Annotated

from pydantic import Field

from harbor._config.auction import MOST_ITEMS, AuctionConfig, Houses, Item, OwnItems
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import stream
from harbor._core.settings import Settings
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.variations import SLOT, Order, named, number
from harbor.personas._catalog.catalogue import Catalogue, resolve_items, suited


def turns_of(experiment: Experiment) -> int:
    """Return the number of repeats that share a draw: one, or one per slot if personas rotate within a draw.

    Raises:
        ConfigError: personas rotate within a draw, but no bidder has a persona slot.
    """
    if experiment.rotate_personas == "pool":
        return 1
    varied = (*experiment.arms, *experiment.arms_left_out, *experiment.conditions)
    settings = (experiment.auction, *(one.auction for one in varied))
    slots = [number(name) for name in named("persona", settings) if SLOT.fullmatch(name)]
    if not slots:
        raise ConfigError(
            f"experiment {experiment.name!r}: rotate_personas 'within' turns personas '@1', '@2' ... of bidders, and no"
            " bidder has one; drop it"
        )
    return max(slots)


def draw_of(experiment: Experiment, repeat: int) -> int:
    """Return the number of a repeat's draw, counted from 1. Repeats of one draw share seed, items and order.

    Raises:
        ConfigError: as `turns_of`.
    """
    return draws_of(experiment, [repeat])[0]


def draws_of(experiment: Experiment, repeats: Iterable[int]) -> list[int]:
    """Return the draw of each repeat, from 1: the cluster of its game in all statistics.

    Repeats with one seed (`same_seed`) are draws of the model's own noise, the only thing that varies there.

    Raises:
        ConfigError: as `turns_of`.
    """
    turns = turns_of(experiment)
    return [(repeat - 1) // turns + 1 for repeat in repeats]


def lineup(experiment: Experiment, pool: Sequence[str], repeat: int) -> list[str]:
    """Return the personas of a repeat in the order of the slots.

    Over as many repeats as there are personas in the pool (times slots, if personas rotate within draws), each persona
    is in each slot equally often.

    Raises:
        ConfigError: as `turns_of`.
    """
    order, turns = stream(experiment.seed, "personas").sample(pool, len(pool)), turns_of(experiment)
    draw, turn = divmod(repeat - 1, turns)
    first = draw * turns % len(order)
    moved = order[first:] + order[:first]
    return moved[turn:turns] + moved[:turn] + moved[turns:]


class MatchedItems(Settings):
    """A sample of items: their number, and how many of them match the persona of a slot or of a bidder.

    `of` has items to draw from in place of the catalogue's.
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
    So if an arm wants one more matched item, that item replaces one filler, and nothing else changes. An item that
    suits two of the personas is never drawn, as it would match more than its own persona.

    Args:
        catalogue: the catalogue with the items.
        wanted: number of items, and number of matches by slot or bidder.
        seed: seed of the repeat.
        mixes: personas by slot or bidder. The personas of a mix take turns.
        reserved: personas of other arms; their items become fillers last.

    Raises:
        ConfigError: a persona is not in the catalogue, or has too few items.
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
    """Put items in the order of drawing. `which` is the persona that they match, or "all"."""
    found = list(items)
    return stream(seed, "houses", which).sample(found, len(found))


def _next(found: Sequence[Item], persona: str, turn: int, drawn: Sequence[Item]) -> Item:
    """Return the item of this turn for a persona, or the next that is not drawn yet."""
    left = [item for item in (*found[turn:], *found[:turn]) if item not in drawn]
    if not left:
        raise ConfigError(f"more than {len(found)} items demanded that suit persona {persona!r}; lower matched")
    return left[0]


def listed(config: AuctionConfig, order: Order) -> AuctionConfig:
    """Put the items of a trial in the order of the design.

    A series that samples its items stays as it is: it samples them anew in each auction.

    Raises:
        ConfigError: the order does not name all items, or the items are not known beforehand.
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
