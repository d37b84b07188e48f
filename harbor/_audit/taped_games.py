"""Holds taped games on the real stack (room, graphs and memory), and compares two of them.

A tap is in each place that informs a seat. Games are compared by the information of their seats, until the public
events differ.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from langgraph.store.base import BaseStore

from harbor._audit.tape import (
    OF_THE_HOUSE,
    Channel,
    Parted,
    Script,
    Tape,
    TappedChat,
    TappedRules,
    TappedSeat,
    TappedStore,
    Told,
)
from harbor._config.auction import AuctionConfig
from harbor._core.basics.numbers import derive
from harbor._core.log.events import Event
from harbor._core.log.players import EventBuffer
from harbor._house.auctioneer import Sale
from harbor._models.calls.waiting import Waiting
from harbor._models.connections import OpenModel
from harbor._models.replies.cache import GameCache
from harbor._room.seats import OverheardAgent
from harbor._runs.folder import RunFolder
from harbor._runs.inputs import Listener, Result, RunInputs, anybody_remembers
from harbor._runs.memories import named
from harbor._runs.resolve import ResolvedAuction, ResolvedBidder
from harbor._runs.run import Run
from harbor._runs.seating import Seating, hold_in_room
from harbor.memory._bidder.bidder_memory import BidderMemory, open_store

if TYPE_CHECKING:
    from autogen_agentchat.base import ChatAgent

SEEDS = 2**32
"""The seeds of later auctions in a row are below this number."""
EARLIER = "What I remember of an earlier auction: patience was worth more than speed."
"""A memory from before the game."""


@dataclass(frozen=True, slots=True)
class Change:
    """One secret of one bidder, changed in the place where it is kept; the house is the owner "".

    `kind` is one of `SECRETS`. `config` has other settings. `resolved` changes the resolved auction, `reply` the
    replies of the owner's model, `memory` the texts of its memories, and `event` the events of the rules. `said` are
    other words of the owner's; they are public from the settlement `public_at` on (None: never).
    """

    kind: str
    owner: str = ""
    config: AuctionConfig | None = None
    resolved: Callable[[ResolvedAuction], ResolvedAuction] | None = None
    reply: Callable[[Any, str], None] | None = None
    memory: Callable[[str], str] | None = None
    event: Callable[[Event], Event] | None = None
    said: Script = field(default_factory=dict)
    public_at: int | None = None


NOTHING_CHANGED = Change("")


class TappedRun(Run):
    """An auction that is taped; with the tape of another game, `like`, its agents repeat their words of that game."""

    def __init__(self, config: AuctionConfig, tape: Tape, change: Change, like: Tape | None) -> None:
        super().__init__(config, RunInputs(models=_models(config, tape, change)))
        self.tape, self.change, self.like = tape, change, like
        auction = change.resolved(self.auction) if change.resolved else self.auction
        self.auction = replace(auction, rules=TappedRules(auction.rules, tape, change.event))

    async def run(
        self,
        folder: RunFolder | None,
        listen: Listener | None,
        store: BaseStore | None = None,
        name: str = "",
        series: str = "",
    ) -> Result:
        """Hold the auction in the room, even if only scripted policies play, to its end or until it parts."""
        with self._opened(folder, self.tape.hear, name) as sale:
            seating = partial(_seats, self)
            await hold_in_room(self.auction, self.chats, self.agents, sale, folder, store, series, seating)
            return Result(tuple(sale.log.entries), None)


def _models(config: AuctionConfig, tape: Tape, change: Change) -> dict[str, TappedChat]:
    """Make a model for each bidder that thinks; its settings stand under the same name."""
    models = {}
    for bidder in config.bidders:
        if bidder.uses_model:
            reply = change.reply if change.owner == bidder.name else None
            settings = config.models[bidder.model].simulated
            seed = derive(config.seed, "model", bidder.model)
            chat = TappedChat(settings=settings, seed=seed, bidder=bidder.name, tape=tape, change=reply)
            models[bidder.model] = chat
    return models


@dataclass(frozen=True, slots=True)
class _Taps(Seating):
    """Seats with a tap in each."""

    run: TappedRun

    def _agent(self, number: int, resolved: ResolvedBidder, buffer: EventBuffer, waiting: Waiting) -> ChatAgent:
        agent = Seating._agent(self, number, resolved, buffer, waiting)
        name, like, change = resolved.settings.name, self.run.like, self.run.change
        script: Script | None = None
        if like is not None:
            script = {**like.said[name], **(change.said if change.owner == name else {})}
        ear = TappedSeat(name, self.run.tape, script, like.failed[name] if like else set())
        return OverheardAgent(agent, ear)


def _seats(
    run: TappedRun,
    auction: ResolvedAuction,
    models: Mapping[str, OpenModel],
    agents: Mapping[str, object],
    sale: Sale[Any],
    folder: RunFolder | None,
    memories: Mapping[str, BidderMemory],
    age: tuple[int, ...],
    cache: GameCache | None,
) -> Seating:
    return _Taps(auction, models, agents, sale, folder, _tapped(memories, run), age, cache, run)


def _tapped(memories: Mapping[str, BidderMemory], run: TappedRun) -> dict[str, BidderMemory]:
    change = run.change
    return {
        name: replace(
            memory, store=TappedStore(memory.store, name, run.tape, change.memory if change.owner == name else None)
        )
        for name, memory in memories.items()
    }


async def hold(
    config: AuctionConfig, auctions: int, change: Change = NOTHING_CHANGED, like: Sequence[Tape] | None = None
) -> list[Tape]:
    """Hold a game, or several in a row whose bidders keep their memories, and return a tape of each.

    Args:
        config: the settings, with their items listed.
        auctions: the number of auctions to hold.
        change: the secret that is changed.
        like: the tapes of the game to compare with; answers and failures are repeated from them.
    """
    if not anybody_remembers(config):
        return await _row(config, auctions, change, like, None)
    async with open_store(config.memory, None) as store:
        await _remember(config, store, change)
        return await _row(config, auctions, change, like, store)


async def _row(
    config: AuctionConfig, auctions: int, change: Change, like: Sequence[Tape] | None, store: BaseStore | None
) -> list[Tape]:
    tapes: list[Tape] = []
    for number in range(auctions):
        tape = Tape(like=like[number].public if like else None)
        tapes.append(tape)
        changed = change.config or config
        if number:
            changed = changed.model_copy(update={"seed": derive(config.seed, "audit", str(number)) % SEEDS})
        try:
            with warnings.catch_warnings(action="ignore"):
                run = TappedRun(changed, tape, change, like[number] if like else None)
                await run.run(None, None, store, f"audit-{number}")
        except Parted:
            break
    return tapes


async def _remember(config: AuctionConfig, store: BaseStore, change: Change) -> None:
    """Store memories for each bidder that remembers."""
    for bidder in config.bidders:
        if bidder.remembers:
            memory = BidderMemory(store, bidder.name, "earlier", config.memory, named(config.rules.game))
            mine = f"{EARLIER} ({bidder.name})"
            text = change.memory(mine) if change.memory and change.owner == bidder.name else mine
            await memory.keep_learnings([text])
            await memory.keep_episodes([{"item": "an item", "text": text}])


AROUND = 60
"""Characters that are shown on each side of a difference."""
NEAR = 50
"""The greatest number of places between two things of a tape that count as swapped."""
BIDS = ("bid",)
"""Kinds of secrets whose change shows in public events."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference in the information of a seat: its channel, the texts around it, and earlier settlements."""

    channel: Channel
    before: str
    now: str
    settled: int


