"""A bidder's model reads an auctioneer's English in another app, and the bidder believes the possible parts.

The built-in model reads only the call of Harbor's own auctioneer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from harbor._config.auction import Bidder
from harbor._config.models import ModelSettings
from harbor._core.asking import amounts
from harbor._core.asking.asks import Ask
from harbor._core.asking.decisions import Amount, Name
from harbor._core.basics.actions import NUMBER, printable
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import CENT, dollars
from harbor._games.english.outside_sale import News
from harbor._house.auctioneer import call
from harbor._models.calls.client import ModelClient
from harbor._models.calls.line import Line
from harbor._models.connections import OpenModel
from harbor._models.providers import open_chats, settings_of
from harbor._models.simulated.model import use_of
from harbor.graphs._context.context import form_of
from harbor.graphs._context.node import PROMPTS
from harbor.graphs._context.prompting import fill

AnyModel = str | ModelSettings | BaseChatModel | None
"""A name ("openai:gpt-5", "simulated"), settings, or a LangChain chat model; None: as the bidder's settings say."""


def client_of(bidder: Bidder, model: AnyModel, seed: int) -> ModelClient:
    """Open the model of a bidder.

    Raises:
        ConfigError: no model plays this bidder, or its model does not exist or can't be opened.
    """
    if not bidder.uses_model:
        raise ConfigError(f"bidder {bidder.name!r} has a player that is no model; drop its rule, agent or person")
    if isinstance(model, BaseChatModel):
        return ModelClient(bidder.name, bidder.model, model, ModelSettings(use=use_of(model)), reply=form_of(bidder))
    given = model if isinstance(model, ModelSettings) else ModelSettings(use=model or bidder.model)
    settings = settings_of(given.use, {given.use: given})
    if settings.fallback is not None:
        raise ConfigError(f"model {given.use!r} has a fallback, which a bidder in an app can't ask; drop it")
    opened = OpenModel.of(given.use, open_chats(given.use, settings, seed), settings, None)
    return ModelClient(bidder.name, given.use, opened.chat, settings, pool=opened.pool(Line), reply=form_of(bidder))


TASK = "listen"
LISTENER, LISTEN = PROMPTS / "listener.md", PROMPTS / "listen.md"
LONGEST_READ = 8_000
"""Characters of a message that the model is shown, at most."""
LONGEST_NAME = 100
"""Longest name in a message or a reply, in characters."""
MOST_DOLLARS = Decimal(10**12)
"""Largest possible price, in dollars."""
SHOWN = 200
"""Largest number of item names in a prompt."""
_DOLLARS = rf"\$(?:{NUMBER})"
CALL = re.compile(
    r"(?P<bidder>[^\n]+), your call on (?P<item>[^\n]+): "
    rf"at least (?P<least>{_DOLLARS}) and at most (?P<most>{_DOLLARS})\. Say .+"
)
"""A call for a bid in the words of Harbor's auctioneer."""


class Reading(BaseModel):
    """What an auctioneer's words say."""

    asked: bool = Field(description="Whether you are asked to answer now.")
    item: Name | None = Field(
        None, description="The item that you are asked about, or that is put up for sale; null if none is."
    )
    least: Amount | None = Field(None, description="The least amount that may be bid; null if none is told.")
    exact: Amount | None = Field(None, description="The one price to accept or to decline; null if there is none.")
    any_amount: bool = Field(False, description="Whether any amount may be bid, as in a sealed bid without a minimum.")
    news: list[News] = Field([], max_length=100, description="What the words tell of the sale.")


class Heard(NamedTuple):
    """The believed part of a reading: the item of the ask to this bidder or to others, the price, and the rest.

    `lacks` says why the bidder can't answer an ask; empty if it can, or if it is not asked.
    """

    asked: bool
    item: str | None = None
    least: Decimal | None = None
    exact: Decimal | None = None
    any_amount: bool = False
    news: tuple[News, ...] = ()
    lacks: str = ""


async def read_english(model: ModelClient, you: str, items: Sequence[str], item: str | None, words: str) -> Reading:
    """Read the auctioneer's message with a bidder's model, in one call.

    Args:
        model: the bidder's model.
        you: the bidder's name.
        items: items that it knows.
        item: the item now for sale, as far as it has heard.
        words: the message.

    Raises:
        UnreadableReply: the model returned no usable reply.
    """
    known = {"known_items": list(items[:SHOWN]), "item_now": item, "words": words[:LONGEST_READ]}
    prompt = fill(LISTEN, {"you": you}, known, LISTENER, TASK)
    return await model.ask(prompt, Reading)


def called(words: str, turn: int) -> Ask | None:
    """Return the ask in a call that has exactly the words of Harbor's auctioneer, else None.

    Args:
        words: the message.
        turn: number of the present round, which the words do not tell.
    """
    if (found := CALL.fullmatch(words)) is None:
        return None
    least, most = (Decimal(found[bound][1:].replace(",", "")) for bound in ("least", "most"))
    ask = Ask(found["bidder"], found["item"], turn, amounts.Amount(least, most))
    return ask if call(ask) == words else None


def believed(reading: Reading, items: Iterable[str], now: str | None) -> Heard:
    """Return the parts of a reading that can be true: items that the bidder knows, and prices that are valid amounts.

    Args:
        reading: the model's reading.
        items: items that the bidder knows.
        now: the item now for sale, as far as the bidder has heard.
    """
    names = {_plain(name): name for name in items}
    news = tuple(
        one.model_copy(update={"item": names[_plain(one.item)]})
        for one in reading.news
        if _plain(one.item) in names and _fits(one)
    )
    named = names.get(_plain(reading.item)) if reading.item else None
    if not reading.asked:
        return Heard(False, named, news=news)
    item = named if reading.item else now
    lacks = _lacks(reading, item, names.values())
    return Heard(True, item, reading.least, reading.exact, reading.any_amount, news, lacks)


def _lacks(reading: Reading, item: str | None, known: Iterable[str]) -> str:
    if item is None:
        listed = ", ".join(known) or "none"
        if reading.item:
            name = printable(reading.item)[:LONGEST_NAME]
            return f"I was told no value of {name!r}, so I can't bid on it. I know a value of: {listed}."
        return f"Which item is it? I know a value of: {listed}."
    for price in (reading.least, reading.exact):
        if price is not None and not is_price(price):
            return f"{price:f} is no price in dollars and cents. At which price do you ask me?"
    if reading.least is not None and reading.exact is not None and reading.least != reading.exact:
        return f"Is the price exactly {dollars(reading.exact)}, or is {dollars(reading.least)} the least bid?"
    return ""


def _fits(news: News) -> bool:
    """Say whether a piece of news is complete: a bid and a sale have a bidder and an amount."""
    if news.kind == "unsold":
        return True
    if not news.bidder or len(news.bidder) > LONGEST_NAME:
        return False
    return news.kind == "out" or (news.amount is not None and is_price(news.amount))


def is_price(amount: Decimal) -> bool:
    """Say whether an amount can be a price: positive, in whole cents, and at most `MOST_DOLLARS`."""
    return 0 < amount <= MOST_DOLLARS and not amount % CENT


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())
