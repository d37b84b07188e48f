"""The seats of the room hold Harbor's bidders as AutoGen agents, other agents, and agents whose answers are overheard.

Seats exchange only words, parsed strictly, so that any agent can sit beside a Harbor bidder.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Protocol

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken

from harbor._core.asking.asks import Ask, Pause
from harbor._core.basics.errors import RunFolderError
from harbor._core.log.events import Answered, Event, ModelCalled, SeatFailed
from harbor._core.log.message_metadata import ask_in, carried
from harbor._core.log.players import EventBuffer, Player, SeatReply
from harbor._doors.door import DoorBidder, Usage
from harbor._house.auctioneer import call
from harbor._house.watchdog import FATAL, GRACE_SECONDS, Overdue, failed, held_up, in_words, timed, without_keys
from harbor._models.budget import AgentCosts
from harbor._room.border import Said, TurnTime, answer_of, called, copied, linked, meant, run_quietly

AUCTIONEER = "auctioneer"
"""Name of the auctioneer among agents."""
UNASKED = "I speak when the auctioneer asks me for a bid."
"""Answer of a bidder to messages without an ask."""


def ask_message(ask: Ask | Pause, events: Sequence[str] = ()) -> TextMessage:
    """Return the auctioneer's message that asks a bidder for an answer, or tells a bidder to think at a pause.

    The text asks in words that any agent can read. The message's metadata hold the ask as JSON, and each of the given
    `events`, which are JSON texts.

    >>> from harbor._core.asking.asks import Amount
    >>> ask_message(Ask("Ann", "Loft", 1, Amount(Decimal(100), Decimal(500)))).source
    'auctioneer'
    """
    return TextMessage(content=call(ask), source=AUCTIONEER, metadata=carried(events, ask))


class PlayerAgent(BaseChatAgent):
    """A player of an auction as an AutoGen chat agent: it answers messages from `ask_message` in words.

    Args:
        name: name among agents, a Python identifier.
        player: decides the answers.
        seen: returns the events that this bidder may see.
    """

    def __init__(self, name: str, player: Player, seen: Callable[[], Sequence[Event]]) -> None:
        super().__init__(name, "A bidder in an auction.")
        self._player = player
        self._seen = seen

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Plain words."""
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Answer the last ask among the messages; other news comes from `seen`."""
        ask = _ask_in(messages)
        words = UNASKED if ask is None else in_words(await self._player.act(ask, self._seen()), ask)
        return Response(chat_message=TextMessage(content=words, source=self.name))

    def take_usage(self) -> tuple[Usage, ...]:
        """Return the model calls that a player behind a door has reported since the last time."""
        return self._player.take_usage() if isinstance(self._player, DoorBidder) else ()

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Do nothing: the player reads all it knows from the log."""


