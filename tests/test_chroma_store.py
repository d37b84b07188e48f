"""ChromaStore keeps LangGraph's promises, on each of its backends."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from langgraph.store.memory import InMemoryStore

from harbor.memory.backend import _server
from harbor.memory.chroma import ChromaStore
from harbor.memory.embedding import HASHING_DIMENSION, as_embedding
from harbor.testing import CHECKS

HERE = ("ann", "learnings")
HASHING = as_embedding("hashing")
IN_MEMORY = {"dims": HASHING_DIMENSION, "embed": lambda texts: HASHING.vectors(texts).tolist(), "fields": ["text"]}


class Clock:
    """A clock that stands still until it is moved on."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        self.now += 1e-3
        return self.now


@pytest.fixture(scope="module")
def serve():
    """Start a real Chroma server on a folder; it answers when this returns."""
    running = []

    def start(folder: Path) -> tuple[str, subprocess.Popen]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        chroma = Path(sys.executable).with_name("chroma")
        command = [str(chroma), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder.parent)
        running.append(process)
        address = f"http://127.0.0.1:{port}"
        while process.poll() is None:
            try:
                if httpx.get(f"{address}/api/v2/heartbeat").is_success:
                    return address, process
            except httpx.TransportError:
                continue
        raise AssertionError("the Chroma server ended at once")

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def server(serve, tmp_path_factory) -> str:
    return serve(tmp_path_factory.mktemp("server"))[0]


def emptied(address: str) -> str:
    """Delete what a server holds."""
    with ExitStack() as closing:
        shelves = _server(address, closing)
        for collection in shelves.client.list_collections():
            shelves.client.delete_collection(collection.name)
    return address


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.strip("_"))
@pytest.mark.parametrize("backend", ["ephemeral", "folder", "server", "langgraph's own"])
def test_store_conforms(backend, check, tmp_path, request):
    if backend == "langgraph's own":
        return check(InMemoryStore(index=IN_MEMORY))
    where = {"ephemeral": lambda: None, "folder": lambda: tmp_path / "memory"}.get(
        backend, lambda: emptied(request.getfixturevalue("server"))
    )()
    with ChromaStore(where, fields=["text"]) as store:
        check(store)
    return None
