"""AutoGen both ways: an agent of yours in an auction, and a Harbor bidder in a team of yours."""

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
from harbor.events import BidderSeated
from harbor.games import Amount, Ask, Truthful


class Talker(BaseChatAgent):
    """Knows nothing of Harbor: reads the auctioneer's English and answers in English."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        asked = re.search(r"at least \$([\d,]+), and you have", messages[-1].to_text())
        least = int(asked[1].replace(",", "")) if asked else 0
        words = f"I bid ${least:,}!" if 0 < least < 250_000 else "I'm out."
        return Response(chat_message=TextMessage(content=words, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        pass


def an_agent_in_an_auction() -> None:
    """Seat an agent of yours beside a Harbor bidder."""
    auction = Auction(
        items=houses(4, seed=1), bidders=[Bidder("Ann", persona="urban-dwellers"), Bidder("Tal", agent=True)]
    )
    for row in auction.run(agents={"Tal": Talker("talker", "Talks.")}).standings:
        print(row.bidder, row.items_won, row.profit)


async def a_bidder_in_a_team() -> None:
    """Seat a Harbor bidder in a stock team; whoever leads the team asks with `ask_message`."""
    knows = [BidderSeated("Ann", Decimal(500_000), {"Wren House": Decimal(440_000)}, {}, "profit")]
    team = RoundRobinGroupChat([BidderAgent("ann", Truthful(), lambda: knows)], max_turns=1)
    ask = Ask("Ann", "Wren House", round=1, space=Amount(Decimal(160_000), Decimal(500_000)))
    print((await team.run(task=ask_message(ask))).messages[-1].to_text())


if __name__ == "__main__":
    an_agent_in_an_auction()
    asyncio.run(a_bidder_in_a_team())