class Seat(BaseChatAgent):
    """A place in the room for any chat agent: never raises, never hangs, and keeps the bidder's conclusions.

    Args:
        name: name in the room, a Python identifier.
        bidder: the bidder's name in the auction.
        agent: the agent in this seat.
        timeout_seconds: time for an answer; after it the seat has failed.
        notes: the bidder's conclusions, in order, until the auctioneer takes them.
        quoted: whether the agent's words are logged, because nothing else could repeat them on resuming.
        own: whether the agent is a player of Harbor's, whose `FATAL` errors break the auction off. Other agents' code
            is interrupted if it does not return the thread in time.
        recorded: returns the reply of this turn in an interrupted run. The agent hears the auctioneer's words when it
            is next asked.
        decided: returns whether an interrupted run has decided this turn in time; then it is not timed again.
        waited: returns the seconds that the agent has waited for the provider of its model; they don't count.
        clock: returns seconds since the log was opened, for the calls of a quoted agent's own models.
        costs: the account that pays for those calls.
        late: hint for an agent that gives no answer in time.
    """

    def __init__(
        self,
        name: str,
        bidder: str,
        agent: ChatAgent,
        timeout_seconds: float,
        notes: EventBuffer,
        quoted: bool = False,
        own: bool = False,
        recorded: Callable[[], SeatReply | None] = lambda: None,
        decided: Callable[[], bool] = lambda: False,
        waited: Callable[[], float] = lambda: 0.0,
        clock: Callable[[], float] = time.monotonic,
        costs: AgentCosts | None = None,
        late: str = "",
    ) -> None:
        super().__init__(name, f"The seat of {bidder}.")
        self.bidder = bidder
        self._agent = agent
        self._timeout = timeout_seconds
        self._notes = notes
        self._quoted = quoted
        self._own = own
        self._recorded = recorded
        self._decided = decided
        self._waited = waited
        self._late = late
        self._clock = clock
        self._costs = costs or AgentCosts({})
        self._heard: list[BaseChatMessage] = []
        self._told: list[ModelCalled] = []
        self._failure: SeatFailed | None = None
        self._broken: BaseException | None = None

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Plain words."""
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Pass the auctioneer's words to the agent and its answer back, or note the failure."""
        if (recorded := self._recorded()) is not None:
            return self._repeat(recorded)
        heard, self._heard = [*messages, *self._heard], []
        await self._admit(cancellation_token)
        self._told = []
        try:
            with timed():  # no copies for a player of Harbor's: it changes no message
                return await self._turn(heard if self._own else copied(heard), cancellation_token)
        finally:
            self._pay()

    async def _turn(self, heard: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        began, time_left = self._clock(), TurnTime(inf if self._decided() else self._timeout, self._waited)
        ask = _ask_in(heard) if self._quoted else None
        token = linked(cancellation_token)
        thinking = asyncio.ensure_future(self._ask(heard, token, time_left))
        token.link_future(thinking)
        try:
            done = await time_left.suffices(thinking)
        except asyncio.CancelledError:
            thinking.cancel()
            run_quietly(token.cancel)
            raise
        if not done:
            return await self._stop(thinking, token, time_left)
        if thinking.cancelled():
            return self._fail(failed(self.bidder, asyncio.CancelledError()))
        if error := thinking.exception():
            self._broken = error
            return self._fail(failed(self.bidder, error))
        answer = thinking.result()
        if isinstance(answer, SeatFailed):
            return self._fail(answer)
        if not self._quoted:
            return self._say(answer.words)
        agent = self._agent  # a player's door has parsed its answer already
        answer = Said(answer.words, agent.take_usage()) if isinstance(agent, PlayerAgent) else meant(answer, ask)
        self._told = called(self.bidder, answer.calls, began, self._clock() - began, self._costs.price)
        return self._quote(without_keys(answer.words, ask), self._told)

    async def _admit(self, token: CancellationToken) -> None:
        """Wait until there is money for a turn; without money, wait until the run is cancelled."""
        if self._costs.budget is not None:
            admitted = asyncio.ensure_future(self._costs.budget.admit())
            token.link_future(admitted)
            await admitted

    def _pay(self) -> None:
        try:
            self._costs.charge(self._told)
        except RunFolderError as error:
            self._broken = error

    async def _ask(
        self, heard: Sequence[BaseChatMessage], token: CancellationToken, time_left: TurnTime
    ) -> Said | SeatFailed:
        answer = answer_of(self._agent, heard, token, self.bidder, FATAL if self._own else ())
        try:
            return await (answer if self._own else time_left.run(answer))
        except Overdue:
            return held_up(self.bidder, self._timeout)

    async def _stop(self, thinking: asyncio.Future[Any], token: CancellationToken, time_left: TurnTime) -> Response:
        """Stop an agent whose time is over; give up after a moment on one that swallows its cancellation."""
        thinking.add_done_callback(_retrieve)
        thinking.cancel()
        run_quietly(token.cancel)
        await asyncio.wait({thinking}, timeout=GRACE_SECONDS)
        time_left.give_up()
        thinking.cancel()
        return self._fail(SeatFailed(self.bidder, "timeout", f"no answer within {self._timeout:g} s{self._late}"))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Do nothing: a sale is held only once, so no agent needs to forget one."""

    def hear(self, words: Sequence[BaseChatMessage]) -> None:
        """Keep the auctioneer's words until the agent is next asked."""
        self._heard.extend(words)

    def take(self, words: str) -> SeatReply:
        """Return the reply of this turn: the words, the conclusions since the last turn, and the failure if any.

        Raises:
            ModelError: the provider of the seat's model refuses its calls.
            RunPaused: the provider can't be reached, or a limit of cost is reached.
            RunFolderError: a paid call could not be recorded; later ones would be lost too.
            MemoryStoreError: the bidder lost a memory that it must not go on without.
        """
        if self._broken is not None:
            raise self._broken
        failure, self._failure = self._failure, None
        return SeatReply(words, self._notes.take(), failure)

    def _fail(self, failure: SeatFailed) -> Response:
        self._failure = failure
        return self._say("")

    def _quote(self, words: str, calls: Sequence[Event]) -> Response:
        note = self._notes.begin()
        for event in (Answered(self.bidder, words), *calls):  # words first: a log cut in between is resumed from them
            note(event)
        return self._say(words)

    def _repeat(self, said: SeatReply) -> Response:
        """Reply and note the same again."""
        if said.failure is None:
            return self._quote(said.words, said.notes)
        note = self._notes.begin()
        for conclusion in said.notes:
            note(conclusion)
        self._failure = said.failure
        return self._say("")

    def _say(self, words: str) -> Response:
        return Response(chat_message=TextMessage(content=words, source=self.name))


def _ask_in(messages: Sequence[BaseChatMessage]) -> Ask | Pause | None:
    """Find the last ask among messages."""
    asks = [ask for message in messages if (ask := ask_in(message.metadata)) is not None]
    return asks[-1] if asks else None


def _retrieve(late: asyncio.Future[Any]) -> None:
    """Retrieve a late failure, so that asyncio does not report it as never retrieved."""
    if not late.cancelled():
        late.exception()


class Ear(Protocol):
    """Listens to a seat, and may change the agent's words."""

    def hear(self, message: str, is_ask: bool) -> None:
        """Hear a message to the agent, in JSON without its id and time."""
        ...

    def asked(self, ask: Ask) -> None:
        """Hear that the agent begins to think about an ask."""
        ...

    def answer(self, ask: Ask, words: str | None) -> str | None:
        """Hear the answer (None: the agent failed); return the words for the auctioneer (None: raise the error)."""
        ...


class OverheardAgent(BaseChatAgent):
    """Wraps an agent: an ear hears its messages, and may replace its answers to asks."""

    def __init__(self, agent: ChatAgent, ear: Ear) -> None:
        super().__init__(agent.name, agent.description)
        self._agent, self._ear = agent, ear

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Those of the agent."""
        return self._agent.produced_message_types

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Pass the messages to the agent, and its answer to an ask through the ear."""
        ask: Ask | Pause | None = None
        for message in messages:
            asked = ask_in(message.metadata)
            self._ear.hear(message.model_dump_json(exclude={"id", "created_at"}), asked is not None)
            ask = asked or ask
        if not isinstance(ask, Ask):
            return await self._agent.on_messages(messages, cancellation_token)
        self._ear.asked(ask)
        words: str | None = None
        error: Exception = RuntimeError("its seat failed")
        try:
            words = (await self._agent.on_messages(messages, cancellation_token)).chat_message.to_text()
        except Exception as raised:  # an agent of any make may raise anything
            error = raised
        said = self._ear.answer(ask, words)
        if said is None:
            raise error
        return Response(chat_message=TextMessage(content=said, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Reset the agent."""
        await self._agent.on_reset(cancellation_token)
