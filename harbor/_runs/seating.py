"""Seating: who plays each bidder, and a seat in the room for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel

from harbor._config.auction import AuctionConfig, Bidder, ModelSettings
from harbor._core.notes import EventBuffer
from harbor._core.players import Player
from harbor._games.policies import SCRIPTS
from harbor._house.sale import Sale
from harbor._models.client import ModelClient
from harbor._models.replay import ReplayCache
from harbor._room.room import AuctionRoom
from harbor._room.seats import BidderAgent, Seat
from harbor._runs.folder import RunFolder
from harbor._runs.inputs import RunInputs
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.memory._bidder.bidder_memory import BidderMemory


@dataclass(frozen=True)
class Seating:
    """What the seats of a run are made of; `folder` is None for a run in memory, `archives` go by bidder."""

    config: AuctionConfig
    given: RunInputs
    models: Mapping[str, tuple[BaseChatModel, ModelSettings]]
    sale: Sale[Any]
    folder: RunFolder | None
    archives: Mapping[str, BidderMemory]

    def room(self) -> AuctionRoom:
        """Make the room with a seat for each bidder."""
        thinkers = [bidder.name for bidder in self.config.bidders if bidder.uses_model]
        learners = () if self.config.memory.frozen else tuple(self.archives)
        seats = [self._seat(number, bidder) for number, bidder in enumerate(self.config.bidders, start=1)]
        return AuctionRoom(self.sale, seats, thinkers, self.config.rules.reasks, learners=learners)

    def _seat(self, number: int, bidder: Bidder) -> Seat:
        notes = EventBuffer()
        agent = self.given.agents.get(bidder.name)
        if agent is None:
            player = self._player(bidder, notes)
            agent = BidderAgent(f"bidder_{number}", player, lambda: self.sale.seen_by(bidder.name))
        replay = self.folder.replay if self.folder else ReplayCache()
        return Seat(
            f"seat_{number}",
            bidder.name,
            agent,
            bidder.timeout_seconds,
            notes,
            quoted=bidder.agent or bidder.person,
            recorded=lambda: replay.turn(len(self.sale.log.entries) - 1, bidder.name),
        )

    def _player(self, bidder: Bidder, notes: EventBuffer) -> Player:
        if bidder.person:
            return self.given.people[bidder.name]
        return SCRIPTS[bidder.rule](bidder, self.config.seed) if bidder.rule else self._mind(bidder, notes)

    def _mind(self, bidder: Bidder, notes: EventBuffer) -> GraphBidder:
        chat, settings = self.models[bidder.model]
        model = ModelClient(
            bidder.name, bidder.model, chat, settings, clock=self.sale.log.now, budget=self.given.budget
        )
        if self.folder is not None:
            model.keep, model.replay = self.folder.keep, self.folder.replay
        game, archive = self.config.rules.game, self.archives.get(bidder.name)
        return GraphBidder(BidderContext(model, bidder, notes.begin, archive, game))
