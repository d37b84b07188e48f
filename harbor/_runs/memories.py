"""Where the memories of an auction are: a store that is open as long as it lasts, and each bidder's part of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from langgraph.store.base import BaseStore, Op
from langgraph.store.base import Result as OpResult

from harbor._config.auction import AuctionConfig
from harbor._core.errors import MemoryStoreError
from harbor._core.finding import find
from harbor._core.layout import MEMORY
from harbor._games.game import Game
from harbor._runs.folder import RunFolder
from harbor._runs.inputs import anybody_remembers
from harbor.memory._bidder.bidder_memory import BidderMemory, open_store


@asynccontextmanager
async def memories(
    config: AuctionConfig, folder: RunFolder | None, given: BaseStore | None = None
) -> AsyncIterator[BaseStore | None]:
    """Open the store of the memories for as long as the auction lasts, if anybody remembers and none is given."""
    if given is not None or not anybody_remembers(config):
        yield given
        return
    try:
        opened = await asyncio.to_thread(open_store, config.memory, folder.path / MEMORY if folder else None)
    except MemoryStoreError as error:
        if config.memory.on_error == "stop":
            raise
        yield Unavailable(error)
        return
    async with opened as store:
        yield store


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


def memories_of(config: AuctionConfig, store: BaseStore | None, auction: str) -> dict[str, BidderMemory]:
    """Give each bidder that remembers its part of the store; `auction` is the one that runs."""
    if store is None:
        return {}
    game, settings = named(config.rules.game), config.memory
    settings = settings.model_copy(update={"games": tuple(map(named, settings.games))})
    return {
        bidder.name: BidderMemory(store, bidder.name, auction, settings, game)
        for bidder in config.bidders
        if bidder.remembers
    }


def named(game: str) -> str:
    """Give the name of a game, whose memories are the same however it is referred to."""
    found: Game = find("game", game)
    return found.name
