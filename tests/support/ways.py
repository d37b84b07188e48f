"""Ways in which an auctioneer may speak, by people who had not read the code, and whether Ann answers usably."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

from harbor import Bidder, SimulatedChat
from harbor.graphs._apps.answering_up import Spoken, seated, speak
from harbor.graphs._apps.listener import Listener
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder
from support.folders import ROOT

BUDGET = Decimal(500_000)
VALUES = {"Wren House": 440_000, "Mill Cottage": 300_000}
ANSWERS = ("bid", "withdraw", "accept", "decline")


def ways(name: str) -> list[dict[str, Any]]:
    return json.loads((ROOT / "tests" / "data" / f"{name}.json").read_text(encoding="utf-8"))


def is_usable(way: dict[str, Any]) -> bool:
    """Say whether Ann, played by the built-in model, answers as the way says that an answer should be."""
    spoken, listener = asyncio.run(_answered(way["text"]))
    least = way["exact"] or way["least"]
    if not way["asks_ann"]:
        return spoken.words == "I am not asked for a bid now."
    if least and least > BUDGET:
        return spoken.words.startswith(f"I withdraw from {way['item']}")
    bids = [event.amount for event in listener.seen if getattr(event, "amount", None)]
    return (
        spoken.ask is not None
        and spoken.ask.item == way["item"]
        and least in (None, spoken.ask.minimum)
        and spoken.ask.maximum == BUDGET
        and way["exact"] in (None, getattr(spoken.action, "amount", way["exact"]))
        and any(answer in spoken.words for answer in ANSWERS)
        and all(amount <= BUDGET for amount in bids)
    )


async def _answered(words: str) -> tuple[Spoken, Listener]:
    """Let Ann hear the words, and answer."""
    ann = Bidder("Ann", budget=BUDGET)
    context = BidderContext.of(ann, SimulatedChat(), sink=lambda event: listener.conclude(event))
    listener = Listener(context, seated(ann, VALUES))
    await listener.hear("auctioneer", words)
    return await speak(listener, GraphBidder(context)), listener
