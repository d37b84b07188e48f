"""An agent whose seat is listened to: each message that it hears, and each answer, which may be another's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken

from harbor._core.asks import Ask, Pause
from harbor._core.carried import ask_in


class Ear(Protocol):
    """What listens to a seat."""

    def hear(self, message: str, is_ask: bool) -> None:
        """Hear a message as the agent does, in JSON without what hangs on the clock."""
        ...

    def asked(self, ask: Ask) -> None:
        """Hear that the agent begins to think about an ask."""
        ...

    def answer(self, ask: Ask, words: str | None) -> str | None:
        """Hear its answer (None: it raised an error), and give what it says to the auctioneer; None: the error."""
        ...


class OverheardAgent(BaseChatAgent):
    """An agent that thinks as ever, and says what the ear says."""

    def __init__(self, agent: ChatAgent, ear: Ear) -> None:
        super().__init__(agent.name, agent.description)
        self._agent, self._ear = agent, ear

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Those of the agent."""
        return self._agent.produced_message_types

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Pass the messages on, and the answer to an ask back by the ear."""
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
