"""Where the memories of an auction are: a store that is open as long as it lasts, and each bidder's part of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from langgraph.store.base import BaseStore, Op
from langgraph.store.base import Result as OpResult

from harbor._config.auction import AuctionConfig, MemorySettings
from harbor._core.errors import MemoryStoreError
from harbor._core.finding import find
from harbor._core.layout import MEMORY
from harbor._games.game import Game
from harbor._runs.folder import RunFolder
from harbor._runs.inputs import anybody_remembers
from harbor.memory._bidder.bidder_memory import BidderMemory, open_store
from harbor.memory._store.place import is_url

if TYPE_CHECKING:
    from harbor.memory._store.chroma import ChromaStore


@asynccontextmanager
async def memories(
    config: AuctionConfig, folder: RunFolder | None, given: BaseStore | None = None
) -> AsyncIterator[BaseStore | None]:
    """Open the store of the memories for as long as the auction lasts, if anybody remembers and none is given."""
    if given is not None or not anybody_remembers(config):
        yield given
        return
    async with AsyncExitStack() as stack:
        try:
            if config.memory.store is None:
                mine = await asyncio.to_thread(open_store, config.memory, folder.path / MEMORY if folder else None)
                store: BaseStore = await stack.enter_async_context(mine)
            else:
                opening = asyncio.ensure_future(asyncio.to_thread(_borrow, config.memory))
                stack.push_async_callback(_give_back, opening)
                store = (await asyncio.shield(opening)).store
        except MemoryStoreError as error:
            if config.memory.on_error == "stop":
                raise
            store = Unavailable(error)
        yield store


@dataclass
class _Lent:
    """A store that runs of this process use, and how many: a folder can be opened once."""

    key: tuple[str, str]
    store: ChromaStore
    users: int = 0


_LENT: dict[tuple[str, str], _Lent] = {}
_ONE_AT_A_TIME = Lock()


def _borrow(settings: MemorySettings) -> _Lent:
    """Open the store that settings name, once for all runs of this process."""
    where = str(settings.store)
    key = where if is_url(where) else str(Path(where).resolve()), settings.embedding
    with _ONE_AT_A_TIME:
        lent = _LENT.get(key) or _Lent(key, open_store(settings, None))
        lent.users += 1
        _LENT[key] = lent
        return lent


async def _give_back(opening: asyncio.Future[_Lent]) -> None:
    """Close a store that was borrowed, once nobody uses it; who was cancelled meanwhile waits until it is open."""
    await asyncio.wait([opening])
    if not opening.cancelled() and opening.exception() is None:
        await asyncio.to_thread(_let_go, opening.result())


def _let_go(lent: _Lent) -> None:
    with _ONE_AT_A_TIME:
        lent.users -= 1
        if not lent.users:
            del _LENT[lent.key]
            lent.store.close()


class Unavailable(BaseStore):
    """A store that could not be opened: whoever asks for a memory is told why, and goes on without it."""

    def __init__(self, error: MemoryStoreError) -> None:
        self.error = error

    def batch(self, ops: Iterable[Op]) -> list[OpResult]:
        """Fail."""
        raise MemoryStoreError(str(self.error))

    async def abatch(self, ops: Iterable[Op]) -> list[OpResult]:
        """Fail."""
        return self.batch(ops)


def memories_of(
    config: AuctionConfig, store: BaseStore | None, auction: str, series: str = ""
) -> dict[str, BidderMemory]:
    """Give each bidder that remembers its part of the store; `auction` is the one that runs, in that `series`."""
    if store is None:
        return {}
    game, settings = named(config.rules.game), config.memory
    settings = settings.model_copy(update={"games": tuple(map(named, settings.games))})
    return {
        bidder.name: BidderMemory(store, bidder.name, auction, settings, game, series)
        for bidder in config.bidders
        if bidder.remembers
    }


def named(game: str) -> str:
    """Give the name of a game, whose memories are the same however it is referred to."""
    found: Game = find("game", game)
    return found.name
