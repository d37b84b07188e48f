"""The composition root: settings become a sale, seats and a log; the sale is held; a result comes out."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from autogen_agentchat.base import ChatAgent
from langchain_core.language_models import BaseChatModel
from langgraph.store.base import BaseStore

from harbor import __version__
from harbor.auction import Sale
from harbor.chat.room import AuctionRoom
from harbor.chat.seats import BidderAgent, Seat
from harbor.config import AuctionConfig, Bidder, Houses, Item, Persona
from harbor.errors import ConfigError
from harbor.evaluation.metrics.summary import Summary, summarise
from harbor.events import (
    SCHEMA_VERSION,
    LogOpened,
)
from harbor.folder import RunFolder, run_name
from harbor.given import Given
from harbor.graphs.bidder import GraphBidder
from harbor.graphs.state import Mind
from harbor.introductions import introductions
from harbor.log import Entry, Log, of_type
from harbor.memories import anybody_remembers, archives_of, memories, named_memories
from harbor.memory.archive import Archive
from harbor.memory.embedding import as_embedding
from harbor.models import Mouthpiece
from harbor.notes import Notes
from harbor.personas.catalog import extended, find, houses
from harbor.recording import Recording
from harbor.rules.registry import RULES
from harbor.scripts import SCRIPTS
from harbor.seeding import stream
from harbor.simulated import SimulatedChat

T = TypeVar("T")
Listener = Callable[[Entry], None]


@dataclass(frozen=True)
class Result:
    """A finished auction: its log, and where that is on disk (None: in memory only)."""

    log: tuple[Entry, ...]
    folder: Path | None

    @property
    def standings(self) -> Sequence[Any]:
        """The bidders, ranked by what counts in the game: rows of `results.Standing`, `water` or `sessions`."""
        return self.metrics().standings

    def metrics(self) -> Summary:
        """Measure the log."""
        return summarise(self.log)


class Auction(AuctionConfig):
    """An auction that can be held: `run()`, `await arun()`, or `async for entry in stream()`.

    They take the same arguments: `out`, a new folder for the run (None: keep it in memory); `models`, chat models of
    yours by the name that bidders use; `agents`, AutoGen agents of yours by bidder; and but for `stream`, `listen`,
    called with every entry of the log as it is written.
    """

    def run(
        self,
        out: Path | str | None = None,
        models: Mapping[str, BaseChatModel] | None = None,
        agents: Mapping[str, ChatAgent] | None = None,
        listen: Listener | None = None,
    ) -> Result:
        """Hold the auction.

        Raises:
            ConfigError: a setting that is refused; nothing has been written.
            RunFolderError: the folder exists or can't be made.
        """
        return finish(self.arun(out, models, agents, listen), "run() can't be used", "await auction.arun()")

    async def arun(
        self,
        out: Path | str | None = None,
        models: Mapping[str, BaseChatModel] | None = None,
        agents: Mapping[str, ChatAgent] | None = None,
        listen: Listener | None = None,
    ) -> Result:
        """Hold the auction inside a running event loop."""
        run = Run(self, Given(models or {}, agents or {}))
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
    ) -> AsyncIterator[Entry]:
        """Hold the auction and give every entry of the log as it is written."""
        entries: asyncio.Queue[Entry | None] = asyncio.Queue()
        held = asyncio.ensure_future(self.arun(out, models, agents, entries.put_nowait))
        held.add_done_callback(lambda _: entries.put_nowait(None))
        try:
            while (entry := await entries.get()) is not None:
                yield entry
            await held
        finally:
            held.cancel()
            await asyncio.wait({held})


def finish(work: Coroutine[Any, Any, T], refusal: str, remedy: str) -> T:
    """Run to the end where no event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise ConfigError(f"{refusal} in a running event loop, as in a notebook; use: {remedy}")


