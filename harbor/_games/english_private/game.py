"""The English auction with private values as one value."""

from __future__ import annotations

from random import Random

from harbor._config.auction import Simulated
from harbor._core.asks import Ask, Bid, Withdraw
from harbor._games.english_private.board import ClockBoard
from harbor._games.english_private.rules import EnglishPrivate, EnglishPrivateOpened, PriceRaised
from harbor._games.english_private.settings import EnglishPrivateRules
from harbor._games.game import Facts, Game, Seen, Values
from harbor._games.reply import bid_of
from harbor._games.sessions import private_games
from harbor._games.sessions.from_public import of_values
from harbor._games.types_of_play import own_multiple


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Stay in up to the value."""
    price, value = float(facts["minimum"]), float(facts["value"])
    if times := own_multiple(facts):
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
