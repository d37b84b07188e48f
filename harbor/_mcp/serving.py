"""The server: over stdio for the one client that started it, or over HTTP for bidders and, with a key, for hosts."""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from inspect import getdoc
from typing import Any, ParamSpec

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from harbor._core.basics.errors import HarborError
from harbor._core.basics.redaction import known_secret, redact
from harbor._core.faces import __version__
from harbor._mcp.experiment_tools import ExperimentTools
from harbor._mcp.held_auctions import HeldAuctions
from harbor._mcp.host_tools import HostTools, House
from harbor._mcp.seat_tools import SeatTools

P = ParamSpec("P")
Tool = Callable[P, Coroutine[Any, Any, dict[str, Any]]]


def as_tool(work: Tool[P]) -> Callable[P, Coroutine[Any, Any, CallToolResult]]:
    """Make a tool from a function that returns plain values. The client gets Harbor's errors without keys."""

    @wraps(work)
    async def tool(*args: P.args, **named: P.kwargs) -> CallToolResult:
        try:
            values = await work(*args, **named)
        except HarborError as error:
            raise ToolError(redact(str(error))) from None
        text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=values)

    tool.__annotations__["return"] = CallToolResult
    tool.__doc__ = getdoc(work)  # without the indentation, which a client would show
    return tool


FOR_BIDDERS, FOR_HOSTS = "/mcp", "/host"
"""The paths of the two servers over HTTP."""
LARGEST_REQUEST = 262_144
"""The greatest number of bytes in the body of a request."""
BIDDING = (
    "Harbor holds auctions between agents. You play a bidder if you have a seat token, such as seat-4fJx...: call"
    ' wait_for_turn with it, decide, call answer, and so on until the status is "over".'
)
HOSTING = (
    f"{BIDDING} You can also hold auctions: hold_auction gives you the tokens of the seats that you open, and"
    " list_auctions those of the auctions that are held already. list_presets shows what there is."
)


def seat_server(held: HeldAuctions) -> MCPServer[Any]:
    """Make the server for a bidder's client. It offers only the tools of seats."""
    server: MCPServer[Any] = MCPServer(
        "harbor", title="Harbor auctions", instructions=BIDDING, version=__version__, log_level="ERROR"
    )
    tools = SeatTools(held)
    for work in (tools.wait_for_turn, tools.answer, tools.what_happened):
        server.tool()(as_tool(work))
    return server


def host_server(held: HeldAuctions, house: House, experiments: ExperimentTools) -> MCPServer[Any]:
    """Make the server for a host's client. A host may play seats too."""
    server: MCPServer[Any] = MCPServer(
        "harbor", title="Harbor auctions", instructions=HOSTING, version=__version__, log_level="ERROR"
    )
    seats, hosts = SeatTools(held), HostTools(held, house)
    for work in (
        hosts.list_presets,
        hosts.hold_auction,
        hosts.list_auctions,
        hosts.read_standings,
        seats.wait_for_turn,
        seats.answer,
        seats.what_happened,
        experiments.estimate,
        experiments.run_experiment,
        experiments.read_experiment,
    ):
        server.tool()(as_tool(work))
    return server


def web_app(bidders: MCPServer[Any], hosts: MCPServer[Any], host_key: str, address: str) -> Starlette:
    """Serve bidders at `/mcp`, and hosts with the key as a bearer token at `/host`, both over HTTP.

    Args:
        bidders: the server for bidders' clients.
        hosts: the server for hosts' clients.
        host_key: the key that a host has to send.
        address: the listening address. On loopback, requests from web pages of other sites are refused.
    """
    served = [
        server.streamable_http_app(
            streamable_http_path=path,
            json_response=True,
            stateless_http=True,
            host=address,
            max_request_body_size=LARGEST_REQUEST,
        )
        for server, path in ((bidders, FOR_BIDDERS), (hosts, FOR_HOSTS))
    ]

    @asynccontextmanager
    async def both(_: Starlette) -> AsyncIterator[None]:
        async with bidders.session_manager.run(), hosts.session_manager.run():
            yield

    app = Starlette(routes=[route for one in served for route in one.routes], lifespan=both)
    app.add_middleware(HostKey, key=host_key)
    return app


class HostKey:
    """Lets only clients with the host key pass, except on the path for bidders."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        known_secret(key)
        self._app = app
        self._header = f"Bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with status 401."""
        headers = dict(scope.get("headers", ()))
        theirs = scope["type"] == "http" and not scope["path"].startswith(FOR_BIDDERS)
        if theirs and not hmac.compare_digest(headers.get(b"authorization", b""), self._header):
            words = f"send the host key as a bearer token; a bidder needs none at {FOR_BIDDERS}"
            await PlainTextResponse(words, 401)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def listening(address: str, port: int) -> socket.socket:
    """Listen at an address. Port 0 means any free port.

    Raises:
        OSError: the address can't be used.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.create_server((address, port), family=family, backlog=128)
    made.setblocking(False)
    return made


async def serve(app: Starlette, door: socket.socket, until: Coroutine[Any, Any, None] | None = None) -> None:
    """Serve an app until this task is cancelled or `until` ends. Open requests get 2 s more."""
    config = uvicorn.Config(app, log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=2)
    server = WebServer(config)
    serving = asyncio.ensure_future(server.serve([door]))
    ending = asyncio.ensure_future(asyncio.Event().wait() if until is None else until)
    try:
        await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ending.cancel()
        server.should_exit = True
        await serving


class WebServer(uvicorn.Server):
    """An HTTP server that leaves signals to its caller."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield
