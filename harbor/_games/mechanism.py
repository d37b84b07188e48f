"""What every mechanism offers (rounds of simultaneous asks, as pure functions of a state)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Protocol, TypeVar

from harbor._core.asks import Action, Ask
from harbor._core.events import Event

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


def violation(ask: Ask, action: Action) -> str:
    """Say why an action is not legal, in words for its bidder; empty if it is legal."""
    return ask.space.refusal(action)
