"""Seating: who plays each bidder, and a seat in the room for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel

from harbor._config.auction import Bidder
from harbor._core.notes import EventBuffer
from harbor._core.players import Player
from harbor._house.sale import Sale
from harbor._models.client import ModelClient
from harbor._models.replay import ReplayCache
from harbor._room.room import AuctionRoom
from harbor._room.seats import BidderAgent, Seat
from harbor._runs.folder import RunFolder
from harbor._runs.resolve import ResolvedAuction, ResolvedBidder
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.memory._bidder.bidder_memory import BidderMemory

if TYPE_CHECKING:
    from autogen_agentchat.base import ChatAgent


@dataclass(frozen=True, slots=True)
class Seating:
    """What seats are made of; `folder` is None for a run in memory, `agents` and `memories` are by bidder."""

    auction: ResolvedAuction
    chats: Mapping[str, BaseChatModel]
    agents: Mapping[str, ChatAgent]
    sale: Sale[Any]
    folder: RunFolder | None
    memories: Mapping[str, BidderMemory]

    def room(self) -> AuctionRoom:
        """Make the room with a seat for each bidder."""
        config = self.auction.config
        thinkers = [bidder.name for bidder in config.bidders if bidder.uses_model]
        learners = tuple(
            bidder.settings.name
            for bidder in self.auction.bidders
            if any("end" in node.occasions for node in bidder.nodes)
        )
        seats = [self._seat(number, bidder) for number, bidder in enumerate(self.auction.bidders, start=1)]
        return AuctionRoom(self.sale, seats, thinkers, config.rules.reasks, learners=learners)

    def _seat(self, number: int, resolved: ResolvedBidder) -> Seat:
        buffer, bidder = EventBuffer(), resolved.settings
        agent = self.agents.get(bidder.name)
        if agent is None:
            player = resolved.policy or self._player(bidder, buffer)
            agent = BidderAgent(f"bidder_{number}", player, lambda: self.sale.seen_by(bidder.name))
        replay = self.folder.replay if self.folder else ReplayCache()
        return Seat(
            f"seat_{number}",
            bidder.name,
            agent,
            bidder.timeout_seconds,
            buffer,
            quoted=bool(bidder.agent) or bidder.person,
            recorded=lambda: replay.turn(len(self.sale.log.entries) - 1, bidder.name),
        )

    def _player(self, bidder: Bidder, buffer: EventBuffer) -> Player:
        if bidder.person:
            return self.auction.inputs.people[bidder.name]
        return self._graph(bidder, buffer)

    def _graph(self, bidder: Bidder, buffer: EventBuffer) -> GraphBidder:
        model = ModelClient(
            bidder.name,
            bidder.model,
            self.chats[bidder.model],
            self.auction.models[bidder.model],
            clock=self.sale.log.now,
            budget=self.auction.inputs.budget,
        )
        if self.folder is not None:
            model.keep, model.replay = self.folder.keep, self.folder.replay
        game, memory = self.auction.config.rules.game, self.memories.get(bidder.name)
        return GraphBidder(BidderContext(model, bidder, buffer.begin, memory, game))
