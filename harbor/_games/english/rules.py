"""The ascending (English) auction: items are sold one after another in rounds of simultaneous bids, under budgets.

Source: Chen et al. 2023, sec. 3.1.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from harbor._config.rules import RuleSettings
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Action, Ask, Bid
from harbor._core.basics.numbers import DOLLAR
from harbor._core.log.acts import HOUSE, Acted, Allocated, Paid
from harbor._core.log.events import BidderWithdrew, Event, Lot
from harbor._core.settings import Share
from harbor._games.english.events import (
    ItemOpened,
    ItemSold,
    ItemUnsold,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._games.mechanism import Chance


class EnglishRules(RuleSettings):
    """The rules of an ascending auction.

    >>> EnglishRules(reveal="price").increment_share
    Decimal('0.1')

    Attributes:
        increment_share: The minimum raise of a bid over the highest bid, as a share of the item's starting price. The
            raise is rounded down to whole dollars, and is at least one dollar.
        lowerings: Number of times that an item without a bid is offered again at a lower price. A price of one dollar
            is not lowered.
        lowering_share: The share by which the price of an item without a bid falls each time. The new price is rounded
            down to whole dollars.
        reveal: The facts about an item that everyone is told after its sale: "price" (its price alone), or "true value"
            (its price and its true value).

    Source: Chen et al. 2023, sec. 3.1.
    """

    public: ClassVar[frozenset[str]] = RuleSettings.public | frozenset(
        {"increment_share", "lowerings", "lowering_share", "reveal"}
    )

    game: str = "english"
    increment_share: Share = Decimal("0.1")
    lowerings: int = Field(0, ge=0, le=3)
    lowering_share: Annotated[Share, Field(lt=1)] = Decimal("0.5")
    reveal: Literal["price", "true value"] = "true value"


_HEEDED = frozenset({Acted, BidderWithdrew, RoundClosed, ItemOpened, PriceLowered, ItemSold, ItemUnsold})
"""The events that can change the state."""


class ValuedLot(NamedTuple):
    """An item as the rules know it: the public `lot`, and the true value in dollars, which is hidden from bidders."""

    lot: Lot
    true_value: Decimal


class EnglishState(NamedTuple):
    """The state of the auction.

    `number` is the index of the current item; it is -1 before the auction opens. `active` lists the bidders that have
    not withdrawn from the current item, in seat order. `leader` made the highest bid of earlier rounds, and `price` is
    that bid in dollars. `lowered` is the number of times that the starting price of the item was lowered.
    """

    number: int
    budgets: Mapping[str, Decimal]
    item: str = ""
    start: Decimal = Decimal(0)
    increment: Decimal = DOLLAR
    lowered: int = 0
    round: int = 0
    active: tuple[str, ...] = ()
    leader: str | None = None
    price: Decimal = Decimal(0)

    @property
    def minimum(self) -> Decimal:
        """The lowest bid in dollars that is legal in this round."""
        return self.start if self.leader is None else self.price + self.increment


@dataclass(frozen=True)
class English:
    """The rules of one sale.

    Args:
        items: the items in the order of sale.
        budgets: the dollars that each bidder can spend, by bidder in seat order.
        options: the minimum raise, the lowering of starting prices, and the facts announced after a sale.
    """

    items: tuple[ValuedLot, ...]
    budgets: Mapping[str, Decimal]
    options: EnglishRules = EnglishRules()

    def start(self) -> EnglishState:
        """Return the state before the auction opens."""
        return EnglishState(number=-1, budgets=dict(self.budgets))

    def asks(self, state: EnglishState) -> Sequence[Ask]:
        """Ask each active bidder except the leader; every bidder that is asked can pay the minimum bid."""
        minimum, item, number, budgets = state.minimum, state.item, state.round, state.budgets
        return [
            Ask(bidder, item, number, Amount(minimum, budgets[bidder]))
            for bidder in state.active
            if bidder != state.leader
        ]

    def settle(self, state: EnglishState, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Open the sale, or close a round: name the leader, or sell the item and open the next one."""
        if state.number < 0:
            lots = tuple(item.lot for item in self.items)
            opened = SaleOpened(tuple(self.budgets), lots, self.options.reveal)
            return [opened, *self._open_next(state)]
        return self._close_round(state, actions, chance)

    def apply(self, state: EnglishState, event: Event) -> EnglishState:
        """Return the state after an event."""
        if type(event) not in _HEEDED or (isinstance(event, Acted) and type(event.act) is Bid):
            return state  # most events: this test is faster than `match`; only `RoundClosed` sets the leader
        match event:
            case Acted(bidder=bidder) | BidderWithdrew(bidder=bidder):
                active = tuple([name for name in state.active if name != bidder])
                return EnglishState(*state[:7], active, *state[8:])  # `_replace` takes three times as long
            case RoundClosed(leader=leader, price=price):
                return EnglishState(*state[:6], state.round + 1, state.active, leader, price)
            case ItemOpened(item=item, start=start, increment=increment):
                return EnglishState(state.number + 1, state.budgets, item, start, increment, 0, 1, tuple(self.budgets))
            case PriceLowered(item=item, start=start, increment=increment):
                lowered, everyone = state.lowered + 1, tuple(self.budgets)
                return EnglishState(state.number, state.budgets, item, start, increment, lowered, 1, everyone)
            case ItemSold(winner=winner, price=price):
                budgets = {**state.budgets, winner: state.budgets[winner] - price}
                return EnglishState(state.number, budgets)
            case ItemUnsold():
                return EnglishState(state.number, state.budgets)
            case _:
                return state

    def _close_round(self, state: EnglishState, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        bids = {name: action.amount for name in state.active if isinstance(action := actions.get(name), Bid)}
        if not bids:
            return [*self._hammer(state, state.leader, state.price)]
        price = max(bids.values())
        leader = chance.pick("the leader", [bidder for bidder, amount in bids.items() if amount == price])
        rivals = [bidder for bidder in state.active if bidder != leader]
        least, after = price + state.increment, state.round + 1
        broke = [bidder for bidder in rivals if state.budgets[bidder] < least]
        events: list[Event] = [RoundClosed(state.item, state.round, leader, price)]
        events += [BidderWithdrew(state.item, after, bidder, "cannot afford") for bidder in broke]
        # If all rivals are out, the sale ends, also after a first round with one bid and withdrawals.
        return events if len(broke) < len(rivals) else [*events, *self._hammer(state, leader, price)]

    def _hammer(self, state: EnglishState, winner: str | None, price: Decimal) -> Iterator[Event]:
        """Sell to the leader; without one, lower the price or leave the item unsold. Then open the next item."""
        if winner is None and self._may_lower(state):
            lowered = self._lower(state)
            yield lowered
            wanted = yield from self._call(self.apply(state, lowered))
            if wanted:
                return
        if winner is None:
            verdict: Event = ItemUnsold(state.item)
        else:
            verdict = ItemSold(state.item, winner, price)
            yield Allocated(winner, state.item)
            yield Paid(winner, HOUSE, state.item, price)
        yield verdict
        yield from self._reveal(state)
        yield from self._open_next(self.apply(state, verdict))

    def _open_next(self, state: EnglishState) -> Iterator[Event]:
        """Open items until somebody can pay the starting price of one."""
        for item in self.items[state.number + 1 :]:
            opened = ItemOpened(item.lot.name, item.lot.start, self._increment(item.lot.start))
            yield opened
            state = self.apply(state, opened)
            wanted = yield from self._call(state)
            if wanted:
                return
            yield ItemUnsold(state.item)
            yield from self._reveal(state)

    def _call(self, state: EnglishState) -> Generator[Event, None, bool]:
        """Withdraw bidders that can't pay the starting price; lower it while none is left. Return whether any is."""
        while True:
            broke = [bidder for bidder, budget in state.budgets.items() if budget < state.start]
            for bidder in broke:
                yield BidderWithdrew(state.item, 1, bidder, "cannot afford")
            if len(broke) < len(state.budgets):
                return True
            if not self._may_lower(state):
                return False
            lowered = self._lower(state)
            yield lowered
            state = self.apply(state, lowered)

    def _reveal(self, state: EnglishState) -> Iterator[Event]:
        if self.options.reveal == "true value":
            yield ValueRevealed(state.item, self.items[state.number].true_value)

    def _may_lower(self, state: EnglishState) -> bool:
        return state.lowered < self.options.lowerings and self._lowered(state.start) < state.start

    def _lower(self, state: EnglishState) -> PriceLowered:
        start = self._lowered(state.start)
        return PriceLowered(state.item, start, self._increment(start))

    def _lowered(self, start: Decimal) -> Decimal:
        """Cut a lowered price to whole dollars, as the source does: 999, 499, 249. It is never below one dollar."""
        return max(DOLLAR, (start * (1 - self.options.lowering_share)).quantize(DOLLAR, rounding=ROUND_DOWN))

    def _increment(self, start: Decimal) -> Decimal:
        return max(DOLLAR, (start * self.options.increment_share).quantize(DOLLAR, rounding=ROUND_DOWN))