class Run:
    """Everything one run is made of; nothing is written until all of it is known to be good."""

    def __init__(self, config: AuctionConfig, given: Given) -> None:
        if config.series is not None:
            raise ConfigError("the config is of a series of auctions; hold it with: harbor.hold_series(config)")
        self.items = resolve_items(config)
        self.config = config.model_copy(update={"items": self.items}) if self.items else config
        self.rules = RULES[config.rules.game](config.rules, self.config)
        self.agents = given.agents
        self.models = given.open_models(config)
        given.check(config)
        self.personas = extended(config.personas)
        self.catalog = {key: find(self.personas, key) for key in config.catalog or self.personas}
        for bidder in config.bidders:
            _check_bidder(bidder, self.personas, config.rules.game)
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
            sale = self._sale(log)
            for event in introductions(self.config, self.personas, self.catalog, self.players()):
                sale.record(event)
            async with memories(self.config, folder, store) as held:
                archives = archives_of(self.config, held, f"{opened.run}-{opened.token}")
                await self._room(sale, folder, archives).hold()
            return Result(tuple(log.entries), folder.path if folder else None)

    def _sale(self, log: Log) -> Sale[Any]:
        names = [bidder.name for bidder in self.config.bidders]
        return Sale(self.rules, names, log, stream(self.config.seed, "ties"))

    def players(self) -> dict[str, str]:
        """Say what plays each bidder: a rule, an agent, or a model."""
        return {
            bidder.name: bidder.rule or ("agent" if bidder.agent else self._player_name(bidder))
            for bidder in self.config.bidders
        }

    def _player_name(self, bidder: Bidder) -> str:
        chat, settings = self.models[bidder.model]
        use = "simulated" if isinstance(chat, SimulatedChat) else settings.use
        return use if use == bidder.model else f"{use} ({bidder.model})"

    def _room(self, sale: Sale[Any], folder: RunFolder | None, archives: Mapping[str, Archive]) -> AuctionRoom:
        thinkers = [bidder.name for bidder in self.config.bidders if not bidder.agent and not bidder.rule]
        learners = () if self.config.memory.frozen else tuple(archives)
        seats = []
        for number, bidder in enumerate(self.config.bidders, start=1):
            notes = Notes()
            agent = self.agents.get(bidder.name)
            if agent is None:
                mind = partial(self._mind, bidder, sale, notes, folder, archives.get(bidder.name))
                player = SCRIPTS[bidder.rule](bidder, self.config.seed) if bidder.rule else mind()
                agent = BidderAgent(f"bidder_{number}", player, partial(sale.seen_by, bidder.name))
            seats.append(self._seat(number, bidder, agent, notes, sale, folder))
        return AuctionRoom(sale, seats, thinkers, self.config.rules.reasks, learners=learners)

    def _seat(
        self, number: int, bidder: Bidder, agent: ChatAgent, notes: Notes, sale: Sale[Any], folder: RunFolder | None
    ) -> Seat:
        recording = folder.recording if folder else Recording()
        return Seat(
            f"seat_{number}",
            bidder.name,
            agent,
            bidder.timeout_seconds,
            notes,
            quoted=bidder.agent,
            recorded=lambda: recording.said(len(sale.log.entries) - 1, bidder.name),
        )

    def _mind(
        self, bidder: Bidder, sale: Sale[Any], notes: Notes, folder: RunFolder | None, archive: Archive | None
    ) -> GraphBidder:
        chat, settings = self.models[bidder.model]
        model = Mouthpiece(bidder.name, bidder.model, chat, settings, clock=sale.log.now)
        if folder is not None:
            model.keep, model.recording = folder.keep, folder.recording
        return GraphBidder(Mind(model, bidder, notes.begin, archive))


def resolve_items(config: AuctionConfig) -> tuple[Item, ...]:
    """Give the items for sale, sampling houses where the settings ask for a sample; only the English auction has any.

    Raises:
        ConfigError: the catalog has fewer houses than demanded, or the game sells no items.
    """
    if config.rules.game != "english":
        if config.items != Houses():
            raise ConfigError(f"the game {config.rules.game!r} sells no items of yours; drop items")
        return ()
    if not isinstance(config.items, Houses):
        return config.items
    matched = None
    if config.items.matched is not None:
        matched = {key: config.items.matched for bidder in config.bidders for key in bidder.persona}
        for own in config.personas:
            if own.id in matched:
                raise ConfigError(
                    f"no house of the catalog matches your persona {own.id!r}; drop matched, or list items"
                )
    return houses(config.items.count, config.seed, matched)


def _check_bidder(bidder: Bidder, personas: Mapping[str, Persona], game: str) -> None:
    if game != "english" and not bidder.agent and bidder.rule in (None, "truthful"):
        player = "a rule that needs estimates" if bidder.rule else "a model, which plays only the English auction yet"
        raise ConfigError(f"bidder {bidder.name!r} of the game {game!r} has {player}; give it rule = 'rational'")
    for key in bidder.persona:
        try:
            find(personas, key)
        except ConfigError as error:
            raise ConfigError(f"bidder {bidder.name!r}: {error}") from error
