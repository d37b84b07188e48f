"""AutoGen both ways: your agent in an auction, and a Harbor bidder in your team."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from decimal import Decimal

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken

from harbor import Auction, Bidder, BidderAgent, ask_message, houses
from harbor.games import Amount, Ask


class Talker(BaseChatAgent):
    """Knows nothing about Harbor: it reads the auctioneer's English and answers in English."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        asked = re.search(r"at least \$([\d,]+)", messages[-1].to_text())
        least = int(asked[1].replace(",", "")) if asked else 0
        words = f"I bid ${least:,}!" if 0 < least < 250_000 else "I'm out."
        return Response(chat_message=TextMessage(content=words, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        pass


def an_agent_in_an_auction() -> None:
    """Seat your agent beside a Harbor bidder."""
    auction = Auction(
        items=houses(4, seed=1), bidders=[Bidder("Ann", persona="urban-dwellers"), Bidder("Tal", agent=True)]
    )
    for row in auction.run(agents={"Tal": Talker("talker", "Talks.")}).standings:
        print(row.bidder, row.items_won, row.profit)


async def a_bidder_in_a_team() -> None:
    """Seat Harbor bidders in a stock team. With a language model, they also understand plain English."""
    ann = BidderAgent(Bidder("Ann", budget=500_000), values={"Wren House": 440_000})
    ben = BidderAgent(Bidder("Ben", budget=300_000), values={"Wren House": 150_000})
    team = RoundRobinGroupChat([ann, ben], max_turns=2)
    space = Amount(Decimal(160_000), Decimal(900_000))
    result = await team.run(task=[ask_message(Ask(name, "Wren House", 1, space)) for name in ("Ann", "Ben")])
    for message in result.messages[2:]:
        print(f"{message.source}: {message.to_text()}")


if __name__ == "__main__":
    an_agent_in_an_auction()
    asyncio.run(a_bidder_in_a_team())
