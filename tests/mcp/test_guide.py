"""The guide for MCP clients says what is so, and its snippets run."""

from __future__ import annotations

import asyncio
import re

from mcp import Client

from harbor._config.auction import AuctionConfig
from harbor._core.log.log import of_type
from harbor._core.settings import read_settings
from harbor._games.english.events import ItemSold
from support.folders import ROOT
from support.mcp_clients import on_loopback, tools

GUIDE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")


def snippet(language: str) -> str:
    [text] = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    return text


async def test_the_bidder_of_the_guide_plays_the_auction_of_the_guide_and_says_when_its_token_is_wrong(tmp_path):
    (tmp_path / "auction.toml").write_text(snippet("toml"), encoding="utf-8")
    config = read_settings(tmp_path / "auction.toml", AuctionConfig)
    names: dict[str, object] = {"__name__": "guide"}
    exec(compile(snippet("python"), "docs/mcp.md", "exec"), names)
    async with on_loopback(tmp_path) as served:
        held = served.held.hold(config, wait_seconds=60)
        said = await names["bid"](f"{served.url}/mcp", "seat-of-nobody")
        async with asyncio.TaskGroup() as clients:
            for seat in held.seats:
                clients.create_task(names["bid"](f"{served.url}/mcp", seat.token))
        await held.ended()
    assert {sold.item for sold in of_type(held.result.log, ItemSold)} == {"Vase", "Clock"}
    assert ("no seat here has this token" in said, "\n" in said) == (True, False)


async def test_the_guide_names_every_tool_with_its_parameters(tmp_path):
    rows = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", GUIDE, re.MULTILINE))
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        listed = {tool.name: set(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}
    assert rows.keys() == listed.keys()
    for name, words in rows.items():
        assert set(re.findall(r"[a-z_]+", words)) - {"or", "false"} <= listed[name], name
