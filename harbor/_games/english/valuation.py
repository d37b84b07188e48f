"""Bidders judge here what an item is worth to them, and what a dollar earns that is kept for a later item.

The built-in model takes worth from estimates and from fit, and limits from a budget's shadow price: that is
arithmetic on the facts of a prompt, and nothing in it knows a true value or a label. The policy `knapsack` prices its
money too: a dollar spent now can't earn what it would earn with a later item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import Any, NamedTuple

from harbor._core.asking.asks import Ask, Bid, Withdraw
from harbor._core.log.events import Event, Listed
from harbor._core.log.players import Policy
from harbor._games.game import ScriptedPolicy
from harbor._games.outcomes import estimates_of, truth_per_estimate, values_of

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


class Prospect(NamedTuple):
    """A later item: the dollars that it is worth, and those that it will probably cost."""

    worth: Decimal
    cost: Decimal

    @property
    def profit(self) -> Decimal:
        """Dollars that it will probably earn."""
        return self.worth - self.cost


def earnings(prospects: Sequence[Prospect], budget: Decimal) -> Decimal:
    """Give the most dollars that a budget can earn with these items if parts of an item can be had too.

    The budget goes to the items that earn most per dollar. This is the linear relaxation of the knapsack problem: its
    slope is the shadow price of money (Dantzig 1957), and it is above what whole items can earn by less than one item.
    """
    earned = Decimal(0)
    for prospect in sorted(prospects, key=lambda one: one.profit / one.cost, reverse=True):
        if prospect.profit <= 0 or budget <= 0:
            break
        earned += prospect.profit * min(Decimal(1), budget / prospect.cost)
        budget -= prospect.cost
    return earned


@dataclass(frozen=True)
class Knapsack(Policy):
    """Bids the minimum while buying at it earns at least what the money would earn with the items to come.

    An item is worth one's own estimate, put right by what true values have been of it as soon as one is revealed. A
    later item will probably cost the middle between its starting price and what it is worth, as nothing is known of
    the rivals. It serves the objective of profit, whatever its own is. Source: Dantzig 1957.
    """

    def decide(self, ask: Ask, seen: Sequence[Event]) -> Bid | Withdraw:
        """Compare the profit of this item with what its price would earn later."""
        estimates = estimates_of(seen)
        share = truth_per_estimate(estimates, values_of(seen)) or Decimal(1)
        worths = {item: estimate * share for item, estimate in estimates.items()}
        later = list(_later(ask.item, worths, seen))
        forgone = earnings(later, ask.maximum) - earnings(later, ask.maximum - ask.minimum)
        return Bid(ask.minimum) if worths[ask.item] - ask.minimum >= forgone else Withdraw()


def _later(item: str, worths: Mapping[str, Decimal], seen: Sequence[Event]) -> Iterator[Prospect]:
    """Weigh the items that are sold after this one."""
    lots = next(event.lots for event in seen if isinstance(event, Listed))
    place = [lot.name for lot in lots].index(item)
    for lot in lots[place + 1 :]:
        yield Prospect(worths[lot.name], (lot.start + max(lot.start, worths[lot.name])) / 2)


KNAPSACK = ScriptedPolicy(
    name="knapsack",
    description="bids the minimum while an item earns more than its price would earn with later items",
    make=lambda _: Knapsack(),
    needs=("overestimate",),
    games=("english",),
)
