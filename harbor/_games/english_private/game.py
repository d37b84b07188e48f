"""The English auction with private values as a game, with a board that shows a clock from the first price on."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random

from harbor._config.auction import Simulated
from harbor._core.asking.asks import Ask, Bid, Withdraw
from harbor._core.log.acts import Signal
from harbor._core.log.events import Event
from harbor._games.board import Mark, Picture, bids_of
from harbor._games.english_private.rules import EnglishPrivate, EnglishPrivateOpened, EnglishPrivateRules, PriceRaised
from harbor._games.game import Facts, Game, Seen, Values, bid_of
from harbor._games.sessions import private_games
from harbor._games.sessions.facts import OF_AUCTIONS, SessionBoard
from harbor._games.sessions.private_games import of_values
from harbor._games.sessions.session import RunOpened
from harbor._games.types_of_play import own_multiple


class ClockBoard(SessionBoard):
    """The board of a session of clock auctions for one viewer."""

    def __init__(self) -> None:
        super().__init__(theory=lambda opened, value: min(value, opened.assets))  # exact up to one step; see the rules
        self.pictures = (Picture("bids", "Price and bids", x="round", y="price", of_part=True), *OF_AUCTIONS)
        self._first = self._called = Decimal(0)

    def note(self, event: Event) -> None:
        """Process one event."""
        super().note(event)
        match event:
            case EnglishPrivateOpened(step=step):
                self._first = step
            case PriceRaised(price=price):
                self._called = price
            case RunOpened(item=item):
                self._called = self._first
                self._price = PriceRaised(item, 1, self._first).words

    def marks(self, event: Event) -> Iterator[Mark]:
        """Yield the rising price, bids, withdrawals, and the results of the run."""
        yield from super().marks(event)
        yield from bids_of(event, self._called)
        match event:
            case Signal(bidder=bidder, values=values):
                [value] = values.values()
                yield Mark("bids", bidder, "worth", "line", value)
            case RunOpened():
                yield Mark("bids", "price", "price", "step", self._called, 1)
            case PriceRaised(round=round, price=price):
                yield Mark("bids", "price", "price", "step", price, round)


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Stay in up to the value."""
    price, value = float(facts["minimum"]), float(facts["value"])
    if (times := own_multiple(facts)) is not None:
        value *= times
    if price <= value:
        return bid_of(price, f"${price:,.2f} is not above the ${value:,.2f} that it is worth to me")
    return {"reasons": f"${price:,.2f} is above what it is worth to me.", "action": "withdraw"}


def rational(ask: Ask, seen: Seen) -> Bid | Withdraw:
    """Stay in up to the value."""
    return Bid(ask.minimum) if ask.minimum <= private_games.value_of(ask, seen) else Withdraw()


ENGLISH_PRIVATE = Game(
    name="english-private",
    description="a clock auction for one item per run: the price rises, and bidders drop out",
    settings=EnglishPrivateRules,
    build=private_games.building(EnglishPrivate),
    opening=EnglishPrivateOpened,
    events=(EnglishPrivateOpened, *private_games.EVENTS, PriceRaised),
    play=private_games.play(__package__, policy, "Stay in up to what the item is worth to me."),
    rational=rational,
    measures=private_games.MEASURES,
    from_public=of_values(EnglishPrivate),
    acts="open",
    board=ClockBoard,
)
