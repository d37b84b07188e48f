"""Where the memories of an auction are: a store that is open as long as it lasts, and each bidder's part of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from langgraph.store.base import BaseStore

from harbor.config import AuctionConfig
from harbor.folder import MEMORY, RunFolder
from harbor.memory.archive import Archive, open_store


def anybody_remembers(config: AuctionConfig) -> bool:
    """Say whether any bidder has a use for a store."""
    return any(bidder.remembers for bidder in config.bidders)


def named_memories(config: AuctionConfig) -> AbstractAsyncContextManager[BaseStore | None]:
    """Open the store that the settings name, if they do: before the folder of a run is made, as it may be refused."""
    return memories(config, None) if config.memory.store is not None else nullcontext()


@asynccontextmanager
async def memories(
    config: AuctionConfig, folder: RunFolder | None, given: BaseStore | None = None
) -> AsyncIterator[BaseStore | None]:
    """Open the store of the memories for as long as the auction lasts, if anybody remembers and none is given."""
    if given is not None or not anybody_remembers(config):
        yield given
        return
    async with await asyncio.to_thread(open_store, config.memory, folder.path / MEMORY if folder else None) as store:
        yield store


def archives_of(config: AuctionConfig, store: BaseStore | None, auction: str) -> dict[str, Archive]:
    """Give each bidder that remembers its part of the store; `auction` is the one that is held."""
    if store is None:
        return {}
    return {
        bidder.name: Archive(store, bidder.name, auction, config.memory)
        for bidder in config.bidders
        if bidder.remembers
    }
