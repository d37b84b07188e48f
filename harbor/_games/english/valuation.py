"""How the built-in model judges: worth from estimates and from fit, limits from a budget's shadow price.

Everything here is arithmetic on the facts of a prompt; nothing knows a true value or a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

FACE_VALUE = 1.0
"""What true values are thought to be of one's estimates before the first is revealed: right on average."""

TASTE = 0.3
"""How far a perfect fit raises, or no fit lowers, what an item is worth to a bidder with a persona: by half of this."""

EAGERNESS = {1: 0.85, 2: 0.95, 3: 1.0}
"""How much of what an item is worth a priority lets a bidder pay."""


@dataclass(frozen=True)
class Option:
    """An item as a bidder weighs it: dollars it is worth to it, dollars it will probably cost."""

    name: str
    worth: float
    cost: float

    @property
    def ratio(self) -> float:
        """Worth per dollar of cost, without end for what costs nothing."""
        return self.worth / self.cost if self.cost else inf


def expected(facts: Mapping[str, Any], estimate: float) -> float:
    """Expect a true value in dollars: the estimate, corrected by how far off those of revealed true values were."""
    return estimate * float(facts.get("true_per_estimate", FACE_VALUE))


def worth(value: float, suits: float) -> float:
    """Say what an item is worth to a bidder in dollars, from the true value that it expects and from its fit."""
    return value * (1 + TASTE * (suits - 0.5))


def preferred(value: float, dollars: float, suits: float) -> float:
    """Say what an item is worth to a bidder to which one that suits it counts for so many dollars more.

    A perfect fit adds them all, and one that is no better than none said adds nothing.
    """
    return value + dollars * max(0.0, 2 * suits - 1)


def weigh(name: str, start: float, value: float) -> Option:
    """Expect an item to go halfway between its starting price and what it is worth to oneself."""
    return Option(name, value, (start + max(start, value)) / 2)


def shadow_price(options: Sequence[Option], budget: float) -> float:
    """Give the worth that a dollar kept for the best of these options buys, at least 1.

    The budget goes to the options with the most worth per dollar; the first that does not fit any more sets the price
    (the dual of the fractional knapsack). A budget for everything gives 1: a dollar is worth a dollar.
    """
    left = budget
    for option in sorted(options, key=lambda option: -option.ratio):
        left -= option.cost
        if left < 0:
            return max(1.0, option.ratio)
    return 1.0


def limit(value: float, priority: int, shadow: float, budget: float) -> float:
    """Say up to how many dollars to bid for an item of this worth."""
    return min(budget, value * EAGERNESS.get(priority, 1.0) / shadow)


def rank(options: Sequence[Option], budget: float) -> dict[str, int]:
    """Give each option a priority: 3 for the better half of what the budget buys, 2 for the rest of it, 1 beyond it."""
    affordable: list[str] = []
    left = budget
    for option in sorted(options, key=lambda option: -option.ratio):
        if option.cost <= left and option.ratio > 1:
            left -= option.cost
            affordable.append(option.name)
    top = set(affordable[: (len(affordable) + 1) // 2])
    return {option.name: 3 if option.name in top else 2 if option.name in affordable else 1 for option in options}
