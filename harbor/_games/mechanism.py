"""What every mechanism offers (rounds of simultaneous asks, as pure functions of a state), and which bids are legal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Protocol, TypeVar

from harbor._core.asks import Action, Ask, Bid
from harbor._core.events import Event
from harbor._core.money import CENT, dollars

S = TypeVar("S")


class Mechanism(Protocol[S]):
    """The rules of a game; no I/O, clock, global random or framework."""

    def start(self) -> S:
        """Give the state before the opening."""
        ...

    def asks(self, state: S) -> Sequence[Ask]:
        """Say who must act now, at the same moment, and the legal range; nobody: it is over, or not yet open."""
        ...

    def settle(self, state: S, actions: Mapping[str, Action], rng: Random) -> list[Event]:
        """Say what follows from one legal action of each bidder asked; with no actions, before the opening, open."""
        ...

    def apply(self, state: S, event: Event) -> S:
        """Give the state after an event; an event of no concern to the rules changes nothing."""
        ...


def fold(rules: Mechanism[S], events: Iterable[Event]) -> S:
    """Rebuild the state of the rules from events."""
    state = rules.start()
    for event in events:
        state = rules.apply(state, event)
    return state


NUMBER_STEP = Decimal("0.000001")
"""The smallest difference between two bids that are numbers and not money."""


def violation(ask: Ask, bid: Bid) -> str:
    """Say why a bid is not legal, in words for its bidder; empty if it is legal."""
    check = _number_violation if ask.unit == "number" else _dollar_violation
    return check(ask, bid.amount)


def _number_violation(ask: Ask, number: Decimal) -> str:
    if not (number.is_finite() and ask.minimum <= number <= ask.maximum):
        return f"{number:f} is not between {ask.minimum:f} and {ask.maximum:f}"
    if number % NUMBER_STEP:
        return "a number may have at most six places after the point"
    return ""


def _dollar_violation(ask: Ask, amount: Decimal) -> str:
    if not amount.is_finite() or amount < 0:
        return "a bid must be a positive amount of dollars" if ask.minimum else "a bid must be zero dollars or more"
    if ask.minimum == ask.maximum != amount:
        return f"{dollars(amount)} is not {dollars(ask.maximum)}, the one amount that can be bid"
    if amount < ask.minimum:
        return f"{dollars(amount)} is below the least bid of {dollars(ask.minimum)}"
    if amount > ask.maximum:
        return f"{dollars(amount)} is above the {dollars(ask.maximum)} that you have left"
    if amount % CENT:  # checked after the bounds, as the remainder of a huge amount raises an error
        return "a bid must be in whole cents"
    return ""
