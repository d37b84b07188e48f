"""Seating chooses each bidder's player and makes a seat in the room for it. This module imports the frameworks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, cast

from langchain_core.language_models import BaseChatModel
from langgraph.store.base import BaseStore

from harbor._config.agents import FLUSH, AgentCommand
from harbor._config.auction import Bidder
from harbor._core.log.events import LogOpened
from harbor._core.log.log import of_type
from harbor._core.log.players import EventBuffer, Player
from harbor._doors.agent import is_chat_agent
from harbor._doors.open_doors import opened
from harbor._house.auctioneer import Sale
from harbor._models.batch.lane import BatchLine, in_batch, transport_of
from harbor._models.budget import AgentCosts
from harbor._models.calls.client import ModelClient
from harbor._models.calls.line import Line
from harbor._models.calls.waiting import Waiting
from harbor._models.connections import OpenModel, connected, shares_connections
from harbor._models.governor.local import governor
from harbor._models.replies.cache import LONGEST_WAIT, GameCache
from harbor._models.replies.replay import ReplayCache
from harbor._room.room import AuctionRoom
from harbor._room.seats import PlayerAgent, Seat
from harbor._runs.folder import RunFolder
from harbor._runs.memories import memories, memories_of
from harbor._runs.resolve import ResolvedAuction, ResolvedBidder
from harbor.graphs._context.context import BidderContext, form_of
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.memory._bidder.bidder_memory import BidderMemory

if TYPE_CHECKING:
    from autogen_agentchat.base import ChatAgent


Chats = Mapping[str, Mapping[str, BaseChatModel]]
_GAMES = count()
"""Numbers the games of this process."""


async def hold_in_room(
    auction: ResolvedAuction,
    chats: Chats,
    agents: Mapping[str, object],
    sale: Sale[Any],
    folder: RunFolder | None,
    store: BaseStore | None,
    series: str = "",
    seating: Callable[..., Seating] | None = None,
) -> None:
    """Hold a sale in the room, and keep connections, the memories' store and the doors to agents open meanwhile.

    Args:
        auction: the resolved auction.
        chats: the models by name, and by the variables of their keys if they have several.
        agents: the agents by bidder, of any make.
        sale: open, with its first events in the log.
        folder: the folder of the run, if any.
        store: store of the memories; None: the one that the settings name.
        series: the series of the sale, with its token, if any.
        seating: makes the seats, with the arguments of `Seating` (None: a `Seating`).
    """
    log = of_type(sale.log.entries[:1], LogOpened)[0]  # a resumed run keeps its name and token
    batch = auction.inputs.batch
    transport = None if batch is None else partial(transport_of, batch)
    own = connected(_of_this_run(auction, chats), transport)
    doors = opened(agents, auction.config.rules.game, log)
    async with memories(auction.config, folder, store) as open_store, own, doors as players:
        mine = memories_of(auction.config, open_store, f"{log.run}-{log.token}", series)
        replay = folder.replay if folder else ReplayCache()
        open_to_all = [bidder.name for bidder in auction.config.bidders if form_of(bidder) is None]
        models = {
            name: OpenModel.of(
                name, by_key, settings if batch is None else in_batch(settings), replay.form(name, open_to_all)
            )
            for name, by_key, settings in ((name, by_key, auction.models[name]) for name, by_key in chats.items())
        }
        age = auction.inputs.age or (next(_GAMES),)
        wait = LONGEST_WAIT if batch is None else inf  # a batch may take a day
        cache = auction.inputs.cache.of_game(auction.config.seed, wait) if auction.inputs.cache else None
        seats = (seating or Seating)(auction, models, players, sale, folder, mine, age, cache)
        await seats.room().run_to_end()


def _of_this_run(auction: ResolvedAuction, chats: Chats) -> list[BaseChatModel]:
    """Return the models whose connections end with the run: all but the caller's that have connections of their own."""
    given = auction.inputs.models
    every = ((name, chat) for name, by_key in chats.items() for chat in by_key.values())
    return [chat for name, chat in every if name not in given or shares_connections(chat)]


