"""What a bidder hears in somebody else's app: what the auctioneer tells as events, and the ask to be answered."""

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
"""What AutoGen calls whoever gives a team its task."""
AUCTIONEERS = ("auctioneer", GIVER)
"""Who is believed, unless others are named."""
OF_THE_SALE = (BidderSeated, Signal, ActedSealed)
"""Private events of the house and of any game's rules; other private ones are what a bidder concludes."""
ENGLISH = "english"
UNASKED = "I am not asked for a bid now"
LONGEST_HEARD = 20_000
"""How many characters of English a message may have."""
NO_READER = (
    "The built-in model reads JSON and Harbor's call for a bid alone; other English needs a language model, such as"
    ' model="openai:gpt-5".'
)


class Listener:
    """Hears for one bidder, and keeps what it heard.

    Who is believed: those in `auctioneers`, by the name of the speaker. What anybody else says is not read at all, so
    no rival can speak for the auctioneer, whatever its words claim to be; it is the app that says who spoke. The
    auctioneer is believed about the sale: what is for sale, at which price, and who bid, won or left. It is not
    believed about the bidder: budget, values, personas and objective that its owner gave, and what it concluded, are
    changed by nothing that is said.

    Args:
        bidder: whose model reads the English of a message that carries neither events nor an ask, in one call.
        known: what its owner gave it.
        auctioneers: the names of the speakers that are believed.
        with_budget: whether its owner gave it a budget; if not, one that Harbor's auctioneer tells is taken.
        catalog: the texts of personas that rivals may have, by id, for a bidder with a theory of mind.
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
        """Forget all that was heard."""
        self._sale = SaleHeard(self._known, self._with_budget, lots=self._game.name == ENGLISH)
        if self._catalog:
            self._sale.add(CatalogShown(self._known.seat.bidder, self._catalog))
        self._brought = len(self._sale.seen)
        self._speakers: list[str] = []
        self._ask_nothing()

    def _ask_nothing(self) -> None:
        self.ask: Ask | Pause | None = None
        """What the auctioneer's last words ask of the bidder, if they do."""
        self.instead = ""
        """What the bidder says instead of an answer though it is asked: what it lacks; empty if it can answer."""
        self.price: Decimal | None = None
        """The one price to take or to leave; None if the bidder may bid any amount that the ask allows."""

    @property
    def seen(self) -> tuple[Event, ...]:
        """All that the bidder has seen, its own conclusions included; it only grows."""
        return tuple(self._sale.seen)

    @property
    def unasked(self) -> str:
        """What the bidder says when it is not asked."""
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
        """Hear a message; `ask` is then what it asks of this bidder.

        Args:
            speaker: the name of whoever spoke, as the app says it.
            text: what was said.
            metadata: of the message; "events" and "ask" in it are Harbor's, as JSON, and stand for the words.
            handed: whether the message hands the turn to this bidder, so that it is asked whatever the words say.
        """
        self._speakers = list(dict.fromkeys([*self._speakers, speaker]))
        if speaker not in self._auctioneers:
            return
        if handed and (self.ask or self.instead):
            return  # it was asked already, and the words only pass the turn on
        events, asked = events_in(metadata or {}, self._known.seat.bidder, self._game.events), ask_in(metadata or {})
        if self.ask is None or asked is None or asked.bidder == self._known.seat.bidder:
            self._ask_nothing()
        for event in filter(self._is_believable, events or ()):
            with suppress(LookupError, ValueError):  # it can't follow from what was heard
                self._sale.add(event)
        if asked is not None:
            self._take(asked)
        elif events is None and text.strip():
            await self._read(text, handed)

    def _is_believable(self, event: Event) -> bool:
        """Say whether an event is of the sale, and not of what the owner gave or the bidder concluded."""
        if isinstance(event, Signal) and event.values.keys() <= self._known.values.keys():
            return False
        return not isinstance(event, PrivateEvent) or isinstance(event, (*OF_THE_SALE, *self._game.events))

    def told(self, events: Iterable[Event], ask: Ask | Pause) -> None:
        """Take events of a sale, and an ask, that somebody else has read."""
        self._ask_nothing()
        self._sale.add(*events)
        self._take(ask)

    def answered(self) -> None:
        """Note that the ask was answered, so that it is not answered twice."""
        self._ask_nothing()

    def conclude(self, event: Event) -> None:
        """Note what the bidder concluded: it has seen that too; what no bidder may see is not noted."""
        if not isinstance(event, AnalystEvent):
            self._sale.add(event)

    def dump(self) -> dict[str, Any]:
        """Give all that it heard as JSON."""
        return {
            "seen": [event_json(event) for event in self._sale.seen],
            "paused": self._sale.paused,
            "ask": None if self.ask is None else ASK.dump_python(self.ask, mode="json"),
            "instead": self.instead,
            "price": None if self.price is None else str(self.price),
            "speakers": list(self._speakers),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take back what `dump` gave; what the bidder's owner gives it now stands.

        Raises:
            ValueError: it is nothing that `dump` gave.
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
        """Take an ask of Harbor's, if it is this bidder's and it has what it needs."""
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
        """Take an ask with what the owner gave the bidder to spend, whatever the auctioneer says that it has."""
        space, budget = ask.space, self._sale.view.budget
        if self._with_budget and isinstance(space, Amount) and space.maximum > budget:
            if space.minimum > budget:
                return f"I withdraw from {ask.item}: {dollars(space.minimum)} is more than I have."
            ask = ask._replace(space=replace(space, maximum=budget))
        self.ask = ask
        return ""

    def _value_in(self, ask: Ask) -> str:
        """Take the private value that the owner gave, if none was told; say what is missing."""
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
        """Read English with the bidder's model, and believe what can be true."""
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
            self._sale.bring_up(heard.item, UNTOLD)  # others are asked now, and the next words may not name it again

    def _read_call(self, text: str) -> None:
        """Read a call for a bid without a language model; of any other English, say that it needs one."""
        if (ask := called(text, self._sale.round)) is None:
            self.instead = NO_READER
        else:
            self._take(ask)

    def _ask_for(self, heard: Heard) -> str:
        """Put what was read into an ask; say why there is none.

        Where there is one price, the ask is for that or more: a bidder decides with all its money in sight.
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
