"""Running one auction: what was resolved becomes a sale, seats and a log, and a result comes out."""

from __future__ import annotations

import warnings
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import Protocol, TypeVar

from langchain_core.language_models import BaseChatModel
from langgraph.store.base import BaseStore

from harbor._config.auction import AuctionConfig
from harbor._core.errors import ConfigError
from harbor._core.events import SCHEMA_VERSION, LogOpened
from harbor._core.log import Log, of_type
from harbor._core.seeding import stream
from harbor._core.version import __version__
from harbor._house.sale import Sale
from harbor._models.connections import connected, shares_connections
from harbor._models.providers import open_chat
from harbor._room.agent import make_agent
from harbor._runs.folder import RunFolder, run_name
from harbor._runs.inputs import RunInputs
from harbor._runs.memories import anybody_remembers, memories, memories_of, named_memories
from harbor._runs.opening import opening_events
from harbor._runs.resolve import resolve
from harbor._runs.result import Listener, Result
from harbor._runs.seating import Seating
from harbor.memory._store.embedding import as_embedding

R_co = TypeVar("R_co", covariant=True)


class Startable(Protocol[R_co]):
    """A run or a series of them that is sure to start; `config` is what its folder keeps."""

    config: AuctionConfig

    async def run(self, folder: RunFolder | None, listen: Listener | None, store: BaseStore | None = None) -> R_co:
        """Run to the end, from the beginning or from where it was interrupted."""
        ...


async def start(run: Startable[R_co], out: Path | None = None, listen: Listener | None = None) -> R_co:
    """Begin a run in a new folder, or in memory.

    Raises:
        RunFolderError: the folder exists or can't be made.
        MemoryStoreError: the store of the memories can't be opened.
    """
    async with named_memories(run.config) as store:
        if out is None:
            return await run.run(None, listen, store)
        with closing(RunFolder.make(out, run.config)) as folder:
            return await run.run(folder, listen, store)


class Run:
    """An auction that is sure to start: all is resolved, its models are made, its embedding is there.

    Raises:
        ConfigError: a setting that is refused.
    """

    def __init__(self, config: AuctionConfig, inputs: RunInputs) -> None:
        if config.series is not None:
            raise ConfigError("the config is of a series of auctions; run it with: harbor.run_series(config)")
        self.auction = resolve(config, inputs)
        self.config = self.auction.config
        self.chats = {
            name: _of_this_run(inputs.models[name]) if name in inputs.models else open_chat(name, settings, config.seed)
            for name, settings in self.auction.models.items()
        }
        named = {bidder.name: bidder.agent for bidder in config.bidders if isinstance(bidder.agent, str)}
        self.agents = {**inputs.agents, **{bidder: make_agent(name, bidder) for bidder, name in named.items()}}
        if anybody_remembers(config):
            as_embedding(config.memory.embedding)
        for item in self.auction.items:
            if item.true_value < item.start:
                warnings.warn(f"item {item.name!r} is worth less than its starting price", stacklevel=4)

    async def run(
        self, folder: RunFolder | None, listen: Listener | None, store: BaseStore | None = None, name: str = ""
    ) -> Result:
        """Run the auction, from the beginning or, in a folder that is reopened, from where it was interrupted.

        Memories go in `store`, or in the one that the settings name. `name` is that of the run (that of its folder).
        """
        auction, config = self.auction, self.config
        with closing(folder.open_log() if folder else Log()) as log:
            if listen is not None:
                log.listen(listen)
            name = name or (folder.path.name if folder else run_name(config.name))
            log.append(LogOpened(SCHEMA_VERSION, __version__, name, config.seed, token_hex(4), auction.parts))
            opened = of_type(log.entries, LogOpened)[0]  # of a run that is resumed, as it was
            names = [bidder.name for bidder in config.bidders]
            sale = Sale(auction.rules, names, log, stream(config.seed, "ties"))
            for event in opening_events(auction):
                sale.record(event)
            async with memories(config, folder, store) as open_store, connected(self.chats.values()):
                mine = memories_of(config, open_store, f"{opened.run}-{opened.token}")
                await Seating(auction, self.chats, self.agents, sale, folder, mine).room().run_to_end()
            return Result(tuple(log.entries), folder.path if folder else None)


def _of_this_run(chat: BaseChatModel) -> BaseChatModel:
    """Give the caller's model, or a copy of it where it will get connections of this run."""
    return chat.model_copy() if shares_connections(chat) else chat
