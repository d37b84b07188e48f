"""The game as one value: its settings, its rules, the bidders' view, its play and its measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from random import Random
from typing import Any

from clock_auction.from_public import from_public
from clock_auction.rules import Dutch, DutchOpened, DutchRules, FlowerSold, PriceCalled
from harbor import Item
from harbor.events import Allocated, BidderLabelled, BidderSeated, Event, ItemLabelled, Lot, Paid, Signal
from harbor.games import Accept, Action, Ask, AuctionConfig, Entry, Game, Measures, Play, Simulated, Wait, of_type


def build(rules: DutchRules, config: AuctionConfig) -> Dutch:
    """Make the rules for the items and the budgets of an auction."""
    lots = tuple(Lot(item.name, item.start, item.listing) for item in config.items if isinstance(item, Item))
    return Dutch(lots, {bidder.name: bidder.budget for bidder in config.bidders}, rules)


# ---------------------------------------------------------------- how it is played


def facts(name: str, seen: Sequence[Event]) -> dict[str, Any]:
    """Tell a bidder its estimates, its money, and the results of earlier items."""
    me = next(event for event in seen if isinstance(event, BidderSeated))
    worth = worth_of(seen)
    opened = next(event for event in seen if isinstance(event, DutchOpened))
    over = [event for event in seen if isinstance(event, FlowerSold)]
    coming = opened.lots[len(over) :]
    return {
        "bidders": list(opened.bidders),
        "money": me.budget - sum(sold.price for sold in over if sold.winner == name),
        "items": [{"item": lot.name, "worth": worth[lot.name], "listing": lot.listing} for lot in coming],
        "over": [{"item": sold.item, "winner": sold.winner, "price": sold.price} for sold in over],
    }


def policy(facts: Mapping[str, Any], settings: Simulated, chance: Random) -> dict[str, Any]:
    """Accept once the profit reaches the expected profit of waiting."""
    price, most = float(facts["price"]), limit(float(facts["items"][0]["worth"]), len(facts["bidders"]))
    action = "accept" if price <= most else "wait"
    return {"reasons": f"The price is ${price:,.2f}, and I go up to ${most:,.2f}.", "action": action}


def rational(ask: Ask, seen: Sequence[Event]) -> Action:
    """Accept (n - 1) / n of the value, the equilibrium of n bidders whose values are drawn uniformly."""
    opened = next(event for event in seen if isinstance(event, DutchOpened))
    return Accept() if ask.minimum <= limit(worth_of(seen)[ask.item], len(opened.bidders)) else Wait()


def worth_of(seen: Sequence[Event]) -> Mapping[str, Any]:
    """Return a bidder's value or estimate of each item, as it was told."""
    return next(event.values for event in seen if isinstance(event, Signal))


def limit(worth: Any, bidders: int) -> Any:
    """Return the highest price to accept."""
    return worth * (bidders - 1) / bidders if bidders > 1 else worth


# ---------------------------------------------------------------- how it is measured


@dataclass(frozen=True, slots=True)
class Standing:
    """A bidder's items and profit in dollars. Profit is true value minus price."""

    bidder: str
    items_won: int
    spent: Decimal
    profit: Decimal


def standings(entries: Sequence[Entry]) -> list[Standing]:
    """Rank the bidders by profit."""
    value = {label.item: label.true_value for label in of_type(entries, ItemLabelled)}
    rows = []
    for label in of_type(entries, BidderLabelled):
        won = [sold for sold in of_type(entries, FlowerSold) if sold.winner == label.bidder]
        spent = sum((sold.price for sold in won), Decimal(0))
        profit = sum((value[sold.item] for sold in won), Decimal(0)) - spent
        rows.append(Standing(label.bidder, len(won), spent, profit))
    return sorted(rows, key=lambda row: -row.profit)


@dataclass(frozen=True, slots=True)
class Sale:
    """The result of an item (no winner: it was not sold)."""

    name: str
    winner: str | None
    price: Decimal


def items(entries: Sequence[Entry]) -> list[Sale]:
    """List the items that are over."""
    return [Sale(sold.item, sold.winner, sold.price) for sold in of_type(entries, FlowerSold)]


DUTCH = Game(
    api=1,
    name="dutch",
    description="a Dutch auction: the price falls until somebody accepts it",
    settings=DutchRules,
    build=build,
    opening=DutchOpened,
    events=(DutchOpened, PriceCalled, Allocated, Paid, FlowerSold),
    uses=("items", "budget", "overestimate", "catalogue"),
    rational=rational,
    measures=Measures("items", standings, items),
    from_public=from_public,
    play=Play(
        facts=facts,
        system=files(__package__) / "system.md",
        prompt=files(__package__) / "accept.md",
        policy=policy,
        plan="Let the price fall until it leaves me a profit, but not so far that another takes it.",
    ),
)