@dataclass(frozen=True, slots=True)
class Seating:
    """The parts of the seats; `folder` is None for a run in memory, `agents` and `memories` are by bidder.

    `age` orders the games that use one provider: the lowest goes first.
    """

    auction: ResolvedAuction
    models: Mapping[str, OpenModel]
    agents: Mapping[str, object]
    sale: Sale[Any]
    folder: RunFolder | None
    memories: Mapping[str, BidderMemory]
    age: tuple[int, ...]
    cache: GameCache | None

    def room(self) -> AuctionRoom:
        """Return the room with a seat for each bidder."""
        auction = self.auction
        seats = [self._seat(number, bidder) for number, bidder in enumerate(auction.bidders, start=1)]
        return AuctionRoom(self.sale, seats, auction.thinkers, auction.config.rules.reasks, learners=auction.learners)

    def _seat(self, number: int, resolved: ResolvedBidder) -> Seat:
        buffer, bidder, waiting = EventBuffer(), resolved.settings, Waiting()
        replay, log = self.folder.replay if self.folder else ReplayCache(), self.sale.log
        quoted = bool(bidder.agent) or bidder.person
        return Seat(
            f"seat_{number}",
            bidder.name,
            self._agent(number, resolved, buffer, waiting),
            bidder.timeout_seconds,
            buffer,
            quoted=quoted,
            own=not bidder.agent and resolved.policy is None,
            recorded=lambda: replay.turn(len(log.entries) - 1, bidder.name),
            decided=lambda: log.is_decided and not quoted,  # an unrecorded turn of a quoted seat was not heard
            waited=lambda: waiting.seconds,
            clock=log.now,
            costs=self._costs(bidder),
            late=FLUSH if isinstance(bidder.agent, AgentCommand) else "",
        )

    def _costs(self, bidder: Bidder) -> AgentCosts | None:
        """Open the account of an agent; other players report no calls."""
        if not bidder.agent:
            return None
        models, budget = self.auction.config.models, self.auction.inputs.budget
        return AgentCosts(models, budget, self.folder.keep) if self.folder else AgentCosts(models, budget)

    def _agent(self, number: int, resolved: ResolvedBidder, buffer: EventBuffer, waiting: Waiting) -> ChatAgent:
        """Return the agent of a bidder: its own, or one for the door, the policy, the person or the graph."""
        name = resolved.settings.name
        agent = self.agents.get(name)
        if is_chat_agent(agent):
            return cast("ChatAgent", agent)
        player = cast(Player, agent) or resolved.policy or self._player(resolved.settings, buffer, waiting)
        return PlayerAgent(f"bidder_{number}", player, lambda: self.sale.seen_by(name))

    def _player(self, bidder: Bidder, buffer: EventBuffer, waiting: Waiting) -> Player:
        if bidder.person:
            return self.auction.inputs.people[bidder.name]
        return self._graph(bidder, buffer, waiting)

    def _graph(self, bidder: Bidder, buffer: EventBuffer, waiting: Waiting) -> GraphBidder:
        inputs = self.auction.inputs
        opened = self.models[bidder.model]
        line = partial(
            Line if inputs.batch is None else BatchLine,
            age=self.age,
            waiting=waiting,
            governor=inputs.governor or governor(),
        )
        fallback = self.models[opened.settings.fallback].pool(line) if opened.settings.fallback else None
        pool = opened.pool(line, fallback)
        model = ModelClient(bidder.name, opened.name, opened.chat, opened.settings, pool=pool)
        if inputs.batch is not None:
            inputs.batch.bidders.append(waiting)
        model.clock, model.budget = self.sale.log.now, inputs.budget
        model.cache = self.cache
        model.reply = form_of(bidder)
        model.play_on = self.auction.config.failed_calls == "play on"
        if self.folder is not None:
            model.keep, model.replay = self.folder.keep, self.folder.replay
        game, memory = self.auction.config.rules.game, self.memories.get(bidder.name)
        seed, judged = self.auction.config.seed, self.auction.config.judges(bidder)
        return GraphBidder(BidderContext(model, bidder, buffer.begin, memory, game, seed, judged=judged))
