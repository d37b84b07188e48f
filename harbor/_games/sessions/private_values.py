"""What auctions with private values share: values that only their bidder sees, assets that cap bids, a fee.

A bidder's assets after a run are its cash, plus the value of the item if it won. Every run begins with equal assets.
Source: EconArena, sec. 4.2 and A.2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

from harbor._core.amounts import Amount
from harbor._core.asks import Action, Ask
from harbor._core.events import Event, PrivateEvent
from harbor._core.money import Money, dollars, to_cents
from harbor._games.sessions.priors import Distribution
from harbor._games.sessions.session import (
    RunClosed,
    RunLabelled,
    RunSettled,
    RunState,
    Session,
    amount_of,
    broke_a_rule,
    name_of,
)
from harbor._games.sessions.settings import ValueRules

MOST_VALUES = 1_000_000
"""Of each bidder in each run: all are drawn before the first run."""
Bids = Mapping[str, Decimal | None]
"""Bids in seat order; None: no bid."""


@dataclass(frozen=True, slots=True)
class ValueDrawn(PrivateEvent):
    """What the item of a run is worth to a bidder, and what it can spend; `capped`: its value is above its assets."""

    item: str
    value: Money
    assets: Money
    capped: bool

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """The value."""
        capped = f", more than the {dollars(self.assets)} that you can bid" if self.capped else ""
        return (f"Only you know: the item of {self.item} is worth {dollars(self.value)} to you{capped}.",)


@dataclass(frozen=True, slots=True)
class ItemAllotted(RunClosed):
    """An item is sold or stays unsold; `values` is empty unless the session shows them."""

    values: dict[str, Money]
    price: Money | None

    @property
    def discloses(self) -> bool:
        """Whether it shows the values."""
        return bool(self.values)

    def details(self) -> Mapping[str, object]:
        """Give price and values."""
        return {"price": self.price, "values": self.values}

    @property
    def words(self) -> str:
        """What is shown."""
        return " ".join(self.sentences())

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """What is shown, bid by bid."""
        bids = [
            f"{name} made no bid." if bid is None else f"{name} bid {dollars(bid)}."
            for name, bid in self.actions.items()
        ]
        values = [f"It was worth {dollars(value)} to {name}." for name, value in self.values.items()]
        won = [f"{name} wins and pays {dollars(self.price or Decimal(0))}." for name in self.winners]
        return (f"{self.item} is over.".capitalize(), *bids, *won, *values)


class Outcome(NamedTuple):
    """Who gets the item (None: nobody), and the price in dollars."""

    winner: str | None
    price: Decimal


@dataclass(frozen=True)
class PrivateValues(Session):
    """The rules of a session of auctions, one item per run.

    Args:
        bidders: in seat order, which decides ties.
        options: runs, what is shown, the fee.
        values: dollars, run by run, for each bidder.
        assets: dollars that everyone can spend in a run.
        prior: the distribution that values come from (None: they are given without one).
    """

    options: ValueRules
    values: Mapping[str, Sequence[Decimal]]
    assets: Decimal
    prior: Distribution | None = None

    @property
    def stakes(self) -> tuple[Money, Money]:
        """Everyone's assets at the start of a run, and the entrance fee, in dollars."""
        return self.assets, to_cents(self.assets * self.options.entrance_fee_share)

    def facts(self) -> dict[str, Any]:
        """Give what the opening tells in all games, and whether values stay the same."""
        return {**super().facts(), "drawn_once": self.options.draw == "once"}

    @abstractmethod
    def outcome(self, bids: Bids) -> Outcome:
        """Give the winner and the price."""

    def equilibrium(self, values: Mapping[str, Decimal]) -> Mapping[str, Decimal] | None:
        """Give the bids in equilibrium: each bidder's value, capped by its assets (None: not known)."""
        return {name: min(value, self.assets) for name, value in values.items()}

    def tell(self, run: int) -> list[Event]:
        """Tell each bidder its value."""
        item, assets = name_of(run), self.assets
        return [
            ValueDrawn(name, item, value, assets, value > assets)
            for name, value in ((name, self.values[name][run - 1]) for name in self.bidders)
        ]

    def ask(self, bidder: str, state: RunState) -> Ask:
        """Ask for a sealed bid."""
        return Ask(bidder, name_of(state.run), 1, Amount(Decimal(0), self.assets), note=self.worth(bidder, state.run))

    def worth(self, bidder: str, run: int) -> str:
        """Tell a bidder its value in words."""
        value = self.values[bidder][run - 1]
        capped = ", more than your assets, which cap your bid" if value > self.assets else ""
        return f"it is worth {dollars(value)} to you{capped}"

    def close_run(self, state: RunState, actions: Mapping[str, Action]) -> list[Event]:
        """Allocate the item."""
        bids = {name: amount_of(actions[name]) for name in self.bidders}
        broke = [name for name in self.bidders if broke_a_rule(actions[name])]
        return self.allot(state.run, bids, broke, self.options.shown)

    def allot(self, run: int, bids: Bids, broke: Collection[str], show: str) -> list[Event]:
        """Give the result of a run for each bidder, for the analyst (its equilibrium) and for everyone."""
        item, outcome = name_of(run), self.outcome(bids)
        values = {name: self.values[name][run - 1] for name in self.bidders}
        _, fee = self.stakes
        events: list[Event] = []
        for name, bid in bids.items():
            won, charged = name == outcome.winner, fee if name in broke else Decimal(0)
            left = self.left(outcome, name, values[name]) - charged
            events.append(RunSettled(name, item, bid, won, outcome.price if won else Decimal(0), charged, left))
        best = self.equilibrium(values)
        if best is not None:
            ideal = self.outcome(best)
            left_then = {name: self.left(ideal, name, value) for name, value in values.items()}
            events.append(RunLabelled(item, dict(best), left_then))
        return [*events, _shown(item, bids, values, outcome, show)]

    def left(self, outcome: Outcome, name: str, value: Decimal) -> Decimal:
        """Give a bidder's assets after a run."""
        return self.assets - outcome.price + value if name == outcome.winner else self.assets


