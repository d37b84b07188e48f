"""The composition root: settings become a sale, seats and a log; the sale is held; a result comes out."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from secrets import token_hex

from autogen_agentchat.base import ChatAgent
from langchain_core.language_models import BaseChatModel
from langgraph.store.base import BaseStore

from harbor._config.auction import AuctionConfig, Bidder, Persona
from harbor._core.errors import ConfigError
from harbor._core.events import SCHEMA_VERSION, LogOpened
from harbor._core.log import Log, of_type
from harbor._core.log_lines import Entry
from harbor._core.seeding import stream
from harbor._core.version import __version__
from harbor._games.registry import build
from harbor._house.people import Person
from harbor._house.sale import Sale
from harbor._models.connections import connected
from harbor._runs.folder import RunFolder, run_name
from harbor._runs.inputs import RunInputs
from harbor._runs.items import resolve_items, resolved
from harbor._runs.memories import anybody_remembers, archives_of, memories, named_memories
from harbor._runs.opening import opening_events
from harbor._runs.result import Listener, Result, finish
from harbor._runs.seating import Seating
from harbor._simulated.chat_model import SimulatedChat
from harbor.memory._store.embedding import as_embedding
from harbor.personas._catalog.catalog import extended, find


class Auction(AuctionConfig):
    """An auction that can be held: `run()`, `await arun()`, or `async for entry in stream()`.

    They take the same arguments: `out`, a new folder for the run (None: keep it in memory); `models`, chat models of
    yours by the name that bidders use; `agents`, AutoGen agents of yours by bidder; `people`, by bidder; and but for
    `stream`, `listen`, called with every entry of the log as it is written.
    """

    def run(
        self,
        out: Path | str | None = None,
        models: Mapping[str, BaseChatModel] | None = None,
        agents: Mapping[str, ChatAgent] | None = None,
        listen: Listener | None = None,
        people: Mapping[str, Person] | None = None,
    ) -> Result:
        """Hold the auction.

        Raises:
            ConfigError: a setting that is refused; nothing has been written.
            RunFolderError: the folder exists or can't be made.
        """
        return finish(self.arun(out, models, agents, listen, people), "run() can't be used", "await auction.arun()")

    async def arun(
        self,
        out: Path | str | None = None,
        models: Mapping[str, BaseChatModel] | None = None,
        agents: Mapping[str, ChatAgent] | None = None,
        listen: Listener | None = None,
        people: Mapping[str, Person] | None = None,
    ) -> Result:
        """Hold the auction inside a running event loop."""
        run = Run(self, RunInputs(models or {}, agents or {}, people or {}))
        async with named_memories(self) as store:
            if out is None:
                return await run.hold(None, listen, store)
            with closing(RunFolder.make(Path(out), run.config)) as folder:
                return await run.hold(folder, listen, store)

    async def stream(
        self,
        out: Path | str | None = None,
        models: Mapping[str, BaseChatModel] | None = None,
        agents: Mapping[str, ChatAgent] | None = None,
        people: Mapping[str, Person] | None = None,
    ) -> AsyncIterator[Entry]:
        """Hold the auction and give every entry of the log as it is written."""
        entries: asyncio.Queue[Entry | None] = asyncio.Queue()
        held = asyncio.ensure_future(self.arun(out, models, agents, entries.put_nowait, people))
        held.add_done_callback(lambda _: entries.put_nowait(None))
        try:
            while (entry := await entries.get()) is not None:
                yield entry
            await held
        finally:
            held.cancel()
            await asyncio.wait({held})


class Run:
    """Everything one run is made of; nothing is written until all of it is known to be good."""

    def __init__(self, config: AuctionConfig, given: RunInputs) -> None:
        if config.series is not None:
            raise ConfigError("the config is of a series of auctions; hold it with: harbor.run_series(config)")
        self.config = resolved(config)
        self.items = resolve_items(self.config)
        self.rules = build(self.config)
        self.given = given
        self.models = given.open_models(config)
        given.check(config)
        self.personas = extended(config.personas)
        self.catalog = {key: find(self.personas, key) for key in config.catalog or self.personas}
        for bidder in config.bidders:
            _check_personas(bidder, self.personas)
        if anybody_remembers(config):
            as_embedding(config.memory.embedding)
        for item in self.items:
            if item.true_value < item.start:
                warnings.warn(f"item {item.name!r} is worth less than its starting price", stacklevel=4)

    async def hold(
        self, folder: RunFolder | None, listen: Listener | None, store: BaseStore | None = None, name: str = ""
    ) -> Result:
        """Hold the auction, from the beginning or, in a folder that is reopened, from where it was interrupted.

        Memories go in `store`, or in the one that the settings name. `name` is that of the run (that of its folder).
        """
        with closing(folder.open_log() if folder else Log()) as log:
            if listen is not None:
                log.listen(listen)
            name = name or (folder.path.name if folder else run_name(self.config.name))
            log.append(LogOpened(SCHEMA_VERSION, __version__, name, self.config.seed, token_hex(4)))
            opened = of_type(log.entries, LogOpened)[0]  # of a run that is resumed, as it was
            names = [bidder.name for bidder in self.config.bidders]
            sale = Sale(self.rules, names, log, stream(self.config.seed, "ties"))
            for event in opening_events(self.config, self.personas, self.catalog, self.players()):
                sale.record(event)
            async with memories(self.config, folder, store) as held, connected(self.models.values()):
                archives = archives_of(self.config, held, f"{opened.run}-{opened.token}")
                await Seating(self.config, self.given, self.models, sale, folder, archives).room().run_to_end()
            return Result(tuple(log.entries), folder.path if folder else None)

    def players(self) -> dict[str, str]:
        """Say what plays each bidder: a rule, an agent, a person, or a model."""
        return {bidder.name: self._player_name(bidder) for bidder in self.config.bidders}

    def _player_name(self, bidder: Bidder) -> str:
        if not bidder.uses_model:
            return bidder.rule or ("agent" if bidder.agent else "person")
        chat, settings = self.models[bidder.model]
        use = "simulated" if isinstance(chat, SimulatedChat) else settings.use
        return use if use == bidder.model else f"{use} ({bidder.model})"


def _check_personas(bidder: Bidder, personas: Mapping[str, Persona]) -> None:
    for key in bidder.persona:
        try:
            find(personas, key)
        except ConfigError as error:
            raise ConfigError(f"bidder {bidder.name!r}: {error}") from error
