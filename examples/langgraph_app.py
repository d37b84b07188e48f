"""A Harbor bidder as a node of your own LangGraph graph."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

from langgraph.graph import END, START, StateGraph

from harbor import Bidder, BidderContext, BidderState, SimulatedChat, bidder_graph
from harbor.events import BidderSeated, ItemOpened, Lot, SaleOpened
from harbor.games import Amount, Ask


async def advise() -> dict[str, Any]:
    """Ask the bidder inside a bigger graph what it would do; its model can be any LangChain chat model."""

    async def report(state: BidderState) -> dict[str, Any]:
        print(f"{state['view'].name} answers {state['answer']}")
        return {}

    app = StateGraph(BidderState)
    app.add_node("bidder", bidder_graph(BidderContext.of(Bidder("Ann"), SimulatedChat())))
    app.add_node("report", report)
    app.add_edge(START, "bidder")
    app.add_edge("bidder", "report")
    app.add_edge("report", END)
    lot = Lot("Wren House", Decimal(160_000), "A quiet terrace with solar panels and a heat pump.")
    seen = [
        BidderSeated("Ann", Decimal(500_000), {lot.name: Decimal(440_000)}, {}, "profit"),
        SaleOpened(("Ann", "Ben"), (lot,), "true value"),
        ItemOpened(lot.name, lot.start, Decimal(16_000)),
    ]
    ask = Ask("Ann", lot.name, round=1, space=Amount(lot.start, Decimal(500_000)))
    return await app.compile().ainvoke({"ask": ask, "view": seen})


if __name__ == "__main__":
    asyncio.run(advise())
