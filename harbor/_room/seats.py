"""The agents in the room: Harbor's bidders as AutoGen agents, and a seat for any agent.

Everything in AutoGen is words, parsed strictly, so that any agent can sit beside a Harbor bidder.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken
from pydantic import TypeAdapter

from harbor._core.asks import Ask, Pause
from harbor._core.errors import told
from harbor._core.events import Answered, Event, ModelCalled, SeatFailed
from harbor._core.notes import EventBuffer
from harbor._core.parsing import LONGEST, scrub
from harbor._core.players import AGENT, Player, SeatReply
from harbor._house.auctioneer import call
from harbor._house.hearing import FATAL, failed, in_words

AUCTIONEER = "auctioneer"
UNASKED = "I speak when the auctioneer asks me for a bid."
GRACE_SECONDS = 0.1
"""How long an agent that ran out of time has to record the calls it has made."""
_ASK: TypeAdapter[Ask | Pause] = TypeAdapter(Ask | Pause)


def ask_message(ask: Ask | Pause) -> TextMessage:
    """Put an ask in words, for any agent, with the ask itself in the metadata, for a `BidderAgent`."""
    return TextMessage(content=call(ask), source=AUCTIONEER, metadata={"ask": _ASK.dump_json(ask).decode()})


class BidderAgent(BaseChatAgent):
    """A Harbor bidder as an AutoGen chat agent: it answers `ask_message`s, in any team, in words.

    Args:
        name: its name among agents, a Python identifier.
        player: decides the answers.
        seen: gives the events that this bidder may see.
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
        """Answer the last ask among the messages; what else happened it knows from `seen`."""
        asks = [message.metadata["ask"] for message in messages if "ask" in message.metadata]
        words = await self._answer(asks[-1]) if asks else UNASKED
        return Response(chat_message=TextMessage(content=words, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Do nothing: what it knows is in the log."""

    async def _answer(self, asked: str) -> str:
        ask = _ASK.validate_json(asked)
        return in_words(await self._player.act(ask, self._seen()), ask)


class Seat(BaseChatAgent):
    """A place in the room for any chat agent: never raises, never hangs, and keeps what its bidder concluded.

    Args:
        name: its name in the room, a Python identifier.
        bidder: the bidder's name in the auction.
        agent: the agent in this seat.
        timeout_seconds: how long it may take to answer; after that the seat has failed.
        notes: the bidder's conclusions, in order, until the auctioneer takes them.
        quoted: whether the agent's words are logged, because nothing else could repeat them on resuming.
        recorded: gives the reply of this turn in an interrupted run. The agent hears the auctioneer's words when it
            is next asked.
        waited: gives the seconds that the agent has waited for the provider of its model, which are not its own.
        clock: gives seconds since the log was opened, for the calls of a quoted agent's own models.
    """

    def __init__(
        self,
        name: str,
        bidder: str,
        agent: ChatAgent,
        timeout_seconds: float,
        notes: EventBuffer,
        quoted: bool = False,
        recorded: Callable[[], SeatReply | None] = lambda: None,
        waited: Callable[[], float] = lambda: 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(name, f"The seat of {bidder}.")
        self.bidder = bidder
        self._agent = agent
        self._timeout = timeout_seconds
        self._notes = notes
        self._quoted = quoted
        self._recorded = recorded
        self._waited = waited
        self._clock = clock
        self._heard: list[BaseChatMessage] = []
        self._failure: SeatFailed | None = None
        self._broken: BaseException | None = None

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Plain words."""
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Pass the auctioneer's words to the agent and its answer back, or note the failure."""
        if (said := self._recorded()) is not None:
            return self._repeat(said)
        heard, self._heard = [*messages, *self._heard], []
        began = self._clock()
        thinking = asyncio.ensure_future(_answer(self._agent, heard, cancellation_token))
        cancellation_token.link_future(thinking)
        try:
            done = await self._in_time(thinking)
        except asyncio.CancelledError:
            thinking.cancel()
            raise
        if not done:
            thinking.cancel()
            thinking.add_done_callback(_retrieve)
            await asyncio.wait({thinking}, timeout=GRACE_SECONDS)
            return self._fail(SeatFailed(self.bidder, "timeout", f"no answer within {self._timeout:g} s"))
        if thinking.cancelled():
            return self._fail(SeatFailed(self.bidder, "error", "cancelled itself"))
        if error := thinking.exception():
            self._broken = error if isinstance(error, FATAL) else None
            return self._fail(failed(self.bidder, error))
        try:
            response = thinking.result()
            words, calls = response.chat_message.to_text(), self._calls(response, began)
        except Exception as error:  # an agent of any make sits here; whatever it gives back, the room goes on
            return self._fail(failed(self.bidder, error))
        return self._quote(words, calls) if self._quoted else self._say(words)

    async def _in_time(self, thinking: asyncio.Future[Any]) -> bool:
        """Wait for an answer; false: its time is over."""
        clock = asyncio.get_running_loop().time
        until = clock() - self._waited() + self._timeout
        while not thinking.done():
            left = until + self._waited() - clock()
            if left <= 0:
                return False
            # Not `wait_for`: that would go on waiting for an agent that swallows its cancellation.
            await asyncio.wait({thinking}, timeout=left)
        return True

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Reset the agent."""
        await self._agent.on_reset(cancellation_token)

    def hear(self, words: Sequence[BaseChatMessage]) -> None:
        """Keep the auctioneer's words until the agent is next asked."""
        self._heard.extend(words)

    def take(self, words: str) -> SeatReply:
        """Give the reply of this turn: the words, the conclusions since the last turn, and the failure if any.

        Raises:
            ModelError: the provider of its model refuses its calls.
            RunPaused: the provider of its model can't be reached, or a limit of cost is reached.
            RunFolderError: a paid call could not be recorded; going on would lose more of them.
            MemoryStoreError: the bidder lost a memory that it must not go on without.
        """
        if self._broken is not None:
            raise self._broken
        failure, self._failure = self._failure, None
        return SeatReply(words, self._notes.take(), failure)

    def _fail(self, failure: SeatFailed) -> Response:
        self._failure = failure
        return self._say("")

    def _calls(self, response: Response, began: float) -> list[ModelCalled]:
        """Give the model calls that an agent of any make tells of with its answer, one for each message with usage.

        It does not tell when each began, so all begin with the turn and the last one has its length: they count as
        made one after another.
        """
        told = [one.models_usage for one in (*(response.inner_messages or ()), response.chat_message)]
        tokens = [(used.prompt_tokens, used.completion_tokens) for used in told if used is not None]
        lengths = [0.0] * (len(tokens) - 1) + [self._clock() - began]
        return [
            ModelCalled(
                bidder=self.bidder,
                purpose=AGENT,
                model=AGENT,
                prompt="",
                attempt=1,
                outcome="ok",
                input_tokens=read,
                output_tokens=written,
                cost_dollars=None,
                cached=False,
                began=round(began, 6),
                seconds=round(length, 6),
                form="text",
            )
            for (read, written), length in zip(tokens, lengths, strict=False)
        ]

    def _quote(self, words: str, calls: Sequence[Event]) -> Response:
        kept = scrub(words)[: LONGEST + 1]  # longer ones are refused, whatever they go on with
        note = self._notes.begin()
        for event in (Answered(self.bidder, kept), *calls):  # a log that is cut in between is resumed by the words
            note(event)
        return self._say(kept)

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


async def _answer(agent: ChatAgent, heard: Sequence[BaseChatMessage], token: CancellationToken) -> Response:
    """Ask inside a coroutine, as an agent may fail before it returns anything to await.

    Raises:
        RuntimeError: the agent wants to end the program, which would end the event loop for everybody.
    """
    try:
        return await agent.on_messages(heard, token)
    except SystemExit as error:
        raise RuntimeError(told(error)) from error


def _retrieve(late: asyncio.Future[Any]) -> None:
    """Retrieve a late failure, so that asyncio does not report that nobody did."""
    if not late.cancelled():
        late.exception()
