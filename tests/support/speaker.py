"""The steady policy as an AutoGen agent, which hears words with the ask beside them, and says its decision."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage

from support.steady import decide


class Speaker(BaseChatAgent):
    """Plays one bidder. A new agent is made for each bidder."""

    def __init__(self, bidder: str, policy: Callable[[dict[str, Any]], dict[str, Any]] = decide) -> None:
        super().__init__(bidder, "An agent.")
        self._policy = policy

    @property
    def produced_message_types(self) -> Any:
        return (TextMessage,)

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Response:
        words = " ".join(message.content for message in messages)
        taken = self._policy({**json.loads(messages[-1].metadata["ask"]), "words": words})
        said = f"I bid ${taken['amount']:,}." if taken["action"] == "bid" else "I withdraw."
        return Response(chat_message=TextMessage(content=said, source=self.name))

    async def on_reset(self, cancellation_token: Any) -> None:
        pass
