"""Two Harbor bidders in an app with messages: an auctioneer raises the price until one of them is left."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from harbor import Bidder, bidder_node


def bids(state: MessagesState) -> list[int]:
    """Return the bids since the auctioneer's last message."""
    last = [one.additional_kwargs for one in state["messages"][-2:]]
    answers = [data["harbor"]["answer"] for data in last if "harbor" in data]
    return [answer["amount"] for answer in answers if answer["action"] == "bid"]


def auctioneer(state: MessagesState) -> dict[str, Any]:
    """Ask both to outbid the last bid, as JSON. A bidder with a language model also reads English."""
    least = max(bids(state), default=150_000) + 10_000
    return {"messages": [asking(bidder, least) for bidder in ("Ann", "Ben")]}


def asking(bidder: str, least: int) -> AIMessage:
    """Ask a bidder for at least `least` dollars."""
    space = {"kind": "amount", "minimum": least, "maximum": 1_000_000}
    ask = {"bidder": bidder, "item": "Wren House", "round": 1, "space": space}
    words = f"{bidder}, do you bid ${least:,} or more?"
    return AIMessage(words, name="auctioneer", additional_kwargs={"ask": json.dumps(ask)})


def still_on(state: MessagesState) -> str:
    """Go on while both bid."""
    return "auctioneer" if len(bids(state)) == 2 else END


sale = StateGraph(MessagesState)
sale.add_node("auctioneer", auctioneer)
sale.add_node("ann", bidder_node(Bidder("Ann", budget=500_000), values={"Wren House": 440_000}))
sale.add_node("ben", bidder_node(Bidder("Ben", budget=300_000), values={"Wren House": 250_000}))
sale.add_edge(START, "auctioneer")
sale.add_edge("auctioneer", "ann")
sale.add_edge("ann", "ben")
sale.add_conditional_edges("ben", still_on)
graph = sale.compile()

if __name__ == "__main__":
    for message in graph.invoke({"messages": []})["messages"]:
        print(f"{message.name}: {message.content}")
