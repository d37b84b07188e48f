"""The rules: the price of each item falls step by step, and the first to accept it wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from pydantic import Field

from harbor.events import HOUSE, Acted, Allocated, Listed, Lot, LotClosed, Paid, PublicEvent
from harbor.games import (
    CENT,
    Accept,
    AcceptOrWait,
    Action,
    Ask,
    Chance,
    Event,
    Money,
    RuleSettings,
    Share,
    dollars,
    to_cents,
)


@dataclass(frozen=True, slots=True)
class DutchOpened(Listed):
    """The auction begins, with its bidders and its items in order."""

    @property
    def words(self) -> str:
        """The rules in words."""
        listed = ", ".join(lot.name for lot in self.lots)
        return (
            f"Welcome, {', '.join(self.bidders)}. For sale, in this order: {listed}. The price of each falls step by "
            "step. The first to accept it buys at that price; of several at the same price, the lot decides."
        )


@dataclass(frozen=True, slots=True)
class PriceCalled(PublicEvent):
    """A call of a price: the first price of an item, or a lower one."""

    item: str
    round: int
    price: Money

    @property
    def called(self) -> Money:
        """The price, which the accepting bidder pays."""
        return self.price

    @property
    def words(self) -> str:
        """The price."""
        return f"{self.item}: {dollars(self.price)}."


@dataclass(frozen=True, slots=True)
class FlowerSold(LotClosed):
    """An item is sold, or (no winner) nobody accepted its reserve price."""

    winner: str | None
    price: Money

    @property
    def words(self) -> str:
        """The result."""
        return (
            f"{self.item} goes to {self.winner} for {dollars(self.price)}."
            if self.winner
            else f"{self.item} is not sold."
        )


class DutchRules(RuleSettings):
    """The price of an item begins at `first_multiple` of its reserve and falls by `step_share` of the reserve."""

    game: str = "dutch"
    first_multiple: Decimal = Field(Decimal(3), ge=1, le=100)
    step_share: Share = Decimal("0.25")


class DutchState(NamedTuple):
    """The number of closed items, the current price, its round (0: none), and the money of each bidder."""

    closed: int
    item: str
    price: Decimal
    round: int
    budgets: Mapping[str, Decimal]


@dataclass(frozen=True)
class Dutch:
    """The rules of one sale: lots, whose starting price is the reserve, dollars per bidder, and how prices fall."""

    lots: tuple[Lot, ...]
    budgets: Mapping[str, Decimal]
    options: DutchRules

    def start(self) -> DutchState:
        """Return the state before the opening."""
        return DutchState(0, "", Decimal(0), 0, dict(self.budgets))

    def asks(self, state: DutchState) -> Sequence[Ask]:
        """Ask all bidders who can pay the price whether they accept it."""
        if not state.round:
            return []
        space = AcceptOrWait(state.price)
        return [
            Ask(name, state.item, state.round, space) for name, left in state.budgets.items() if left >= state.price
        ]

    def settle(self, state: DutchState, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Sell to an accepting bidder, or call a lower price, or call the next item."""
        if not state.round:
            return [DutchOpened(tuple(self.budgets), self.lots), *self._call(state, 0)]
        accepted = [name for name in state.budgets if isinstance(actions.get(name), Accept)]
        if accepted:
            buyer = chance.pick("who buys", accepted)
            return [*self._trade(state, buyer), *self._close(state, FlowerSold(state.item, buyer, state.price))]
        return list(self._lower(state))

    def apply(self, state: DutchState, event: Event) -> DutchState:
        """Return the state after an event."""
        match event:
            case PriceCalled(item=item, round=round, price=price):
                return state._replace(item=item, round=round, price=price)
            case FlowerSold(winner=winner, price=price):
                left = {name: money - price * (name == winner) for name, money in state.budgets.items()}
                return DutchState(state.closed + 1, "", Decimal(0), 0, left)
            case _:
                return state

    def _lower(self, state: DutchState) -> Iterator[Event]:
        """Call the next price that some bidder can pay. Below the reserve the item stays unsold."""
        reserve = self.lots[state.closed].start
        step = max(CENT, to_cents(reserve * self.options.step_share))
        price, number = state.price - step, state.round + 1
        while price >= reserve:
            yield PriceCalled(state.item, number, price)
            if any(left >= price for left in state.budgets.values()):
                return
            price, number = price - step, number + 1
        yield from self._close(state, FlowerSold(state.item, None, Decimal(0)))

    def _trade(self, state: DutchState, buyer: str) -> list[Event]:
        """Tell everyone the buyer, drawn at random from several, and trade the item for the price."""
        return [
            Acted(buyer, state.item, Accept(), state.round),
            Allocated(buyer, state.item),
            Paid(buyer, HOUSE, state.item, state.price),
        ]

    def _close(self, state: DutchState, verdict: FlowerSold) -> list[Event]:
        return [verdict, *self._call(self.apply(state, verdict), state.closed + 1)]

    def _call(self, state: DutchState, number: int) -> Iterator[Event]:
        """Call the first price of an item."""
        if number == len(self.lots):
            return
        lot = self.lots[number]
        called = PriceCalled(lot.name, 1, to_cents(lot.start * self.options.first_multiple))
        yield called
        if not any(left >= called.price for left in state.budgets.values()):
            yield from self._lower(self.apply(state, called))
