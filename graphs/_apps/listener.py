"""A bidder's listener in another app: it reads the auctioneer's messages as events, and finds the ask to answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

from harbor._config.models import BUILT_IN
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Pause
from harbor._core.basics.errors import UnreadableReply
from harbor._core.basics.numbers import DOLLAR, dollars
from harbor._core.log.acts import ActedSealed, Signal
from harbor._core.log.events import AnalystEvent, BidderSeated, CatalogShown, Event, PrivateEvent
from harbor._core.log.log_entries import event_json, event_of
from harbor._core.log.message_metadata import ASK, ask_in, events_in
from harbor._core.plugins.finding import find
from harbor._games.english.outside_sale import UNTOLD, Brought, SaleHeard
from harbor._games.game import Game
from harbor.graphs._apps.plain_english import Heard, believed, called, read_english
from harbor.graphs._context.context import BidderContext

GIVER = "user"
"""AutoGen's name for the source of a team's task."""
AUCTIONEERS = ("auctioneer", GIVER)
"""The speakers that a bidder believes by default."""
OF_THE_SALE = (BidderSeated, Signal, ActedSealed)
"""Private events of the house and of any game's rules; other private events are a bidder's conclusions."""
ENGLISH = "english"
UNASKED = "I am not asked for a bid now"
LONGEST_HEARD = 20_000
"""Longest English message, in characters."""
NO_READER = (
    "The built-in model reads JSON and Harbor's call for a bid alone; other English needs a language model, such as"
    ' model="openai:gpt-5".'
)


class Listener:
    """Reads and keeps the messages to one bidder in an app of somebody else.

    The app says who speaks. Only messages from speakers in `auctioneers` are read, so no rival can speak for the
    auctioneer. The bidder believes the auctioneer about the sale: items, prices, bids, winners and withdrawals. It does
    not believe the auctioneer about itself: no message changes the budget, the values, the personas and the objective
    that the bidder's owner set, or the bidder's conclusions.

    Args:
        bidder: the context of the bidder. If a message has no events and no ask, the bidder's model reads its English,
            in one call.
        known: the seat and the values that the bidder's owner set.
        auctioneers: the names of the speakers that the bidder believes.
        with_budget: whether the owner set a budget; if not, the bidder takes a budget that Harbor's auctioneer tells.
        catalog: the texts of the personas that rivals may have, by id; empty for a bidder without a theory of mind.
    """

    def __init__(
        self,
        bidder: BidderContext,
        known: Brought,
        auctioneers: Sequence[str] = AUCTIONEERS,
        with_budget: bool = True,
        catalog: Mapping[str, str] | None = None,
    ) -> None:
        self._bidder, self._known, self._with_budget = bidder, known, with_budget
        self._catalog = dict(catalog or {})
        self._auctioneers = tuple(auctioneers)
        self._game: Game = find("game", bidder.game)
        self.reset()

    def reset(self) -> None:
        """Forget all messages."""
        self._sale = SaleHeard(self._known, self._with_budget, lots=self._game.name == ENGLISH)
        if self._catalog:
            self._sale.add(CatalogShown(self._known.seat.bidder, self._catalog))
        self._brought = len(self._sale.seen)
        self._speakers: list[str] = []
        self._ask_nothing()

    def _ask_nothing(self) -> None:
        self.ask: Ask | Pause | None = None
        """The ask in the auctioneer's last words, if any."""
        self.instead = ""
        """Words in place of an answer when information is missing; empty if the bidder can answer."""
        self.price: Decimal | None = None
        """The one price to accept or decline; None if the bidder may bid any amount that the ask allows."""

    @property
    def seen(self) -> tuple[Event, ...]:
        """All events that the bidder has seen, its own conclusions included; the list only grows."""
        return tuple(self._sale.seen)

    @property
    def unasked(self) -> str:
        """The words that the bidder says if it is not asked."""
        strangers = [name for name in self._speakers if name not in self._auctioneers]
        leaders = {*self._auctioneers} - {GIVER} or {GIVER}
        if leaders & {*self._speakers} or not strangers or len(self._sale.seen) > self._brought:
            return f"{UNASKED}."
        believed, others = (" and ".join(map(repr, names)) for names in (self._auctioneers, strangers))
        remedy = f"If the auctioneer has another name, pass it, such as auctioneers={strangers[:1]}."
        return f"{UNASKED}: I listen to {believed} alone, and not to {others}. {remedy}"

    async def hear(
        self, speaker: str, text: str, metadata: Mapping[str, Any] | None = None, handed: bool = False
    ) -> None:
        """Read a message; if it has a question to this bidder, set `ask` to the question.

        Args:
            speaker: the name of the speaker, as the app reports it.
            text: the words of the message.
            metadata: the metadata of the message; if they have "events" or "ask" as JSON, these are read instead of the
                words.
            handed: whether the message hands the turn to this bidder, which is then asked whatever the words say.
        """
        self._speakers = list(dict.fromkeys([*self._speakers, speaker]))
        if speaker not in self._auctioneers:
            return
        if handed and (self.ask or self.instead):
            return  # it was asked already; the words only pass on the turn
        events, asked = events_in(metadata or {}, self._known.seat.bidder, self._game.events), ask_in(metadata or {})
        if self.ask is None or asked is None or asked.bidder == self._known.seat.bidder:
            self._ask_nothing()
        for event in filter(self._is_believable, events or ()):
            with suppress(LookupError, ValueError):  # an event that does not fit those before it
                self._sale.add(event)
        if asked is not None:
            self._take(asked)
        elif events is None and text.strip():
            await self._read(text, handed)

    def _is_believable(self, event: Event) -> bool:
        """Say whether an event belongs to the sale, and not to the owner's settings or the bidder's conclusions."""
        if isinstance(event, Signal) and event.values.keys() <= self._known.values.keys():
            return False
        return not isinstance(event, PrivateEvent) or isinstance(event, (*OF_THE_SALE, *self._game.events))

    def told(self, events: Iterable[Event], ask: Ask | Pause) -> None:
        """Add events of a sale and an ask that were read elsewhere."""
        self._ask_nothing()
        self._sale.add(*events)
        self._take(ask)

    def answered(self) -> None:
        """Note that the ask was answered, so that the bidder does not answer twice."""
        self._ask_nothing()

    def conclude(self, event: Event) -> None:
        """Add a conclusion of the bidder to the events that it has seen, unless the event is for the analyst alone."""
        if not isinstance(event, AnalystEvent):
            self._sale.add(event)

    def dump(self) -> dict[str, Any]:
        """Return all that was heard, as JSON."""
        return {
            "seen": [event_json(event) for event in self._sale.seen],
            "paused": self._sale.paused,
            "ask": None if self.ask is None else ASK.dump_python(self.ask, mode="json"),
            "instead": self.instead,
            "price": None if self.price is None else str(self.price),
            "speakers": list(self._speakers),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `dump` returned; the owner's present settings stay in force.

        Raises:
            ValueError: the state does not have the form that `dump` returns.
        """
        try:
            seen = [event_of(line, self._game.events) for line in state["seen"]]
            ask = None if state["ask"] is None else ASK.validate_python(state["ask"])
            speakers = [str(name) for name in state["speakers"]]
            paused = int(state["paused"])
            instead, price = str(state["instead"]), None if state["price"] is None else Decimal(state["price"])
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise ValueError("this is no state of a bidder; give what it saved") from error
        self.reset()
        self._sale.replay(seen[self._brought :], paused)
        self.ask, self.instead, self.price, self._speakers = ask, instead, price, speakers

    def _take(self, ask: Ask | Pause) -> None:
        """Take an ask of Harbor's if it is for this bidder and nothing is missing."""
        if ask.bidder != self._known.seat.bidder:
            return
        if isinstance(ask, Pause):
            self.ask = ask if ask.closed or ask.over else replace(ask, closed=self._sale.closed_since_pause())
        elif self._game.name == ENGLISH:
            self.instead = self._sale.bring_up(ask.item, ask.minimum) or self._ask_within_means(ask)
        else:
            self.instead = self._value_in(ask)
            self.ask = None if self.instead else ask

    def _ask_within_means(self, ask: Ask) -> str:
        """Take an ask within the owner's budget, even if the auctioneer says that the bidder has more."""
        space, budget = ask.space, self._sale.view.budget
        if self._with_budget and isinstance(space, Amount) and space.maximum > budget:
            if space.minimum > budget:
                return f"I withdraw from {ask.item}: {dollars(space.minimum)} is more than I have."
            ask = ask._replace(space=replace(space, maximum=budget))
        self.ask = ask
        return ""

    def _value_in(self, ask: Ask) -> str:
        """Take the owner's private value if the sale told none; say which information is missing."""
        opened: Any = next((event for event in self._sale.seen if isinstance(event, self._game.opening)), None)
        if opened is None:
            return f"I have not heard the opening of the game {self._game.name!r}, so I do not know its rules."
        told = [item for event in self._sale.seen if isinstance(event, Signal) for item in event.values]
        if not getattr(opened, "assets", None) or ask.item in told:
            return ""
        value = self._known.values.get(ask.item)
        if value is None:
            return f"I was told no value of the item of {ask.item}, so I can't bid."
        self._sale.add(Signal(ask.bidder, {ask.item: value}))
        return ""

    async def _read(self, text: str, handed: bool) -> None:
        """Read English with the bidder's model, and believe the possible parts."""
        if self._game.name != ENGLISH:
            self.instead = f"In the game {self._game.name!r} I understand events and asks as JSON alone."
            return
        if len(text) > LONGEST_HEARD:
            self.instead = f"I read no message of more than {LONGEST_HEARD:,} characters, and this has {len(text):,}."
            return
        if self._bidder.model.settings.use == BUILT_IN:
            self._read_call(text)
            return
        items, now = list(self._sale.view.estimates), self._sale.now
        try:
            model = replace(self._bidder.model, sink=self._bidder.begin())
            reading = await read_english(model, self._known.seat.bidder, items, now, text)
        except UnreadableReply:
            self.instead = "I did not understand that. What is for sale, at which price, and do you ask me?"
            return
        heard = believed(reading.model_copy(update={"asked": True}) if handed else reading, items, now)
        for one in heard.news:
            self._sale.tell(one)
        if heard.asked:
            self.instead = heard.lacks or self._ask_for(heard)
        elif heard.item:
            self._sale.bring_up(heard.item, UNTOLD)  # others are asked now; the next words may not name it

    def _read_call(self, text: str) -> None:
        """Read a call for a bid without a language model; for other English, say that a language model is needed."""
        if (ask := called(text, self._sale.round)) is None:
            self.instead = NO_READER
        else:
            self._take(ask)

    def _ask_for(self, heard: Heard) -> str:
        """Set the ask from a reading; say why there is none.

        If there is one price, the ask is for that or more, so that the bidder decides with its whole budget in view.
        """
        item, budget = heard.item or "", self._sale.view.budget
        told = heard.exact or heard.least or self._sale.least(item)
        if lacks := self._sale.bring_up(item, told or UNTOLD):
            return lacks
        if told is None and not heard.any_amount:
            return f"At which price? I heard none for {item}."
        least = told or DOLLAR
        if least > budget:
            return f"I withdraw from {item}: {dollars(least)} is more than I have."
        self.ask = Ask(self._known.seat.bidder, item, self._sale.round, Amount(least, budget))
        self.price = heard.exact
        return ""
