"""A sale in progress: the rules, the log, and what each bidder has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Generic, TypeVar

from harbor._core.asks import Action, Ask
from harbor._core.events import ANALYST, EVERYONE, Event
from harbor._core.log import Log
from harbor._games.mechanism import Mechanism

S = TypeVar("S")


class Sale(Generic[S]):
    """The log, the state of the rules folded from it, and the part of the log that each bidder may see."""

    def __init__(self, rules: Mechanism[S], bidders: Sequence[str], log: Log, ties: Random) -> None:
        self.rules = rules
        self.bidders = tuple(bidders)
        self.log = log
        self.state = rules.start()
        self._ties = ties
        self._seen: dict[str, list[Event]] = {f"bidder:{name}": [] for name in bidders}
        self._everyone = tuple(self._seen.values())

    def record(self, event: Event) -> None:
        """Write an event to the log and fold it. Nothing else changes a sale."""
        self.log.append(event)
        self.state = self.rules.apply(self.state, event)
        audience = event.audience
        if audience == EVERYONE:
            for seen in self._everyone:
                seen.append(event)
        elif audience != ANALYST:
            self._seen[audience].append(event)

    def asks(self) -> Sequence[Ask]:
        """Give the asks of this moment; none before the sale opens and after its end."""
        return self.rules.asks(self.state)

    def settle(self, actions: Mapping[str, Action]) -> list[Event]:
        """Record what follows from the actions of everyone asked; without actions, open the sale."""
        events = self.rules.settle(self.state, actions, self._ties)
        for event in events:
            self.record(event)
        return events

    def seen_by(self, bidder: str) -> tuple[Event, ...]:
        """Give the part of the log that a bidder may see, in order."""
        return tuple(self._seen[f"bidder:{bidder}"])
