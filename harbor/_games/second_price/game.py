"""The second-price auction as one value."""

from __future__ import annotations

from functools import partial
from random import Random

from harbor._config.auction import Simulated
from harbor._core.asks import Answer, Ask, Bid
from harbor._games.game import Facts, Game, Seen, Values
from harbor._games.reply import sealed
from harbor._games.second_price.rules import SecondPrice, SecondPriceOpened
from harbor._games.second_price.settings import SecondPriceRules
from harbor._games.sessions import private_games
from harbor._games.sessions.board import SessionBoard
from harbor._games.sessions.from_public import of_values
from harbor._games.types_of_play import own_multiple


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Bid what the item is worth, which is dominant."""
    value, most = float(facts["value"]), float(facts["maximum"])
    if times := own_multiple(facts):
        return sealed(value * times, most, f"I bid {times:g} times what it is worth to me", settings, chance)
    amount = "exactly that" if value <= most else f"all that I may, ${most:,.2f}"
    why = f"It is worth ${value:,.2f} to me, and the others decide what I pay: I bid {amount}"
    return sealed(value, most, why, settings, chance)


def rational(ask: Ask, seen: Seen) -> Bid:
    """Bid the value, which is dominant."""
    return Bid(min(private_games.value_of(ask, seen), ask.maximum))


def level(steps: int, ask: Ask, seen: Seen, chance: Random) -> Answer:
    """Bid at random up to the assets, or the value, which is best whatever the rivals bid.

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