def ranked(bids: Bids) -> list[tuple[str, Decimal]]:
    """Order the bids, highest first; equal bids in seat order."""
    return sorted(((name, bid) for name, bid in bids.items() if bid is not None), key=lambda pair: -pair[1])


def draw_values(rules: ValueRules, bidders: Sequence[str], rng: Random) -> dict[str, tuple[Decimal, ...]]:
    """Give each bidder a value for every run: as given, else drawn.

    Raises:
        ValueError: values are given, but not for every bidder and run, or their distribution never gives one of them;
            or there would be too many.
    """
    if (count := len(bidders) * rules.runs) > MOST_VALUES:
        raise ValueError(
            f"rules.runs {rules.runs:,}: {len(bidders):,} bidders have {count:,} values in them, and at most"
            f" {MOST_VALUES:,} are drawn; take fewer runs or bidders"
        )
    if rules.values:
        return {name: _given(rules, name) for name in bidders}
    if rules.draw == "once":
        return {name: (rules.source.draw(rng),) * rules.runs for name in bidders}
    return {name: tuple(rules.source.draw(rng) for _ in range(rules.runs)) for name in bidders}


def _given(rules: ValueRules, name: str) -> tuple[Decimal, ...]:
    given, source = rules.values.get(name, ()), rules.distribution
    if len(given) != rules.runs and (len(given) != 1 or source):  # an independent draw for each run is no repetition
        one = "" if source else "1, or "
        raise ValueError(
            f"rules.values has {len(given)} values for {name!r}; give {one}one for each of the {rules.runs} runs"
        )
    for value in given:
        if source and not source.lowest <= value <= source.highest:
            raise ValueError(
                f"rules.values: {dollars(value)} of {name!r} is no value of {source.words}, which gives "
                f"${source.lowest:,.2f} to ${source.highest:,.2f}; change one of them"
            )
    return given if len(given) == rules.runs else given * rules.runs


def _shown(item: str, bids: Bids, values: Mapping[str, Decimal], outcome: Outcome, show: str) -> ItemAllotted:
    if show == "nothing":
        return ItemAllotted(item, {}, (), {}, None)
    winners = () if outcome.winner is None else (outcome.winner,)
    price = outcome.price if winners else None
    return ItemAllotted(item, dict(bids), winners, dict(values) if show == "actions and values" else {}, price)
