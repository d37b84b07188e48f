"""Bidders compute here the worth of an item to them, and the profit of a dollar that is kept for a later item.

The built-in model computes worth from estimates and fit, and limits from a budget's shadow price. That is arithmetic
on the facts of a prompt, without true values or labels. The policy `knapsack` prices its money too: a dollar spent now
can't earn a profit with a later item.
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
"""Expected true value over estimate before the first true value is revealed: estimates are right on average."""

TASTE = 0.3
"""Weight of fit in worth, as a share: a perfect fit raises the worth by half of this, and no fit lowers it by half."""

EAGERNESS = {1: 0.85, 2: 0.95, 3: 1.0}
"""Share of an item's worth that a bidder pays at most, by priority."""


@dataclass(frozen=True)
class Option:
    """An item for a bidder's choice: its worth to the bidder and its expected cost, in dollars."""

    name: str
    worth: float
    cost: float

    @property
    def ratio(self) -> float:
        """Worth per dollar of cost; infinite at no cost."""
        return self.worth / self.cost if self.cost else inf


def expected(facts: Mapping[str, Any], estimate: float) -> float:
    """Return the expected true value in dollars: the estimate times the revealed true dollars per estimated dollar."""
    return estimate * float(facts.get("true_per_estimate", FACE_VALUE))


def worth(value: float, suits: float) -> float:
    """Return the worth of an item to a bidder in dollars, from its expected true value and its fit (0 to 1)."""
    return value * (1 + TASTE * (suits - 0.5))


def preferred(value: float, dollars: float, suits: float) -> float:
    """Return the worth of an item in dollars to a bidder whose persona adds dollars to items that suit it.

    A perfect fit (1) adds all `dollars`; a fit of 0.5 or less adds nothing.
    """
    return value + dollars * max(0.0, 2 * suits - 1)


def weigh(name: str, start: float, value: float) -> Option:
    """Return an option whose expected cost lies halfway between the starting price and its worth to this bidder."""
    return Option(name, value, (start + max(start, value)) / 2)


def shadow_price(options: Sequence[Option], budget: float) -> float:
    """Return the shadow price of the budget: the worth that one more dollar buys, at least 1.

    The budget goes to the options with the most worth per dollar; the first that does not fit any more sets the price
    (the dual of the fractional knapsack). A budget that buys everything has the shadow price 1.
    """
    left = budget
    for option in sorted(options, key=lambda option: -option.ratio):
        left -= option.cost
        if left < 0:
            return max(1.0, option.ratio)
    return 1.0


def limit(value: float, priority: int, shadow: float, budget: float) -> float:
    """Return the highest bid in dollars: value times eagerness divided by the shadow price, at most the budget."""
    return min(budget, value * EAGERNESS.get(priority, 1.0) / shadow)


def rank(options: Sequence[Option], budget: float) -> dict[str, int]:
    """Return a priority by option: 3 for the better half of the affordable options, 2 for their rest, 1 beyond."""
    affordable: list[str] = []
    left = budget
    for option in sorted(options, key=lambda option: -option.ratio):
        if option.cost <= left and option.ratio > 1:
            left -= option.cost
            affordable.append(option.name)
    top = set(affordable[: (len(affordable) + 1) // 2])
    return {option.name: 3 if option.name in top else 2 if option.name in affordable else 1 for option in options}


class Prospect(NamedTuple):
    """A later item: its worth and its expected cost, in dollars."""

    worth: Decimal
    cost: Decimal

    @property
    def profit(self) -> Decimal:
        """The expected profit in dollars."""
        return self.worth - self.cost


def earnings(prospects: Sequence[Prospect], budget: Decimal) -> Decimal:
    """Return the greatest profit in dollars that a budget can earn with these items if items are divisible.

    The budget goes to the items with the most profit per dollar. This is the linear relaxation of the knapsack problem:
    its slope is the shadow price of money (Dantzig 1957). It exceeds the profit of whole items by less than one item.
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
    """Bids the minimum while the item's profit at that price is at least what the money would earn on later items.

    The worth of an item is the estimate, times the revealed true dollars per estimated dollar. The expected cost of a
    later item is the middle between its starting price and its worth, as nothing is known of the rivals. The policy
    serves profit and ignores the objective of its bidder. Source: Dantzig 1957.
    """

    def decide(self, ask: Ask, seen: Sequence[Event]) -> Bid | Withdraw:
        """Compare the profit of this item with the later profit of its price."""
        estimates = estimates_of(seen)
        share = truth_per_estimate(estimates, values_of(seen)) or Decimal(1)
        worths = {item: estimate * share for item, estimate in estimates.items()}
        later = list(_later(ask.item, worths, seen))
        forgone = earnings(later, ask.maximum) - earnings(later, ask.maximum - ask.minimum)
        return Bid(ask.minimum) if worths[ask.item] - ask.minimum >= forgone else Withdraw()


def _later(item: str, worths: Mapping[str, Decimal], seen: Sequence[Event]) -> Iterator[Prospect]:
    """Yield worth and expected cost of the items that are sold after this one."""
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
