"""A bidder that prices its money: a dollar spent now can't earn what it would earn with a later item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from harbor._core.asks import Ask, Bid, Withdraw
from harbor._core.events import Event, Listed
from harbor._core.players import Policy
from harbor._games.revealed import estimates_of, truth_per_estimate, values_of
from harbor._games.scripted import ScriptedPolicy


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
