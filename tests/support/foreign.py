"""A stranger's module with agents. Tests import it, or install its text as a package."""

import re

from harbor import Agent


def make(bidder):
    """Make an AutoGen agent that bids the least it may."""
    from autogen_agentchat.agents import BaseChatAgent
    from autogen_agentchat.base import Response
    from autogen_agentchat.messages import TextMessage

    class Clerk(BaseChatAgent):
        @property
        def produced_message_types(self):
            return (TextMessage,)

        async def on_messages(self, messages, cancellation_token):
            least = re.search(r"at least \$([\d,.]*\d)", messages[-1].to_text())
            words = f"I bid ${least[1]}" if least else "I withdraw"
            return Response(chat_message=TextMessage(content=words, source="clerk"))

        async def on_reset(self, cancellation_token):
            pass

    return Clerk("clerk", bidder)


CLERK = Agent(name="clerk", description="bids the least it may", make=make)
GHOST = Agent(name="ghost", description="no agent", make=lambda bidder: bidder)
CLUMSY = Agent(name="clumsy", description="breaks", make=lambda _: 1 / 0)
