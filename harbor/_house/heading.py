"""Checks what a log begins with: its opening, the ground truth, and what each bidder brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from harbor._config.auction import AuctionConfig, Bidder, Item
from harbor._core.events import BidderLabelled, BidderSeated, CatalogShown, Event, ItemLabelled, LogOpened
from harbor._core.log_lines import Entry
from harbor._core.money import to_cents
from harbor._core.outcomes import HOUSE, Signal, Worth
from harbor._games.game import Game
from harbor._house.verdict import differs

BEFORE = (LogOpened, ItemLabelled, BidderLabelled, BidderSeated, Signal, CatalogShown)
"""What stands before the opening of a sale; signals may come later, too."""


def check_heading(entries: Sequence[Entry], game: Game, settings: AuctionConfig | None) -> None:
    """Compare what a log begins with with the settings, if they are there; nobody and nothing is told of twice.

    Raises:
        Differs: it names the event.
    """
    heading = list(takewhile(lambda entry: isinstance(entry.event, BEFORE), entries))
    following = entries[len(heading)] if len(heading) < len(entries) else None
    for kind in BEFORE:
        of_kind = [entry for entry in heading if type(entry.event) is kind]
        expected = None if settings is None else _expected(kind, game, settings)
        _check(of_kind, expected, following)
    seated, labelled = (
        [entry.event.bidder for entry in heading if type(entry.event) is kind]
        for kind in (BidderSeated, BidderLabelled)
    )
    if following is not None and seated != labelled:
        raise differs(following, None)
    _check_names(entries, set(seated))


def _check(entries: Sequence[Entry], expected: Sequence[Event] | None, following: Entry | None) -> None:
    """Compare the events of one kind with those that are expected, as far as these tell."""
    names = [_name(entry.event) for entry in entries]
    for place, entry in enumerate(entries):
        if names[place] in names[:place] or (expected is not None and place >= len(expected)):
            raise differs(entry, None)
        if expected is not None and (wanted := _as_far(expected[place], entry.event)) != entry.event:
            raise differs(entry, wanted)
    if expected is not None and len(entries) < len(expected) and following is not None:
        raise differs(following, expected[len(entries)])


def _expected(kind: type[Event], game: Game, settings: AuctionConfig) -> list[Event] | None:
    """Give the events of a kind that follow from the settings; None: they do not tell."""
    items = settings.items if isinstance(settings.items, tuple) and "items" in game.uses else ()
    if kind is ItemLabelled:
        return [ItemLabelled(item.name, item.true_value, item.persona or "") for item in items]
    if kind is BidderLabelled:
        return [BidderLabelled(bidder.name, bidder.persona, "") for bidder in settings.bidders]
    if kind is BidderSeated:
        return [_seated(bidder, game) for bidder in settings.bidders]
    if kind is Signal:
        return (
            [_estimates(bidder, items) for bidder in settings.bidders] if items and "overestimate" in game.uses else []
        )
    return [LogOpened(0, "", "", settings.seed, rules=settings.rules.told())] if kind is LogOpened else None


def _estimates(bidder: Bidder, items: Sequence[Item]) -> Signal:
    over = 1 + bidder.overestimate
    return Signal(bidder.name, {item.name: to_cents(item.true_value * over) for item in items}, noisy=True)


def _seated(bidder: Bidder, game: Game) -> BidderSeated:
    budget = bidder.budget if "budget" in game.uses else to_cents(bidder.budget * 0)
    return BidderSeated(bidder.name, budget, {}, bidder.objective)


def _as_far(expected: Event, found: Event) -> Event:
    """Give what is expected, with what settings alone do not tell as it was found."""
    match expected, found:
        case LogOpened(), LogOpened():
            return replace(found, seed=expected.seed, rules=expected.rules)
        case BidderLabelled(), BidderLabelled():
            return replace(expected, player=found.player)
        case BidderSeated(), BidderSeated():
            return replace(expected, personas=found.personas, rivals=found.rivals)
        case _:
            return expected


def _name(event: Event) -> str:
    return str(getattr(event, "item", "") or getattr(event, "bidder", ""))


def _check_names(entries: Sequence[Entry], seated: set[str]) -> None:
    """Refuse what is told of a bidder whom nobody has seated; a public log tells of nobody's seat."""
    for entry in entries if seated else ():
        nobodys = {None, HOUSE} if isinstance(entry.event, Worth) else {None}  # a common worth is nobody's
        if getattr(entry.event, "bidder", None) not in seated | nobodys:
            raise differs(entry, None)
