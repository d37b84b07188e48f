"""The law of units and money, which every game keeps: no unit is given twice, and every payment has a payer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from harbor._core.asking.action_space import AcceptOrWait
from harbor._core.asking.amounts import Amount, Bundle
from harbor._core.asking.asks import Action, Ask, Withdraw
from harbor._core.basics.numbers import dollars
from harbor._core.log.acts import (
    HOUSE,
    Acted,
    ActedSealed,
    Allocated,
    AllocatedSealed,
    Drawn,
    DrawnOpenly,
    Paid,
    PaidSealed,
)
from harbor._core.log.events import BidderLabelled, BiddersAsked, BidderSeated, Event
from harbor._core.log.log import Log, of_type
from harbor._core.log.log_entries import Entry, is_seen_by
from harbor._core.log.players import SeatReply
from harbor._games.game import Game
from harbor._games.mechanism import Mechanism
from harbor._house.auctioneer import Sale, auction_loop
from harbor.testing._playing import MOST_TURNS

IN_DOLLARS = (Amount, AcceptOrWait, Bundle)
"""The action spaces whose greatest amount is money."""
NOTHING = Decimal(0)
"""Zero units or dollars."""


def broken_law(game: Game, rules: Mechanism[Any], log: Sequence[Entry]) -> str:
    """Say where a log of a game breaks the law of units and money; return "" if nowhere.

    Every receiver and payer is a bidder or the house. No more units of an item are given than its
    supply. Every payment goes from one to another and takes nothing back. Unless the game has no budgets, no bidder
    pays more for an item, fees left out, than an ask for it allowed, nor more in all than its budget and its
    receipts. A bidder that gets, pays or is paid learns of it. An act shown to all is the act that was made.
    """
    law = _Law(game, rules, {label.bidder for label in of_type(log, BidderLabelled)}, rules.start())
    return next(filter(None, (law.note(entry.event) for entry in log)), "")


def at_the_edge(game: Game, rules: Mechanism[Any], log: Sequence[Entry], edge: int) -> Sequence[Entry]:
    """Play the rules of a log again with the same bidders, who all answer at one edge: 0 is the first, -1 the last."""
    brought = [entry.event for entry in log if isinstance(entry.event, BidderLabelled | BidderSeated)]
    names = [event.bidder for event in brought if isinstance(event, BidderLabelled)]
    sale = Sale(rules, names, Log(), Random(0), game.acts, game.draws)
    sale.record(*brought)
    loop = auction_loop(sale, (), reasks=0)
    with suppress(StopIteration):
        turn = next(loop)
        for _ in range(MOST_TURNS):
            asks = [ask for ask in turn if isinstance(ask, Ask)]
            turn = loop.send({ask.bidder: SeatReply(answer=ask.space.edges()[edge]) for ask in asks})
    return sale.log.entries


@dataclass
class _Law:
    """The units and money supplied, given, allowed and paid so far, as a fold over events."""

    game: Game
    rules: Mechanism[Any]
    bidders: set[str]
    state: Any
    supply: dict[str, int] = field(default_factory=dict)
    given: dict[str, Decimal] = field(default_factory=dict)
    allowed: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    paid: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    sealed: dict[tuple[str, str, int], list[Action]] = field(default_factory=dict)
    drawn: list[Drawn] = field(default_factory=list)
    left: dict[str, Decimal] = field(default_factory=dict)

    def note(self, event: Event) -> str:
        """Take one event in; return the law that it breaks, or ""."""
        self.supply.update(self.game.supply(event))
        self.state = self.rules.apply(self.state, event)
        match event:
            case BidderSeated(bidder=bidder, budget=budget) if budget:
                self.left[bidder] = budget
            case BiddersAsked():
                self._allow()
            case ActedSealed():
                self.sealed.setdefault((event.bidder, event.item, event.round), []).append(event.act)
            case Drawn():
                self.drawn.append(event)
            case DrawnOpenly() if self.game.draws == "sealed" and Drawn(*astuple(event)) not in self.drawn:
                return f"all are shown {event!r}, which was not drawn; show what `chance` gave"
            case Acted() if self.game.acts == "sealed":
                return self._shown(event)
            case Allocated() | AllocatedSealed():
                return self._strangers(event, event.bidder) or self._give(event.item, event.units)
            case Paid() | PaidSealed():
                return self._parties(event) or self._move(event) or self._pay(event)
        return ""

    def _allow(self) -> None:
        for ask in self.rules.asks(self.state):
            if isinstance(ask.space, IN_DOLLARS):
                key = ask.bidder, ask.item
                self.allowed[key] = max(ask.maximum, self.allowed.get(key, NOTHING))

    def _shown(self, event: Acted) -> str:
        """Say that everyone is shown a different act; the reason for a withdrawal may be left out."""
        acts = self.sealed.get((event.bidder, event.item, event.round), [])
        if event.act in acts or (isinstance(event.act, Withdraw) and any(isinstance(act, Withdraw) for act in acts)):
            return ""
        was = acts[-1] if acts else None
        return f"all are shown {event!r}, and the act was {was!r}; show what there was, with its item and round"

    def _strangers(self, event: Event, *names: str) -> str:
        if strange := [name for name in names if name not in self.bidders]:
            return f"who gets or pays something is no bidder: {strange[0]!r}; name one that bids"
        unaware = [name for name in names if not is_seen_by(name, event)]
        return f"{unaware[0]!r} gets or pays something and is not told; let its seats name it" if unaware else ""

    def _give(self, item: str, units: Decimal) -> str:
        if units <= 0:
            return f"{units} units of {item!r} are given; give more than none"
        self.given[item] = self.given.get(item, NOTHING) + units
        if self.given[item] <= (supply := self.supply.get(item, 1)):
            return ""
        return (
            f"{self.given[item]} units of {item!r} are given, and there are {supply}; give no unit twice, or let"
            " Game.supply say how many there are"
        )

    def _parties(self, event: Paid | PaidSealed) -> str:
        if event.payer == event.payee:
            return f"{event.payer or 'the house'!r} pays itself for {event.item!r}; let money go to another"
        if event.amount < 0:
            return f"{event.payer!r} pays {dollars(event.amount)} for {event.item!r}; let the other one pay instead"
        return self._strangers(event, *(name for name in (event.payer, event.payee) if name != HOUSE))

    def _move(self, event: Paid | PaidSealed) -> str:
        """Say that a bidder pays more than is left of its budget."""
        for name, amount in ((event.payee, event.amount), (event.payer, -event.amount)):
            if name in self.left:
                self.left[name] += amount
        if not self.game.budgets or self.left.get(event.payer, NOTHING) >= 0:
            return ""
        more = dollars(-self.left[event.payer])
        return (
            f"{event.payer!r} pays {dollars(event.amount)} for {event.item!r}, which is {more} more than its budget and"
            " what it received leave; take no more than it has, or let the game say budgets=False"
        )

    def _pay(self, event: Paid | PaidSealed) -> str:
        """Say that a bidder pays more for an item than its asks allowed."""
        key = event.payer, event.item
        if event.payer == HOUSE or event.fee or not self.game.budgets:
            return ""
        self.paid[key] = self.paid.get(key, NOTHING) + event.amount
        if self.paid[key] <= self.allowed.get(key, NOTHING):
            return ""
        most = dollars(self.allowed[key]) if key in self.allowed else "no dollars"
        return (
            f"{event.payer!r} pays {dollars(self.paid[key])} for {event.item!r}, and its asks allow {most}; take no"
            " more than it has, or let the game say budgets=False"
        )
