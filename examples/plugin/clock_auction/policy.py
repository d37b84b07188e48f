"""A scripted policy: accept an item at half of its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor.events import Event, Signal
from harbor.games import Accept, Action, Ask, Policy, ScriptedPolicy, Wait


@dataclass(frozen=True)
class HalfValue(Policy):
    """Accepts a price of half its own estimate, or less."""

    def decide(self, ask: Ask, seen: Sequence[Event]) -> Action:
        """Compare the price with half of the estimate."""
        worth = next(event.values for event in seen if isinstance(event, Signal))
        return Accept() if ask.minimum <= worth[ask.item] * Decimal("0.5") else Wait()


HALF_VALUE = ScriptedPolicy(
    api=1,
    name="half-value",
    description="accepts half of what an item is worth to it",
    make=lambda *_: HalfValue(),
    games=("dutch",),
)
