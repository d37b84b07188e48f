"""The private-value English auction, a clock auction: the price rises by steps, and bidders drop out.

All bidders still in answer each price at the same moment. The auction ends when at most one is left. The bidder that
accepted the highest price wins, and pays the highest price that another bidder accepted (at least the first price).
Ties go to the first in seat order. With a clock no bidder is drawn to lead, so the price paid hardly depends on one's
own drop-out. Truthful play (to stay in while the price is not above one's value) is the equilibrium up to one step.
Source: EconArena, sec. A.1 (Levin 2004).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Action, Ask, Bid
from harbor._core.basics.numbers import CENT, Money, dollars, to_cents
from harbor._core.log.acts import Acted
from harbor._core.log.events import Event, PublicEvent
from harbor._core.settings import Share
from harbor._games.mechanism import Chance
from harbor._games.sessions.private_games import Bids, Outcome, PrivateValues, ranked
from harbor._games.sessions.session import RunState, SessionOpened, broke_a_rule, name_of
from harbor._games.sessions.settings import ValueRules


class EnglishPrivateRules(ValueRules):
    """A private-value English auction: the price rises round by round, and bidders drop out.

    Attributes:
        step_share: The rise of the price per round, as a share of the assets.
    """

    public: ClassVar[frozenset[str]] = ValueRules.public | frozenset({"step_share"})

    game: str = "english-private"
    step_share: Share = Decimal("0.05")


@dataclass(frozen=True, slots=True)
class EnglishPrivateOpened(SessionOpened):
    """A session of private-value English auctions begins; the price starts at `step` dollars and rises by `step`."""

    step: Money

    @property
    def rules(self) -> str:
        """The rules of one run in words."""
        return (
            f"The price starts at {dollars(self.step)} and rises by the same amount each round. In each round, bid "
            "exactly the price to stay in, or withdraw from the run for good. The player that accepted the highest "
            "price wins the item; of equals, the player named first. The winner pays the highest price that another "
            f"player accepted, or {dollars(self.step)} if no other accepted any."
        )


@dataclass(frozen=True, slots=True)
class PriceRaised(PublicEvent):
    """More than one bidder is still in: the price goes up."""

    item: str
    round: int
    price: Money

    @property
    def called(self) -> Money:
        """The new price."""
        return self.price

    @property
    def words(self) -> str:
        """The new price."""
        return f"The price is {dollars(self.price)}."


@dataclass(frozen=True)
class EnglishPrivate(PrivateValues):
    """The rules of a session of private-value English auctions; a bid is the highest price that a bidder accepted."""

    options: EnglishPrivateRules

    @property
    def step(self) -> Decimal:
        """The first price, which is also the rise per round, in dollars."""
        return max(CENT, to_cents(self.assets * self.options.step_share))

    def opened(self) -> EnglishPrivateOpened:
        """Return the opening of the session."""
        return EnglishPrivateOpened(**self.facts(), step=self.step)

    def ask(self, bidder: str, state: RunState) -> Ask:
        """Ask a bidder whether it stays in at the price."""
        price = self.step * state.round
        return Ask(bidder, name_of(state.run), state.round, Amount(price, price), note=self.worth(bidder, state.run))

    def settle(self, state: RunState, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Raise the price while more than one bidder stays in; then allocate the item and open the next run."""
        if not state.run:
            return super().settle(state, actions, chance)
        price = self.step * (state.round + 1)
        if len(state.active) > 1 and price <= self.assets:
            return [PriceRaised(name_of(state.run), state.round + 1, price)]
        return [*self.close_run(state, actions), *self.open_next(state)]

    def close_run(self, state: RunState, actions: Mapping[str, Action]) -> list[Event]:
        """Allocate the item. The bids are always shown, as everyone heard them."""
        bids = {name: state.bids.get(name) for name in self.bidders}
        show = "actions and values" if self.options.shown == "actions and values" else "actions"
        return self.allot(state.run, bids, state.broke, show)

    def apply(self, state: RunState, event: Event) -> RunState:
        """Return the state after an event."""
        match event:
            case Acted(bidder=bidder, act=Bid(amount=amount)):
                return state._replace(bids={**state.bids, bidder: amount})
            case Acted(bidder=bidder, act=act):
                active = tuple(name for name in state.active if name != bidder)
                broke = (*state.broke, bidder) if broke_a_rule(act) else state.broke
                return state._replace(active=active, broke=broke)
            case PriceRaised(round=round):
                return state._replace(round=round)
            case _:
                return super().apply(state, event)

    def outcome(self, bids: Bids) -> Outcome:
        """Return the bidder that accepted the highest price, and what it pays: the highest that another accepted."""
        order = ranked(bids)
        if not order:
            return Outcome(None, Decimal(0))
        return Outcome(order[0][0], order[1][1] if len(order) > 1 else self.step)

    def equilibrium(self, values: Mapping[str, Decimal]) -> Mapping[str, Decimal]:
        """Return the highest price that each bidder accepts if everyone stays in up to its value."""
        steps = {name: int(min(value, self.assets) // self.step) for name, value in values.items()}
        last = 1 + sorted([0, *steps.values()])[-2]  # the call at which the second-last bidder is out
        return {name: self.step * min(count, last) for name, count in steps.items() if count}
