"""A policy plays the same through the tools as by a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from mcp import Client

from harbor import Auction, Bidder, Item
from harbor._core.log.acts import Tried
from harbor._core.log.events import CLOCK_FIELDS
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, encode
from support.mcp_clients import on_loopback, play
from support.steady import decide

NAMES = ("Ann", "Cho", "Dan")
ITEMS = tuple(Item(name=f"Vase {number}", start=1_000, true_value=2_000) for number in range(4))


def auction() -> Auction:
    mine = [Bidder(name, agent=True) for name in NAMES]
    return Auction(items=ITEMS, seed=4, bidders=(*mine, Bidder("Ben", rule="minimum-raise", max_bids=1)))


def erring(turn: dict[str, Any]) -> Any:
    """Decide steadily, but first give nonsense where somebody else's item would be."""
    return {"action": "dance"} if turn["attempt"] == 1 and turn["round"] == 2 else decide(turn)


def lines(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    told = [json.loads(encode(entry, "")[0]) for entry in entries]
    return [{key: value for key, value in line.items() if key not in CLOCK_FIELDS} for line in told]


async def test_a_seeded_policy_leaves_the_same_log_through_mcp_as_by_a_call_but_for_clocks(tmp_path):
    called = await auction().arun(agents=dict.fromkeys(NAMES, erring))
    async with on_loopback(tmp_path) as served:
        held = served.held.hold(auction(), wait_seconds=60)
        async with Client(f"{served.url}/mcp") as client:
            await asyncio.gather(*(play(client, seat.token, erring) for seat in held.seats))
            await held.ended()
    assert of_type(called.log, Tried)
    assert lines(held.result.log) == lines(called.log)
