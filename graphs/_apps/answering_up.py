"""How a bidder answers in somebody else's app: what it says to the auctioneer's last words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from harbor._config.auction import Bidder
from harbor._core.acts import Tried
from harbor._core.asks import Action, Answer, Ask, Bid, Pause, Unreadable, Withdraw
from harbor._core.errors import ConfigError
from harbor._core.events import BidderSeated
from harbor._core.money import dollars
from harbor._core.players import Player
from harbor._games.english.sale_heard import Brought
from harbor._house.auctioneer import answer_to, judged
from harbor._house.hearing import READY
from harbor.graphs._apps.listener import Listener
from harbor.personas._catalog.catalogue import catalogue_of, persona_of

Values = Mapping[str, Decimal | int | float | str]
"""What items are worth to a bidder in dollars."""
ATTEMPTS = 3
"""How often a bidder may try to answer before it withdraws."""


class Spoken(NamedTuple):
    """What a bidder says, and the action that it means (None: it was not asked, or it lacks something)."""

    words: str
    action: Action | None = None
    ask: Ask | None = None


def brought(bidder: Bidder, values: Values, catalogue: str = "homes") -> Brought:
    """Give what a bidder brings.

    Raises:
        ConfigError: a value is no positive amount, or a persona is not in the catalogue.
    """
    known = catalogue_of(catalogue).personas if bidder.persona else {}
    texts = {persona_of(known, key).text: weight for key, weight in bidder.persona.items()}
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"bidder {bidder.name!r}: values are {values!r}; give dollars by item, as {{'Mill': 300_000}}"
        )
    guesses = {item: _dollars(bidder.name, item, value) for item, value in values.items()}
    return Brought(BidderSeated(bidder.name, bidder.budget, texts, bidder.objective), guesses)


def app_name(bidder: str, name: str | None) -> str:
    """Give the name of a bidder among the agents of an app: the one that is given, or one made from its own.

    Raises:
        ConfigError: it is no Python identifier, as apps and providers want.
    """
    name = name or re.sub(r"\W", "_", bidder.lower())
    if not name.isidentifier():
        raise ConfigError(f"bidder {bidder!r} needs a name among agents: {name!r} is no Python identifier")
    return name


def speakers(bidder: str, auctioneers: Sequence[str]) -> tuple[str, ...]:
    """Give the names of the speakers that a bidder believes.

    Raises:
        ConfigError: they are no list of names.
    """
    if isinstance(auctioneers, str):
        raise ConfigError(f"bidder {bidder!r}: auctioneers is {auctioneers!r}; give a list of names: [{auctioneers!r}]")
    return tuple(auctioneers)


def _dollars(bidder: str, item: str, value: Decimal | int | float | str) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise ConfigError(f"bidder {bidder!r}: the value of {item!r} is {value!r}; give a positive number of dollars")
    return amount


async def speak(listener: Listener, player: Player) -> Spoken:
    """Answer what the bidder was asked, once; what it decides is checked before it is said, and decided again.

    Args:
        listener: has heard the auctioneer.
        player: decides, such as a `GraphBidder` whose conclusions go to the listener.
    """
    ask, instead, price = listener.ask, listener.instead, listener.price
    if ask is None:
        return Spoken(instead or listener.unasked)
    listener.answered()
    if isinstance(ask, Pause):
        await player.act(ask, listener.seen)
        return Spoken(READY)
    action = at_price(price, await _decided(listener, player, ask))
    return Spoken(in_words(ask, price, action), action, ask)


async def _decided(listener: Listener, player: Player, ask: Ask) -> Action:
    """Give a legal action; after too many that are not, a withdrawal."""
    for attempt in range(1, ATTEMPTS + 1):
        given = await player.act(ask, listener.seen)
        answer: Answer = answer_to(ask, given) if isinstance(given, str) else given or Unreadable("nothing was said")
        found = judged(ask, answer)
        if not isinstance(found, str):
            return found
        listener.conclude(Tried(ask.bidder, ask.item, ask.round, ask.attempt, found))
        ask = ask._replace(attempt=attempt + 1, refusal=found)
    return Withdraw("failed bids")


def at_price(price: Decimal | None, action: Action) -> Action:
    """Make a bid one of the price, if there is one price to take or to leave: who would pay more takes it."""
    return action if price is None or not isinstance(action, Bid) else Bid(price)


def in_words(ask: Ask, price: Decimal | None, action: Action) -> str:
    """Say an action to whoever asked; where there is one price, it is taken or left."""
    if price is None:
        return ask.space.say(action)
    return f"Yes, I accept {dollars(price)}." if isinstance(action, Bid) else f"No, not at {dollars(price)}: I decline."
