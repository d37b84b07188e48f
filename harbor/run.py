"""The composition root: settings become a sale, seats and a log; the sale is held; a result comes out."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from autogen_agentchat.base import ChatAgent
from langchain_core.language_models import BaseChatModel

from harbor import __version__
from harbor.auction import Sale
from harbor.chat.room import AuctionRoom
from harbor.chat.seats import BidderAgent, Seat
from harbor.config import AuctionConfig, Bidder, Houses, Item, ModelSettings, Persona
from harbor.errors import ConfigError
from harbor.evaluation.metrics.summary import Summary, summarise
from harbor.events import (
    SCHEMA_VERSION,
    BidderLabelled,
    BidderSeated,
    CatalogShown,
    Event,
    ItemLabelled,
    LogOpened,
)
from harbor.folder import RunFolder, run_name
from harbor.graphs.bidder import GraphBidder
from harbor.graphs.state import Mind
from harbor.log import Entry, Log
from harbor.models import Mouthpiece, RawCall, open_chat, settings_of
from harbor.money import to_cents
from harbor.notes import Notes
from harbor.personas import traits
from harbor.personas.catalog import extended, find, houses
from harbor.rules.registry import build
from harbor.scripts import SCRIPTS
from harbor.seeding import stream
from harbor.simulated import SimulatedChat

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
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.arun(out, models, agents, listen))
        raise ConfigError("run() can't be used in a running event loop, as in a notebook; use: await auction.arun()")

    async def arun(
        self,
        out: Path | str | None = None,
        models: Mapping[str, BaseChatModel] | None = None,
        agents: Mapping[str, ChatAgent] | None = None,
        listen: Listener | None = None,
    ) -> Result:
        """Hold the auction inside a running event loop."""
        return await _Run(self, models or {}, agents or {}).hold(Path(out) if out is not None else None, listen)

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


class _Run:
    """Everything one run is made of; nothing is written until all of it is known to be good."""

    def __init__(
        self, config: AuctionConfig, models: Mapping[str, BaseChatModel], agents: Mapping[str, ChatAgent]
    ) -> None:
        self.items = resolve_items(config)
        self.config = config.model_copy(update={"items": self.items}) if self.items else config
        self.rules = build(self.config)
        self.agents = agents
        self.models = {name: _model(name, config, models) for name in _models_in_use(config)}
        _check_given("agents", agents, ChatAgent, [bidder.name for bidder in config.bidders if bidder.agent])
        _check_given("models", models, BaseChatModel, self.models)
        for name in config.models.keys() - models.keys():
            settings_of(name, config.models)
        self.personas = extended(config.personas)
        self.catalog = {key: find(self.personas, key) for key in config.catalog or self.personas}
        for bidder in config.bidders:
            _check_bidder(bidder, agents, self.personas)
        for item in self.items:
            if item.true_value < item.start:
                warnings.warn(f"item {item.name!r} is worth less than its starting price", stacklevel=4)

    async def hold(self, out: Path | None, listen: Listener | None) -> Result:
        folder = RunFolder(out, self.config) if out is not None else None
        log = Log(folder.events if folder else None)
        try:
            if listen is not None:
                log.listen(listen)
            name = out.name if out is not None else run_name(self.config.name)
            log.append(LogOpened(SCHEMA_VERSION, __version__, name, self.config.seed))
            sale = self._sale(log)
            for event in self._introductions():
                sale.record(event)
            await self._room(sale, folder.keep if folder else lambda _: None).hold()
        finally:
            log.close()
            if folder is not None:
                folder.close()
        return Result(tuple(log.entries), out)

    def _sale(self, log: Log) -> Sale[Any]:
        names = [bidder.name for bidder in self.config.bidders]
        return Sale(self.rules, names, log, stream(self.config.seed, "ties"))

    def _introductions(self) -> list[Event]:
        """Write down the ground truth, for the analyst, and what each bidder brings, for itself."""
        events: list[Event] = [ItemLabelled(item.name, item.true_value, item.persona or "") for item in self.items]
        for bidder in self.config.bidders:
            player = bidder.rule or ("agent" if bidder.agent else self._player_name(bidder))
            events.append(BidderLabelled(bidder.name, bidder.persona, player))
        for bidder in self.config.bidders:
            estimates = {item.name: to_cents(item.true_value * (1 + bidder.overestimate)) for item in self.items}
            personas = {self.personas[key].text: share for key, share in bidder.persona.items()}
            rivals = self._told(bidder) if bidder.theory_of_mind == "true" else {}
            budget = bidder.budget if self.items else Decimal(0)  # in the other games the rules say what there is
            events.append(BidderSeated(bidder.name, budget, estimates, personas, bidder.objective, rivals))
            if bidder.theory_of_mind != "none":
                texts = {key: persona.text for key, persona in self.catalog.items()}
                events.append(CatalogShown(bidder.name, texts))
        return events

    def _told(self, bidder: Bidder) -> dict[str, dict[str, float]]:
        """Give the true personas of a bidder's rivals as profiles.

        Of a rival without any, or with one that the catalog does not hold, there is nothing true to tell.
        """
        return {
            rival.name: traits.profile(traits.truth(rival.persona, self.catalog))
            for rival in self.config.bidders
            if rival.name != bidder.name and rival.persona and all(key in self.catalog for key in rival.persona)
        }

    def _player_name(self, bidder: Bidder) -> str:
        chat, settings = self.models[bidder.model]
        use = "simulated" if isinstance(chat, SimulatedChat) else settings.use
        return use if use == bidder.model else f"{use} ({bidder.model})"

    def _room(self, sale: Sale[Any], keep: Callable[[RawCall], None]) -> AuctionRoom:
        thinkers = [bidder.name for bidder in self.config.bidders if not bidder.agent and not bidder.rule]
        seats = [self._seat(number, bidder, sale, keep) for number, bidder in enumerate(self.config.bidders, start=1)]
        return AuctionRoom(sale, seats, thinkers, self.config.rules.reasks)

    def _seat(self, number: int, bidder: Bidder, sale: Sale[Any], keep: Callable[[RawCall], None]) -> Seat:
        notes = Notes()
        agent = self.agents.get(bidder.name)
        if agent is None:
            script = SCRIPTS[bidder.rule] if bidder.rule else None
            player = script(bidder, self.config.seed) if script else self._mind(bidder, sale, notes, keep)
            agent = BidderAgent(f"bidder_{number}", player, lambda: sale.seen_by(bidder.name))
        return Seat(f"seat_{number}", bidder.name, agent, bidder.timeout_seconds, notes)

    def _mind(self, bidder: Bidder, sale: Sale[Any], notes: Notes, keep: Callable[[RawCall], None]) -> GraphBidder:
        chat, settings = self.models[bidder.model]
        model = Mouthpiece(bidder.name, bidder.model, chat, settings, keep=keep, clock=sale.log.now)
        return GraphBidder(Mind(model, bidder, notes.begin))


def resolve_items(config: AuctionConfig) -> tuple[Item, ...]:
    """Give the items for sale, sampling houses where the settings ask for a sample; only the English auction has any.

    Raises:
        ConfigError: the catalog has fewer houses than demanded.
    """
    if config.rules.game != "english":
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


def _models_in_use(config: AuctionConfig) -> list[str]:
    return list(dict.fromkeys(bidder.model for bidder in config.bidders if not bidder.agent and not bidder.rule))


def _model(name: str, config: AuctionConfig, given: Mapping[str, BaseChatModel]) -> tuple[BaseChatModel, ModelSettings]:
    if name in given:
        settings = config.models.get(name) or ModelSettings()
        return given[name], settings.model_copy(update={"use": "given"})
    settings = settings_of(name, config.models, given)
    return open_chat(name, settings, config.seed), settings


def _check_given(what: str, given: Mapping[str, object], kind: type, wanted: Collection[str]) -> None:
    for name, value in given.items():
        if name not in wanted:
            raise ConfigError(f"run({what}=...) gives {name!r}, which no bidder uses; give one of {sorted(wanted)}")
        if not isinstance(value, kind):
            raise ConfigError(f"run({what}=...) gives {value!r} for {name!r}; give an object of {kind.__name__}")


def _check_bidder(bidder: Bidder, agents: Mapping[str, ChatAgent], personas: Mapping[str, Persona]) -> None:
    if bidder.agent and bidder.name not in agents:
        raise ConfigError(f"bidder {bidder.name!r} is played by an agent of yours; give it to run(agents=...)")
    for key in bidder.persona:
        try:
            find(personas, key)
        except ConfigError as error:
            raise ConfigError(f"bidder {bidder.name!r}: {error}") from error
