"""What every mechanism offers (rounds of simultaneous asks, as pure functions of a state)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeVar

from harbor._core.acts import Acted, ActedSealed, Unit
from harbor._core.amounts import Number
from harbor._core.asks import Action, Ask, Withdraw
from harbor._core.events import Event
from harbor._games.chance import Chance

S = TypeVar("S")
Shown = Literal["open", "sealed"]
"""Whether everyone learns of it at once."""


class Mechanism(Protocol[S]):
    """The rules of a game; no I/O, clock, global random or framework."""

    def start(self) -> S:
        """Give the state before the opening."""
        ...

    def asks(self, state: S) -> Sequence[Ask]:
        """Say who must act now, at the same moment, and the legal range; nobody: it is over, or not yet open."""
        ...

    def settle(self, state: S, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Say what follows from one legal action of each bidder asked; with no actions, before the opening, open.

        The acts are applied before they are settled: as `Acted` events in an open game, else as `ActedSealed`.
        """
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


def acted(ask: Ask, action: Action, acts: Shown) -> Acted | ActedSealed:
    """Say what a bidder did, in public or to itself: what it offered in vain is left out, as it may reveal a budget."""
    if type(action) is Withdraw and action.offered is not None:
        action = Withdraw(action.reason)
    if acts == "sealed":
        return ActedSealed(ask.bidder, ask.item, action, ask.round, ask.attempt)
    unit: Unit = "number" if type(ask.space) is Number else "dollars"
    return Acted(ask.bidder, ask.item, action, ask.round, ask.attempt, unit)


def acts_of(asks: Iterable[Ask], actions: Mapping[str, Action], acts: Shown) -> list[Acted | ActedSealed]:
    """Say what everyone of a turn did, in the order of these asks."""
    return [acted(ask, actions[ask.bidder], acts) for ask in asks]
