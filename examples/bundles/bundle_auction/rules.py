"""The rules: one sealed bid per bidder for a bundle. The bids with the highest sum win. A winner pays its bid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import Field, field_validator

from bundle_auction.winners import best_bids
from harbor.events import HOUSE, Acted, Allocated, LotClosed, Paid, PublicEvent, Signal
from harbor.games import Action, Ask, Bundle, BundleBid, Chance, Claim, Event, Name, RuleSettings


class BundleRules(RuleSettings):
    """The items, their highest value, and the share by which a bundle is worth more than its parts.

    The value of each item to a bidder is drawn uniformly from one dollar to `most_value`.
    """

    game: str = "bundles"
    items: tuple[Name, ...] = Field(("north", "east", "south"), min_length=2, max_length=12)
    most_value: int = Field(100, ge=1, le=10**6)
    synergy: Decimal = Field(Decimal("0.2"), ge=0, le=10)

    @field_validator("items")
    @classmethod
    def _distinct(cls, items: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(items)) < len(items):
            raise ValueError("an item is listed twice; name each once")
        return items


@dataclass(frozen=True, slots=True)
class BundlesOpened(PublicEvent):
    """The auction begins: who bids for which items, and the share by which a bundle is worth more than its parts."""

    bidders: tuple[str, ...]
    items: tuple[str, ...]
    synergy: Claim

    @property
    def words(self) -> str:
        """The rules in words."""
        return (
            f"Welcome, {', '.join(self.bidders)}. For sale, all at once: {', '.join(self.items)}. Seal one bid for a "
            "bundle of one or more of them. The bids win that bring most together, each item going to one bidder at "
            f"most, and each winner pays its bid. Two items or more are worth {self.synergy:%} more than their sum."
        )


@dataclass(frozen=True, slots=True)
class BundlesAllotted(LotClosed):
    """The auction is over, with the winners. Earlier events tell their bids, items and payments."""

    winners: tuple[str, ...]

    @property
    def words(self) -> str:
        """The winners."""
        return " ".join(f"{name} wins." for name in self.winners) or "Nobody wins anything."


@dataclass(frozen=True)
class Bundles:
    """The rules of one auction. Their state is True while bids are open.

    Args:
        options: the items and the synergy.
        values: dollars by bidder and item; the order of bidders is the seat order.
        budgets: the most that each can bid.
    """

    options: BundleRules
    values: Mapping[str, Mapping[str, Decimal]]
    budgets: Mapping[str, Decimal]

    def start(self) -> bool:
        """Return the state before the opening."""
        return False

    def asks(self, wanted: bool) -> Sequence[Ask]:
        """Ask every bidder for a bundle."""
        return [
            Ask(name, "the bundles", 1, Bundle(self.options.items, most))
            for name, most in self.budgets.items()
            if wanted
        ]

    def settle(self, wanted: bool, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Open the auction, and then find the winners."""
        if not wanted:
            told = [Signal(name, dict(values)) for name, values in self.values.items()]
            opened = BundlesOpened(tuple(self.values), self.options.items, self.options.synergy)
            return [opened, *told]
        bids = {name: bid for name in self.values if isinstance(bid := actions[name], BundleBid)}
        winners = best_bids({name: (bid.items, bid.amount) for name, bid in bids.items()}, chance)
        traded = [event for name in winners for event in _trade(name, bids[name])]
        return [*traded, BundlesAllotted("the bundles", winners)]

    def apply(self, wanted: bool, event: Event) -> bool:
        """Return the state after an event."""
        return isinstance(event, BundlesOpened) or (wanted and not isinstance(event, BundlesAllotted))


def _trade(winner: str, bid: BundleBid) -> Iterator[Event]:
    """Tell everyone a winning bid, and trade its items for its money."""
    yield Acted(winner, "the bundles", bid)
    for item in bid.items:
        yield Allocated(winner, item)
    yield Paid(winner, HOUSE, "the bundles", bid.amount)


def worth(items: Sequence[str], values: Mapping[str, Decimal], synergy: Decimal) -> Decimal:
    """Return the value of a bundle in dollars."""
    total = sum((values[item] for item in items), Decimal(0))
    return total * (1 + synergy) if len(items) > 1 else total
