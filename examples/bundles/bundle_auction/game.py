"""The game as one value: its settings, its rules, the bidders' view, its play and its measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from random import Random
from typing import Any

from bundle_auction.from_public import from_public
from bundle_auction.rules import BundleRules, Bundles, BundlesAllotted, BundlesOpened, worth
from harbor.events import Allocated, BidderLabelled, Event, Paid, Signal
from harbor.games import (
    Action,
    Ask,
    AuctionConfig,
    BundleBid,
    Entry,
    Game,
    Measures,
    Play,
    Simulated,
    of_type,
    stream,
    to_cents,
)


def build(rules: BundleRules, config: AuctionConfig) -> Bundles:
    """Draw the value of each item to each bidder."""
    rng = stream(config.seed, "bundles")
    values = {
        bidder.name: {item: Decimal(rng.randint(1, rules.most_value)) for item in rules.items}
        for bidder in config.bidders
    }
    return Bundles(rules, values, {bidder.name: bidder.budget for bidder in config.bidders})


# ---------------------------------------------------------------- how it is played


def facts(name: str, seen: Sequence[Event]) -> dict[str, Any]:
    """Tell a bidder its values."""
    opened = next(event for event in seen if isinstance(event, BundlesOpened))
    drawn = next(event for event in seen if isinstance(event, Signal))
    return {"bidders": list(opened.bidders), "values": drawn.values, "synergy": opened.synergy}


def policy(facts: Mapping[str, Any], settings: Simulated, chance: Random) -> dict[str, Any]:
    """Bid as a rational bidder does."""
    values = {item: Decimal(str(value)) for item, value in facts["values"].items()}
    bid = favourites(values, Decimal(str(facts["synergy"])), len(facts["bidders"]), Decimal(str(facts["maximum"])))
    reasons = "I bid for the items that are worth most to me, and keep a share of their worth as profit."
    return {"reasons": reasons, "action": "bid", "items": list(bid.items), "amount": float(bid.amount)}


def rational(ask: Ask, seen: Sequence[Event]) -> Action:
    """Bid for the favourites, as no equilibrium of this game is known."""
    opened = next(event for event in seen if isinstance(event, BundlesOpened))
    drawn = next(event for event in seen if isinstance(event, Signal))
    return favourites(drawn.values, opened.synergy, len(opened.bidders), ask.maximum)


def favourites(values: Mapping[str, Decimal], synergy: Decimal, bidders: int, most: Decimal) -> BundleBid:
    """Bid (n - 1) / n of the bundle's value, as in a first-price auction, for items of at least half the best value."""
    items = tuple(item for item, value in values.items() if value >= max(values.values()) / 2)
    return BundleBid(items, min(most, to_cents(worth(items, values, synergy) * (bidders - 1) / bidders)))


# ---------------------------------------------------------------- how it is measured


@dataclass(frozen=True, slots=True)
class Standing:
    """A bidder's result in dollars. Profit is the bundle's value to the bidder, minus its payment."""

    bidder: str
    items: tuple[str, ...]
    paid: Decimal
    profit: Decimal


def standings(entries: Sequence[Entry]) -> list[Standing]:
    """Rank the bidders by profit."""
    values = {drawn.bidder: drawn.values for drawn in of_type(entries, Signal)}
    synergy = next((opened.synergy for opened in of_type(entries, BundlesOpened)), Decimal(0))
    rows = []
    for label in of_type(entries, BidderLabelled):
        name = label.bidder
        won = tuple(one.item for one in of_type(entries, Allocated) if one.bidder == name)
        paid = sum((one.amount for one in of_type(entries, Paid) if one.payer == name), Decimal(0))
        rows.append(Standing(name, won, paid, worth(won, values.get(name, {}), synergy) - paid))
    return sorted(rows, key=lambda row: -row.profit)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The winners' items, and the revenue in dollars."""

    name: str
    winners: tuple[str, ...]
    revenue: Decimal


def outcomes(entries: Sequence[Entry]) -> list[Outcome]:
    """Return the outcome, if the auction is over."""
    return [
        Outcome(event.item, event.winners, sum((one.amount for one in of_type(entries, Paid)), Decimal(0)))
        for event in of_type(entries, BundlesAllotted)
    ]


BUNDLES = Game(
    api=1,
    name="bundles",
    description="a sealed auction of bundles: the bids that bring most together win and pay what they bid",
    settings=BundleRules,
    build=build,
    opening=BundlesOpened,
    events=(BundlesOpened, Signal, Allocated, Paid, BundlesAllotted),
    uses=("budget",),
    rational=rational,
    measures=Measures("outcomes", standings, outcomes),
    from_public=from_public,
    play=Play(
        facts=facts,
        system=files(__package__) / "system.md",
        prompt=files(__package__) / "bid.md",
        policy=policy,
        plan="Bid for the items that are worth most to me, and keep a share of their worth as profit.",
    ),
)
