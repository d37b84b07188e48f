"""How events are read back from what the auctioneer says of them.

Whoever reads with these says the event again and compares: what is not said in just these words is no event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from harbor._core.asks import Ask, Pause
from harbor._core.events import BiddersAsked, Event, PriceLowered, RoundClosed, SaleOpened
from harbor._core.money import dollars
from harbor._core.parsing import NUMBER


class Moment(NamedTuple):
    """Where a sale stands: who hears, and what words do not always tell: the item, the round, names and assets.

    Where bidders or items are empty, they are not known yet.
    """

    bidder: str
    item: str = ""
    round: int = 1
    bidders: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    assets: Decimal = Decimal(0)

    def after(self, event: Event) -> Moment:
        """Give the moment after an event."""
        if opened := _people_of(event):
            items = tuple(lot.name for lot in event.lots) if isinstance(event, SaleOpened) else ()
            return Moment(self.bidder, bidders=opened, items=items, assets=getattr(event, "assets", Decimal(0)))
        item = getattr(event, "item", self.item)
        if item != self.item or isinstance(event, PriceLowered):
            return self._replace(item=item, round=1)
        if isinstance(event, RoundClosed):
            return self._replace(round=event.round + 1)
        return self._replace(round=max(self.round, getattr(event, "round", 0)))

    def knows(self, event: Event | Ask | Pause) -> bool:
        """Say whether an event or an ask is about bidders and items of this sale."""
        people = [getattr(event, role) for role in ("bidder", "leader", "winner") if hasattr(event, role)]
        return all(_among(self.bidders, one) for one in people) and _among(self.items, getattr(event, "item", ""))

    @property
    def anybody(self) -> str:
        """The pattern of a bidder's name."""
        return "|".join(map(re.escape, sorted(self.bidders, key=len, reverse=True))) or r"(?:(?!\. )[^\n])+?"


def _people_of(event: Event) -> tuple[str, ...]:
    """Give the bidders that the opening of a game names."""
    if isinstance(event, BiddersAsked):
        return ()
    return getattr(event, "bidders", ()) or tuple(getattr(event, "needs", ()))


def _among(names: tuple[str, ...], name: str) -> bool:
    """Say whether a name is one of these; where they are not known, whether it is no more than a name."""
    return not name or (name in names if names else ". " not in name)


Reader = Callable[[str, Moment], Event | None]
"""Reads the event that a text begins with; None if it is another."""

MONEY = rf"-?\$(?:{NUMBER})"
NAME = r"[^\n]+?"


MARK = "§"
"""What is in the names of examples."""
SOME, MORE, MOST = Decimal(7_000_001), Decimal(7_000_002), Decimal(7_000_003)
"""Amounts of examples."""


LEAST_MARK = 900
"""Whole numbers of examples are greater than this; a smaller one stays as it is."""


def money_in(words: str) -> Decimal:
    """Read an amount as `dollars` writes it."""
    return Decimal(words.replace("$", "").replace(",", ""))


def examples(*given: Event, said: Callable[[Event], str]) -> tuple[Reader, ...]:
    """Make readers of events from examples: the fields of an example occur in its words, each once.

    A name with a `MARK` is any text, an amount any amount, and a tuple of one name any list of names. A field that its
    words do not tell stays as it is in the example; but `bidder` and `item` are those of the moment, and so is the
    `round`, to which that of the example is added.
    """
    return tuple(_Example(one, said(one)) for one in given)


def each(pattern: str, text: str, at: int) -> tuple[list[re.Match[str]], int]:
    """Find as many sentences of a pattern as follow each other from a place on, and where they end."""
    sentence, found = re.compile(rf"\s*(?:{pattern})(?=\s|$)"), []
    while one := sentence.match(text, at):
        found.append(one)
        at = one.end()
    return found, at


class _Example:
    """A reader; its pattern is made when it is first needed."""

    def __init__(self, example: Event, words: str) -> None:
        self._example, self._words = example, words
        self._pattern: re.Pattern[str] | None = None

    def __call__(self, text: str, moment: Moment) -> Event | None:
        self._pattern = self._pattern or re.compile(self._compiled())
        found = self._pattern.match(text)
        return found and replace(self._example, **self._read(found.groupdict(), moment))

    def _compiled(self) -> str:
        pattern = re.escape(self._words)
        for name, value in self._fields():
            for shown, wanted in _forms(value):
                pattern = pattern.replace(re.escape(shown), f"(?P<{name}>{wanted})", 1)
                pattern = pattern.replace(re.escape(shown), f"(?P={name})")
        return pattern + r"(?=\s|$)"

    def _read(self, told: dict[str, str], moment: Moment) -> dict[str, Any]:
        read = {name: _value(told[name], value) for name, value in self._fields() if name in told}
        here = {
            "bidder": moment.bidder,
            "item": moment.item,
            "round": moment.round + getattr(self._example, "round", 0),
        }
        untold = {name: here[name] for name, _ in self._fields() if name in here and name not in told}
        return read | untold

    def _fields(self) -> Iterator[tuple[str, Any]]:
        return ((field.name, getattr(self._example, field.name)) for field in fields(self._example))


def _forms(value: Any) -> Iterable[tuple[str, str]]:
    """Give the ways in which a value may stand in words, with the pattern of such values; none if it is no mark."""
    if isinstance(value, Decimal) and value:
        return [(dollars(value), MONEY), (f"{value:f}", NUMBER)]
    if isinstance(value, str) and MARK in value:
        return [(value, NAME), (value.capitalize(), NAME)]
    if isinstance(value, tuple) and value and MARK in value[0]:
        return [(value[0], NAME)]
    if (type(value) is int and value > LEAST_MARK) or isinstance(value, Fraction):
        return [(str(value), r"\d+(?:/\d+)?")]
    return []


def _value(told: str, like: Any) -> Any:
    if isinstance(like, Decimal):
        return money_in(told)
    if isinstance(like, tuple):
        return tuple(told.split(", "))
    if isinstance(like, int | Fraction):
        return type(like)(told)
    return told[0].lower() + told[1:] if like[0].islower() else told
