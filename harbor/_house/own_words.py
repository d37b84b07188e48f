"""Harbor's own sentences, read back: announcements as events, and the call as an ask.

They are read exactly: each event and each ask is said again, and the text must be just that. Any other English is for
a model to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from harbor._core.asks import Ask, Pause
from harbor._core.events import (
    BidderSeated,
    BidderWithdrew,
    BidPlaced,
    Event,
    ItemOpened,
    ItemSold,
    ItemUnsold,
    Lot,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._games.said import MONEY, MORE, NAME, SOME, Moment, Reader, examples, money_in
from harbor._house.auctioneer import announce, call, told_to
from harbor._house.own_calls import space_in


class OwnWords(NamedTuple):
    """What Harbor's own sentences say: the events, in order, and whom they ask for what."""

    events: tuple[Event, ...]
    ask: Ask | Pause | None = None


def own_words(text: str, moment: Moment, readers: Iterable[Reader] = ()) -> OwnWords | None:
    """Read a text that is nothing but Harbor's own sentences; None if any of it is not.

    Args:
        text: what was said.
        moment: where the sale stands.
        readers: those of the events that the game adds.
    """
    readers, rest = (*SENTENCES, *readers), text.strip()
    events: list[Event] = []
    while rest:
        found = _first(rest, moment, readers)
        if found is None:
            ask = ask_in(rest, moment)
            return OwnWords(tuple(events), ask) if ask is not None else None
        event, length = found
        moment = moment.after(event)
        events.append(event)
        rest = rest[length:].lstrip()
    return OwnWords(tuple(events)) if events else None


def _first(text: str, moment: Moment, readers: Iterable[Reader]) -> tuple[Event, int] | None:
    """Read the event that a text begins with, and how many characters it takes."""
    for reader in readers:
        try:
            event = reader(text, moment)
        except (ValueError, ArithmeticError):  # a number that is none
            continue
        if event is None or not moment.knows(event):
            continue
        for said in (announce(event), " ".join(told_to(moment.bidder, event))):
            if said and text.startswith(said) and not text[len(said) : len(said) + 1].strip():
                return event, len(said)
    return None


_THINK = re.compile(rf"(?P<bidder>{NAME}), take a moment to think\.")


def ask_in(text: str, moment: Moment) -> Ask | Pause | None:
    """Read a call; None if it is none. Its round is that of the moment."""
    if paused := _THINK.fullmatch(text):
        return Pause(paused["bidder"]) if moment.knows(Pause(paused["bidder"])) else None
    called = rf"(?P<bidder>{moment.anybody}), your call on (?P<item>{NAME}): (?P<rest>.+)"
    found = re.fullmatch(rf"(?:Your \w+ failed: (?P<refusal>{NAME})\. )?{called}", text, re.DOTALL)
    if found is None or (spoken := space_in(found["rest"])) is None:
        return None
    note, space = spoken
    turn = moment.round if found["item"] == moment.item else 1
    refusal = found["refusal"] or ""
    ask = Ask(found["bidder"], found["item"], turn, space, 2 if refusal else 1, refusal, note)
    return ask if call(ask) == text and moment.knows(ask._replace(item="")) else None


# ---------------------------------------------------------------- the sentences of every game

_LOT = re.compile(rf"(?P<name>{NAME}) from (?P<start>{MONEY})(?:; |$)")
_WELCOME = re.compile(rf"Welcome, (?P<bidders>{NAME}); for sale, in this order: (?P<lots>.+? from {MONEY})\.(?=\s|$)")
_SEATED = re.compile(
    rf"Only you know: your budget is (?P<budget>{MONEY}), and your objective is: (?P<objective>{NAME})\."
    rf"(?: Only you know your estimates: (?P<estimates>.+? {MONEY})\.)?(?=\s|$)"
)
_GUESS = re.compile(rf"(?P<name>{NAME}) (?P<guess>{MONEY})(?:; |$)")


def _sale(text: str, moment: Moment) -> Event | None:  # noqa: ARG001
    found = _WELCOME.match(text)
    if found is None:
        return None
    lots = tuple(Lot(lot["name"], money_in(lot["start"])) for lot in _LOT.finditer(found["lots"]))
    return SaleOpened(tuple(found["bidders"].split(", ")), lots, "price")


def _seated(text: str, moment: Moment) -> Event | None:
    found = _SEATED.match(text)
    if found is None:
        return None
    guesses = {one["name"]: money_in(one["guess"]) for one in _GUESS.finditer(found["estimates"] or "")}
    return BidderSeated(moment.bidder, money_in(found["budget"]), guesses, {}, found["objective"])


SENTENCES: tuple[Reader, ...] = (
    _sale,
    _seated,
    *examples(
        ItemOpened("§item", SOME, MORE),
        PriceLowered("§item", SOME, MORE),
        BidPlaced("§item", 0, "§bidder", SOME),
        BidderWithdrew("§item", 0, "§bidder", "declined"),
        RoundClosed("§item", 0, "§leader", SOME),
        ItemSold("§item", "§winner", SOME),
        ItemUnsold("§item"),
        ValueRevealed("§item", SOME),
        said=announce,
    ),
)
