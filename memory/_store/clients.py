"""Opens Chroma's clients, with the settings that Harbor gives and no other.

Chroma would take every other setting, the address of a server too, from a `.env` in the current folder and from the
environment; it reads both when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import BaseModel
from pydantic_settings import BaseSettings


@contextmanager
def _unread() -> Iterator[None]:
    """Keep Chroma's settings from being read while it is imported: a file that it can't read would be an error."""
    usual = BaseSettings.__init__

    def given(settings: BaseSettings, /, **values: Any) -> None:
        begin = BaseModel.__init__ if type(settings).__module__ == "chromadb.config" else usual
        begin(settings, **values)

    BaseSettings.__init__ = given  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        BaseSettings.__init__ = usual  # type: ignore[method-assign]


with _unread():
    import chromadb
    from chromadb.config import Settings
    from chromadb.errors import ChromaError as ChromaError
    from chromadb.errors import InternalError as InternalError
    from chromadb.errors import NotFoundError as NotFoundError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

PATIENCE_SECONDS = 60  # for a server that does not answer; Chroma itself would wait forever


def in_this_process(stack: ExitStack) -> ClientAPI:
    """Open a memory that ends with this process."""
    return _closed_at_the_end(chromadb.EphemeralClient(_given()), stack)


def in_folder(folder: Path, stack: ExitStack) -> ClientAPI:
    """Open the database of a folder."""
    return _closed_at_the_end(chromadb.PersistentClient(folder, _given(anonymized_telemetry=False)), stack)


def on_server(host: str, port: int, ssl: bool, stack: ExitStack) -> ClientAPI:
    """Connect to a server."""
    client: Any = chromadb.HttpClient(host, port, ssl, settings=_given())
    _closed_at_the_end(client, stack)
    for connected in (client, client._admin_client):  # Chroma never closes these two
        session: httpx.Client = connected._server._session
        session.timeout = httpx.Timeout(PATIENCE_SECONDS)
        stack.callback(session.close)
    opened: ClientAPI = client
    return opened


def _given(**settings: Any) -> Settings:
    """Give Chroma these settings and its defaults; making them in the usual way would read others."""
    return Settings.model_construct(**settings)


def _closed_at_the_end(client: Any, stack: ExitStack) -> ClientAPI:
    stack.callback(client.close)  # missing from Chroma's type `ClientAPI`
    opened: ClientAPI = client
    return opened
