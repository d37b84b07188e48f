"""An AutoGen agent that was not written for Harbor."""

from __future__ import annotations

import json

from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage

from support.speaker import Speaker


class Clerk(Speaker):
    """An agent that bids the minimum that it hears of, and keeps all words that it heard."""

    def __init__(self, fails_at: int = -1):
        super().__init__("clerk")
        self.heard: list[str] = []
        self.asked = 0
        self.fails_at = fails_at

    async def on_messages(self, messages, cancellation_token):
        self.asked += 1
        self.heard += [message.to_text() for message in messages]
        if self.asked == self.fails_at:
            raise RuntimeError("a slip")
        least = json.loads(messages[-1].metadata["ask"])["space"]["minimum"]
        words = f"I bid ${least}." if self.asked % 3 else "well, perhaps"
        return Response(chat_message=TextMessage(content=words, source=self.name))
