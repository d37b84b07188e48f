"""HTTP/1.1 over a socket: reads requests in turn, and writes whole or faulty replies."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

JSON = "application/json"
LINES = "application/x-ndjson"
EVENTS = "text/event-stream"
STATUSES = {int(status) for status in HTTPStatus}
ABORT = struct.pack("ii", 1, 0)
"""The socket option with which closing sends a reset."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request as received. Names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply and the way to send it: "whole", "cut" in half, "reset", "hang" or "endless"."""

    status: int = 200
    body: bytes = b""
    kind: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: str = "whole"


def encoded(payload: Any) -> bytes:
    return json.dumps(payload).encode()


async def receive(reader: StreamReader) -> Question | None:
    """Read the next request. Return None if the client has left."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        path, _, query = path.partition("?")
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Question(method, path, headers, body, query)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


async def send(reply: Reply, reader: StreamReader, writer: StreamWriter) -> bool:
    """Send a reply. Return whether the connection stays open."""
    match reply.manner:
        case "hang":
            await reader.read(1)  # returns only when the client closes the connection
        case "reset":
            reset(writer)
        case "endless":
            await _pour(writer, _head(reply, "Transfer-Encoding: chunked"))
        case "cut":
            length = f"Content-Length: {len(reply.body)}"
            writer.write(_head(reply, length) + reply.body[: len(reply.body) // 2])
            await writer.drain()
        case _:
            writer.write(_whole(reply))
            await writer.drain()
            return True
    return False


def reset(writer: StreamWriter) -> None:
    """Close a connection with a reset."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
    writer.transport.abort()


async def _pour(writer: StreamWriter, head: bytes) -> None:
    writer.write(head)
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    while True:
        writer.write(chunk)
        await writer.drain()
        await asyncio.sleep(0.001)  # let other requests be answered


def _whole(reply: Reply) -> bytes:
    if reply.kind not in (LINES, EVENTS):
        return _head(reply, f"Content-Length: {len(reply.body)}") + reply.body
    chunks = (b"%x\r\n%b\r\n" % (len(line), line) for line in reply.body.splitlines(keepends=True))
    return _head(reply, "Transfer-Encoding: chunked") + b"".join(chunks) + b"0\r\n\r\n"


def _head(reply: Reply, length: str) -> bytes:
    phrase = HTTPStatus(reply.status).phrase if reply.status in STATUSES else "Unknown"
    own = (f"{name}: {value}" for name, value in reply.headers.items())
    lines = (f"HTTP/1.1 {reply.status} {phrase}", f"Content-Type: {reply.kind}", *own, length)
    return "\r\n".join((*lines, "", "")).encode("latin-1")
