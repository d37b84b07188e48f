"""What every mechanism offers (rounds of simultaneous asks, as pure functions of a state)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeVar

from harbor._core.acts import Acted, Unit
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

        The acts of an open game are applied, as `Acted` events, before they are settled.
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


def acted(ask: Ask, action: Action) -> Acted:
    """Say in public what a bidder did: what was offered in vain is left out, as it may reveal a budget."""
    if type(action) is Withdraw and action.offered is not None:
        action = Withdraw(action.reason)
    unit: Unit = "number" if type(ask.space) is Number else "dollars"
    return Acted(ask.bidder, ask.item, action, ask.round, ask.attempt, unit)


def after_acts(rules: Mechanism[S], state: S, actions: Mapping[str, Action]) -> S:
    """Give the state in which actions are settled: after each has been told, in the order of the asks."""
    for ask in rules.asks(state):
        state = rules.apply(state, acted(ask, actions[ask.bidder]))
    return state


def violation(ask: Ask, action: Action) -> str:
    """Say why an action is not legal, in words for its bidder; empty if it is legal."""
    return ask.space.refusal(action)
