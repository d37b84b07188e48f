"""The second-price sealed-bid auction is one value. The highest bid wins and pays the second-highest.

Bidding one's private value is a dominant strategy and the equilibrium.
Source: EconArena, sec. 3.1 and A.1 (Vickrey 1961).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from random import Random

from harbor._config.auction import Simulated
from harbor._core.asking.asks import Answer, Ask, Bid
from harbor._core.basics.numbers import Money
from harbor._games.game import Facts, Game, Seen, Values, sealed
from harbor._games.sessions import private_games
from harbor._games.sessions.facts import SessionBoard
from harbor._games.sessions.private_games import Bids, Outcome, PrivateValues, of_values, ranked
from harbor._games.sessions.session import SessionOpened
from harbor._games.sessions.settings import ValueRules
from harbor._games.types_of_play import own_multiple


@dataclass(frozen=True, slots=True)
class SecondPriceOpened(SessionOpened):
    """A session of second-price auctions begins."""

    @property
    def rules(self) -> str:
        """The rules of one run in words."""
        return (
            "Each player seals one bid. The highest bid wins the item, and the winner pays the second-highest bid, or "
            "nothing if nobody else bids. Of equal bids, that of the player named first wins."
        )

    def theory(self, value: Money) -> Money:
        """Return the dominant bid: the value, at most the assets."""
        return min(value, self.assets)


class SecondPrice(PrivateValues):
    """The rules of a session of second-price auctions; a single bid pays nothing."""

    def opened(self) -> SecondPriceOpened:
        """Return the opening of the session."""
        return SecondPriceOpened(**self.facts())

    def outcome(self, bids: Bids) -> Outcome:
        """Return the winner and the price."""
        order = ranked(bids)
        if not order:
            return Outcome(None, Decimal(0))
        return Outcome(order[0][0], order[1][1] if len(order) > 1 else Decimal(0))


class SecondPriceRules(ValueRules):
    """A second-price sealed-bid auction: the highest bid wins and pays the second-highest."""

    game: str = "second-price"


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Bid the value of the item, which is dominant."""
    value, most = float(facts["value"]), float(facts["maximum"])
    if (times := own_multiple(facts)) is not None:
        return sealed(value * times, most, f"I bid {times:g} times what it is worth to me", settings, chance)
    amount = "exactly that" if value <= most else f"all that I may, ${most:,.2f}"
    why = f"It is worth ${value:,.2f} to me, and the others decide what I pay: I bid {amount}"
    return sealed(value, most, why, settings, chance)


def rational(ask: Ask, seen: Seen) -> Bid:
    """Bid the value, which is dominant."""
    return Bid(min(private_games.value_of(ask, seen), ask.maximum))


def level(steps: int, ask: Ask, seen: Seen, chance: Random) -> Answer:
    """Bid at random up to the assets (level 0), or bid the value, which is dominant.

    Source: Crawford & Iriberri 2007 (random level 0).
    """
    return rational(ask, seen) if steps else ask.space.draw(chance)


SECOND_PRICE = Game(
    name="second-price",
    description="sealed bids for one item per run: the highest wins and pays the second-highest",
    settings=SecondPriceRules,
    build=private_games.building(SecondPrice),
    opening=SecondPriceOpened,
    events=(SecondPriceOpened, *private_games.EVENTS),
    play=private_games.play(__package__, policy, "Bid what the item is worth to me."),
    rational=rational,
    level=level,
    measures=private_games.MEASURES,
    from_public=of_values(SecondPrice),
    board=partial(SessionBoard, theory=SecondPriceOpened.theory),
)