def differences(before: Tape, now: Tape, change: Change, seats: Sequence[str]) -> dict[str, Difference]:
    """Return the first difference of each seat that was told something else."""
    found = {}
    told_all = _public_leak(before, now, change)
    for seat in seats:
        one = _first(*(_secret(tape, now, seat, change) for tape in (before, now))) or told_all
        if one is not None:
            found[seat] = one
    return found


def _secret(tape: Tape, now: Tape, seat: str, change: Change) -> list[Told]:
    """Return the information of a seat before a public difference, a parted act, or the publication of a new bid."""
    ends = [end for end in (now.differs, now.parted) if end is not None]
    end = min(ends, default=max(len(tape.public), len(now.public)))
    last = min([inf if now.parted_at is None else now.parted_at + 1, change.public_at or inf])
    return [one for one in tape.told[seat] if one.public <= end and one.settled < last]


def _first(before: Sequence[Told], now: Sequence[Told]) -> Difference | None:
    for place in range(max(len(before), len(now))):
        then, told = (one[place] if place < len(one) else None for one in (before, now))
        if then is None or told is None:
            earlier, later = ("(nothing)" if one is None else around(one.text, 0) for one in (then, told))
            there = then or told or before[0]
            return Difference(there.channel, earlier, later, there.settled)
        if (then.channel, then.text) != (told.channel, told.text):
            after = [(one.channel, one.text) for one in now[place : place + NEAR]]
            usual = [(one.channel, one.text) for one in before[place : place + NEAR]]
            swapped = (then.channel, then.text) in after and (told.channel, told.text) in usual
            return _between("order" if swapped else told.channel, then.text, told.text, told.settled)
    return None


def _between(channel: Channel, before: str, now: str, settled: int) -> Difference:
    at = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
    return Difference(channel, around(before, at), around(now, at), settled)


def around(text: str, at: int) -> str:
    """Return the part of a text around a place."""
    shown = text[max(0, at - AROUND) : at + AROUND]
    return f"{'...' if at > AROUND else ''}{shown}{'...' if len(text) > at + AROUND else ''}"


def _public_leak(before: Tape, now: Tape, change: Change) -> Difference | None:
    """Return a public difference that no rules make: in the events of the house, or only in the order of events."""
    if now.differs is None or change.kind in BIDS or (now.parted is not None and now.parted <= now.differs):
        return None
    then, told = (_rest(tape.public, now.differs) for tape in (before, now))
    if not then or not told:
        return None
    if sorted(_words(then)) == sorted(_words(told)):
        return _between("order", repr(then[0]), repr(told[0]), now.settled_at(now.differs))
    if isinstance(then[0], OF_THE_HOUSE) and isinstance(told[0], OF_THE_HOUSE):
        return _between("event", repr(then[0]), repr(told[0]), now.settled_at(now.differs))
    return None


def _rest(public: Sequence[Event], start: int) -> list[Event]:
    """Return the public events from a place on, up to the next one of the house."""
    return list(_until_house(public[start:]))


def _until_house(events: Sequence[Event]) -> Iterator[Event]:
    for event in events:
        yield event
        if isinstance(event, OF_THE_HOUSE):
            return


def _words(events: Sequence[Event]) -> list[str]:
    return re.findall(r"[^\s,()\[\]{}]+", " ".join(map(repr, events)))
