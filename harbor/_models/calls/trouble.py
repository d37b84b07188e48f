"""The trouble of a call in a few words, for whoever waits for it: a status, or why there is no connection."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

from harbor._models.calls.faults import Fault, chain_of, status_of

NO_CONNECTION = "no connection"
UNCONNECTED = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ClientConnectorError")
"""How HTTP packages call it that no connection came about."""
LONGEST_TOLD = 60
_ADDRESSES = (
    "root_async_client.base_url",
    "_async_client._client.base_url",
    "client._api_client._http_options.base_url",
)
"""Where the clients of OpenAI, Ollama and Google keep the address that is theirs by default."""


def status_in_words(fault: Fault, error: BaseException | None) -> str:
    """Say what became of a request: "503", "no connection (connection refused)", "no answer in time"."""
    if error is None:
        return fault.words[:LONGEST_TOLD]
    if (status := status_of(error)) is not None:
        return str(status)
    if is_unconnected(error):
        return f"{NO_CONNECTION} ({_why(error)})"
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "no answer in time"
    return "an odd answer" if fault.kind == "odd" else fault.words[:LONGEST_TOLD]


def is_unconnected(error: BaseException | None) -> bool:
    """Say whether no connection came about; one that was cut later is something else."""
    return error is not None and any(type(one).__name__ in UNCONNECTED for one in chain_of(error))


def at_host(fault: Fault, error: BaseException | None, host: str) -> Fault:
    """Name the host that can't be reached, which the providers' packages leave out."""
    if error is None or not is_unconnected(error):
        return fault
    return replace(fault, words=f"{NO_CONNECTION} to {host} ({_why(error)})")


def _why(error: BaseException) -> str:
    for one in reversed(list(chain_of(error))):
        if isinstance(one, socket.gaierror):
            return "unknown host"
        if isinstance(one, ssl.SSLCertVerificationError):
            return "its certificate is not trusted"
        if isinstance(one, ssl.SSLError):
            return "no TLS there"
        if isinstance(one, OSError) and one.errno is not None and one.errno in errno.errorcode:
            return os.strerror(one.errno).lower()
    return "it did not come about"


def host_of_client(chat: Any) -> str:
    """Give the host that a chat model asks if its settings name none; empty if its package keeps it elsewhere."""
    for place in _ADDRESSES:
        with suppress(AttributeError):
            return host_of(str(attrgetter(place)(chat)))
    return ""


def host_of(address: str) -> str:
    """Give the host and port of an address, without a user, a path or a query; what is no address stays as it is."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        return (f"{host}:{parts.port}" if parts.port else host) if host else address.rpartition("@")[2][:LONGEST_TOLD]
    except ValueError:
        return address.rpartition("@")[2][:LONGEST_TOLD]
