"""A seeded policy that decides from a turn's JSON alone, and programs that play it through each transport.

As a program it answers lines with lines. With `serve` it is a web server, whose port it prints. With `mcp URL TOKEN`
it plays a seat as a client of the Model Context Protocol.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any


def decide(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Bid a little more than the minimum up to a limit, which differs between bidders and items."""
    space, who, what = turn["space"], turn["bidder"], turn["item"]
    limit = min(space["maximum"], Random(f"{who} {what}").randrange(1_800, 5_000))
    amount = space["minimum"] + 10 * Random(f"{who} {what} {turn['round']}").randrange(0, 20)
    return {"action": "bid", "amount": amount} if amount <= limit else {"action": "withdraw"}


def answer_lines() -> None:
    """Answer each line with a line."""
    for line in sys.stdin:
        turn = json.loads(line)
        print(json.dumps({"turn": turn["turn"], **decide(turn)}), flush=True)


class Handler(BaseHTTPRequestHandler):
    """Answers each posted turn. A subclass can set another `policy`."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: otherwise the second would wait for the first one's acknowledgement
    policy = staticmethod(decide)

    def do_POST(self) -> None:
        turn = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(self.policy(turn)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def serve() -> None:
    """Serve on a free port, and print the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


async def play(url: str, token: str, policy: Callable[[dict[str, Any]], dict[str, Any]] = decide) -> None:
    """Play a seat to the end."""
    from mcp import Client

    async with Client(url) as client:
        while (turn := await _call(client, "wait_for_turn", seat=token))["status"] != "over":
            if turn["status"] == "your_turn":
                await _call(client, "answer", seat=token, turn=turn["turn"], answer=policy(turn))


async def _call(client: Any, name: str, **arguments: Any) -> dict[str, Any]:
    told: dict[str, Any] = (await client.call_tool(name, arguments)).structured_content
    return told


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case ["mcp", url, token]:
            asyncio.run(play(url, token))
        case _:
            answer_lines()
