"""The room: a group chat whose manager is the auctioneer.

Answers go only to the auctioneer, and only the auctioneer speaks. The manager and the container are private modules
of AutoGen 0.7.5; tests/room/test_room.py checks each of their names that this module relies on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from autogen_agentchat.base import ChatAgent, Team, TerminationCondition
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage, MessageFactory, StopMessage, TextMessage
from autogen_agentchat.teams import BaseGroupChat
from autogen_agentchat.teams._group_chat._base_group_chat_manager import BaseGroupChatManager
from autogen_agentchat.teams._group_chat._chat_agent_container import ChatAgentContainer
from autogen_core import CancellationToken

from harbor._core.asking.asks import Ask, Pause
from harbor._core.log.events import AnalystEvent, Event
from harbor._core.log.log_entries import event_json, is_seen_by
from harbor._core.log.message_metadata import carried
from harbor._house.auctioneer import AuctionLoop, Sale, auction_loop, told_to
from harbor._room.seats import AUCTIONEER, Seat, ask_message

logging.getLogger("autogen_core").setLevel(logging.CRITICAL)  # the logger prints whole messages and stack traces

NOBODY = ""
"""A name that no seat has; used to select the events that are public."""


News = Sequence[tuple[Event, str]]
"""The events since the last announcement, with their JSON."""


def _seen(news: News, bidder: str) -> tuple[str, list[str]]:
    """Return the words and the JSON of the events that a bidder may see; for `NOBODY`, those of the public events."""
    seen = [(event, line) for event, line in news if is_seen_by(bidder, event)]
    words = " ".join(sentence for event, _ in seen for sentence in told_to(bidder, event))
    return words, [line for _, line in seen]


class Auctioneer(BaseGroupChatManager):
    """The manager of the chat: passes the asks of the auction loop to the seats, and their answers to the loop."""

    def __init__(self, *chat: Any, sale: Sale[Any], seats: Sequence[Seat], loop: AuctionLoop, **named: Any) -> None:
        super().__init__(*chat, **named)
        self._sale = sale
        self._seats = {seat.bidder: seat for seat in seats}
        self._loop = loop
        self._asked: tuple[str, ...] = ()
        self._answers: dict[str, str] = {}
        self._news: list[News] = []
        self._read = 0
        self._told = dict.fromkeys(self._seats, 0)
        self._turn: list[BaseAgentEvent | BaseChatMessage] = []
        self.failure: Exception | None = None

    async def validate_group_state(self, messages: list[BaseChatMessage] | None) -> None:
        """Accept any opening messages."""

    async def reset(self) -> None:
        """Refuse, as a sale can be run only once.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("a sale can be run only once; make a new room for a new sale")

    async def select_speaker(self, thread: Sequence[BaseAgentEvent | BaseChatMessage]) -> list[str]:
        """Send the answers to the auction loop, announce the news, and return the next seats, all asked at once."""
        try:
            said = {bidder: self._seats[bidder].take(self._answers[self._seats[bidder].name]) for bidder in self._asked}
            self._answers.clear()
            turn = self._loop.send(said) if self._asked else next(self._loop)
        except StopIteration:
            await self._announce()
            await self._signal_termination(StopMessage(content="The sale is closed.", source=self._name))
            return []
        except Exception as failure:  # AutoGen would turn it into a RuntimeError and lose its type
            self.failure = failure
            await self._signal_termination(StopMessage(content="The sale broke off.", source=self._name))
            return []
        await self._announce()
        self._asked = tuple(ask.bidder for ask in turn)
        for ask in turn:
            self._call_on(ask)
        return [self._seats[bidder].name for bidder in self._asked]

    async def update_message_thread(self, messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> None:
        """Hear the answers."""
        await super().update_message_thread(messages)
        self._turn.extend(messages)
        self._answers.update({words.source: words.content for words in messages if isinstance(words, TextMessage)})

    async def _apply_termination_condition(
        self, delta: Sequence[BaseAgentEvent | BaseChatMessage], increment_turn_count: bool = False
    ) -> bool:
        """Show the termination condition the whole turn; AutoGen would show it only the last of several speakers."""
        turn, self._turn = self._turn, []
        return await super()._apply_termination_condition(turn, increment_turn_count)

    async def _announce(self) -> None:
        """Announce the events since the last time, to the team's stream and to the seats that are asked next."""
        entries = self._sale.log.entries
        events = [entry.event for entry in entries[self._read :] if not isinstance(entry.event, AnalystEvent)]
        self._read = len(entries)
        news = [(event, event_json(event)) for event in events]
        self._news.append(news)
        words, lines = _seen(news, NOBODY)
        if words:
            message = _told(words, lines)
            await self._output_message_queue.put(message)
            await self.update_message_thread([message])

    def _call_on(self, ask: Ask | Pause) -> None:
        """Tell one seat all news since it was last asked, and then the ask.

        This goes straight to the seat. A broadcast through AutoGen would cost one delivery per seat in every turn, and
        the buffers of withdrawn bidders would grow. Events without words go with the next message that has some.
        """
        told: list[TextMessage] = []
        events: list[str] = []
        for news in self._news[self._told[ask.bidder] :]:
            words, lines = _seen(news, ask.bidder)
            events += lines
            if words:
                told.append(_told(words, events))
                events = []
        self._told[ask.bidder] = len(self._news)
        self._seats[ask.bidder].hear([*told, ask_message(ask, events)])


def _told(words: str, events: Sequence[str]) -> TextMessage:
    return TextMessage(content=words, source=AUCTIONEER, metadata=carried(events))


class AuctionRoom(BaseGroupChat):
    """An AutoGen team of bidders with an auctioneer as its manager; `run_stream()` runs the sale, which happens once.

    Args:
        sale: the sale, which must not have opened yet.
        seats: the seats of the bidders, in the order in which the auction lists the bidders.
        thinkers: names of the bidders that are given time to think when the auctioneer pauses.
        reasks: number of times that a bidder is asked again after a failed bid.
        termination_condition: AutoGen's condition that stops the sale early (None: the sale runs to its end).
        learners: names of the bidders that are given time to think when the auction is over.
    """

    component_config_schema = None  # a room is not declared in a file; its run is recorded in the log

    def __init__(
        self,
        sale: Sale[Any],
        seats: Sequence[Seat],
        thinkers: Sequence[str],
        reasks: int,
        termination_condition: TerminationCondition | None = None,
        learners: Sequence[str] = (),
    ) -> None:
        super().__init__(
            "AuctionRoom",
            "An auction.",
            list(seats),
            group_chat_manager_name=AUCTIONEER,
            group_chat_manager_class=Auctioneer,
            termination_condition=termination_condition,
        )
        loop = auction_loop(sale, tuple(thinkers), reasks, tuple(learners))
        self._manager = partial(Auctioneer, sale=sale, seats=seats, loop=loop)
        self._auctioneer: Auctioneer | None = None

    async def run_to_end(self) -> None:
        """Run the sale to its end.

        Raises:
            Exception: the error that broke off the sale.
        """
        token = CancellationToken()
        running = asyncio.ensure_future(self._drain(token))
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            token.cancel()
            await asyncio.wait({running})  # until AutoGen's runtime stops: its tasks would outlive the run
            raise
        if self._auctioneer is not None and self._auctioneer.failure is not None:
            raise self._auctioneer.failure

    async def _drain(self, token: CancellationToken) -> None:
        async for _ in self.run_stream(cancellation_token=token):
            pass

    def _create_group_chat_manager_factory(self, *chat: Any, **named: Any) -> Callable[[], Auctioneer]:
        def make() -> Auctioneer:
            self._auctioneer = self._manager(*chat, **named)
            return self._auctioneer

        return make

    def _create_participant_factory(
        self, parent_topic_type: str, output_topic_type: str, agent: ChatAgent | Team, message_factory: MessageFactory
    ) -> Callable[[], ChatAgentContainer]:
        to_the_auctioneer = self._group_chat_manager_topic_type
        return lambda: _SealedContainer(to_the_auctioneer, output_topic_type, agent, message_factory)


class _SealedContainer(ChatAgentContainer):
    """Delivers an answer only to the auctioneer's topic: neither to the room nor to the stream of the team."""

    async def _log_message(self, message: BaseAgentEvent | BaseChatMessage) -> None:
        """Publish nothing."""
