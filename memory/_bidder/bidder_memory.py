"""One bidder's part of a store: what it stored after earlier auctions, and nothing of anybody else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages.utils import count_tokens_approximately
from langgraph.store.base import BaseStore, GetOp, Item, PutOp, SearchItem

from harbor._config.auction import MemorySettings
from harbor._core.log.thoughts import Memory, MemoryKind
from harbor.memory._bidder.episodes import Value

if TYPE_CHECKING:
    from harbor.memory._store.chroma import ChromaStore

SCHEMA = 1
CARRIED = "carried-over"
"""The scope of what is shared by all runs on one store."""
FIRST = "english"
"""The game whose memories stand in places that name no game: stores were there before other games had memories."""
EVERYTHING = 1_000_000


def label(name: str) -> str:
    """Turn any name into a label of a namespace; different names give different ones.

    >>> label("Ann B.")
    'ann-b-e2214cff'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return f"{plain}-{sha256(name.encode(errors='replace')).hexdigest()[:8]}".lstrip("-")


def open_store(settings: MemorySettings, folder: Path | None) -> ChromaStore:
    """Open the store that the settings name; without one, a store in the folder of the run, or one in memory.

    Raises:
        MemoryStoreError: it can't be opened.
    """
    from harbor.memory._store.chroma import (
        ChromaStore,
    )  # Chroma takes half a second to load, so only bidders that remember wait

    return ChromaStore(settings.store or folder, embedding=settings.embedding, fields=("text",))


@dataclass(frozen=True)
class BidderMemory:
    """The memories of one bidder; those of the current `auction` are not recalled.

    So an auction that stopped while its memories were stored recalls the same when it is resumed. `series` is that of
    the auction, if it is of one.
    """

    store: BaseStore
    bidder: str
    auction: str
    settings: MemorySettings = MemorySettings()
    game: str = FIRST
    series: str = ""

    def namespace(self, kind: MemoryKind, game: str = "") -> tuple[str, str, str]:
        """Name the place of one kind of memories of a game, by default that which is played: scope, bidder, kind."""
        own = (self.settings.carry_over == "series" and self.series) or self.auction
        scope = CARRIED if self.settings.carry_over is True else label(own)
        of_game = game or self.game
        return (scope if of_game == FIRST else f"{scope}-of-{label(of_game)}", label(self.bidder), kind)

    async def learnings(self) -> list[str]:
        """Give the list of learnings that was written last."""
        return [str(item.value["text"]) for item in await self._newest_list(self.game)]

    async def all_learnings(self) -> list[str]:
        """Give that list, and then those of the other games whose memories are to be recalled."""
        lists = [await self._newest_list(game) for game in (self.game, *self._others)]
        return [str(item.value["text"]) for items in lists for item in items]

    @property
    def _others(self) -> tuple[str, ...]:
        return tuple(game for game in self.settings.games if game != self.game)

    async def nearest_learnings(self, query: str) -> list[str]:
        """Give the k learnings of that list that are nearest in meaning."""
        found: list[SearchItem] = []
        for game in (self.game, *self._others):
            if newest := await self._newest_list(game):
                wanted = {"auction": newest[0].value["auction"]}
                found += await self._search("learning", game, query=query, filter=wanted, limit=self.settings.k)
        return [str(item.value["text"]) for item in self._nearest(found)]

    def _nearest(self, found: list[SearchItem]) -> list[SearchItem]:
        """Take the nearest of several games; of one game they are in order."""
        ordered = sorted(found, key=lambda item: -(item.score or 0)) if self._others else found
        return ordered[: self.settings.k]

    async def nearest_episodes(self, query: str) -> list[str]:
        """Give the k episodes that are nearest in meaning."""
        found: list[SearchItem] = []
        for game in (self.game, *self._others):
            found += await self._nearest_episodes(query, game)
        return [str(item.value["text"]) for item in self._nearest(found)]

    async def _nearest_episodes(self, query: str, game: str) -> list[SearchItem]:
        found = self._earlier(await self._search("episode", game, query=query, limit=self.settings.k))
        if len(found) < self.settings.k:  # some were of this auction: search again without them, which is slower
            others = {"auction": {"$ne": self.auction}}
            found = await self._search("episode", game, query=query, filter=others, limit=self.settings.k)
        return found

    async def dossiers(self, rivals: Iterable[str]) -> dict[str, Value]:
        """Give the dossier of each of these rivals that has one, as it was before this auction."""
        keys = {label(rival): rival for rival in rivals}
        items = await self.store.abatch([GetOp(self.namespace("dossier"), key) for key in keys])
        values = {keys[item.key]: item.value for item in items if isinstance(item, Item)}
        earlier = {
            rival: value if value["auction"] != self.auction else value["before"] for rival, value in values.items()
        }
        return {rival: value for rival, value in earlier.items() if value}

    async def everything(self, rivals: Iterable[str]) -> list[Memory]:
        """Give learnings, dossiers of these rivals and all episodes, newest first, as far as the tokens go."""
        memories = [Memory("learning", text) for text in await self.all_learnings()]
        memories += [Memory("dossier", value["text"]) for value in (await self.dossiers(rivals)).values()]
        of_games = [await self._search("episode", game) for game in (self.game, *self._others)]
        every = (item for items in of_games for item in self._earlier(items))
        episodes = sorted(every, key=_written)  # of equal times the last stored is newer
        memories += [Memory("episode", item.value["text"]) for item in reversed(episodes)]
        return _within(memories, self.settings.tokens)

    async def keep_learnings(self, learnings: Sequence[str]) -> None:
        """Store a list of learnings; the list before stays until the next one is stored."""
        stale = [item for item in await self._search("learning", self.game) if item.value["auction"] != self.auction]
        previous = await self._newest_list(self.game)
        await self._keep(
            "learning",
            {f"{self.auction}:{number:02}": {"text": text} for number, text in enumerate(learnings, start=1)},
            lambda _: "learned",
        )
        kept = {item.key for item in previous}
        await self.store.abatch([PutOp(item.namespace, item.key, None) for item in stale if item.key not in kept])

    async def keep_episodes(self, episodes: Iterable[Value]) -> None:
        """Store how the items of this auction went."""
        values = {f"{self.auction}:{episode['item']}": episode for episode in episodes}
        await self._keep("episode", values, _event_of)

    async def keep_dossiers(self, dossiers: Mapping[str, Value], before: Mapping[str, Value]) -> None:
        """Store the dossiers of rivals; each contains the dossier before it, for a resumed auction."""
        values = {
            label(rival): {**dossier, "before": _without(before.get(rival), "before")}
            for rival, dossier in dossiers.items()
        }
        await self._keep("dossier", values, _event_of_dossier)

    async def _keep(self, kind: MemoryKind, values: Mapping[str, Value], source: Callable[[Value], str]) -> None:
        """Store memories under keys of their own, so that to do it twice changes nothing more."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        where = {"auction": self.auction, "bidder": self.bidder, "time": now, "schema": SCHEMA}
        puts = [
            PutOp(self.namespace(kind), key, {**value, **where, "source": source(value)}, index=["text"])
            for key, value in values.items()
        ]
        await self.store.abatch(puts)

    async def _newest_list(self, game: str) -> list[SearchItem]:
        items = self._earlier(await self._search("learning", game))
        if not items:
            return []
        newest = max(items, key=_written).value["auction"]
        return [item for item in items if item.value["auction"] == newest]

    def _earlier(self, items: Iterable[SearchItem]) -> list[SearchItem]:
        return [item for item in items if item.value["auction"] != self.auction]

    async def _search(self, kind: MemoryKind, game: str, limit: int = EVERYTHING, **how: Any) -> list[SearchItem]:
        return await self.store.asearch(self.namespace(kind, game), limit=limit, **how)


def _event_of(episode: Value) -> str:
    """Name the event of the log that an episode comes from."""
    return str(episode.get("source", f"lot_closed: {episode['item']}"))


def _event_of_dossier(dossier: Value) -> str:
    """Name the events that a dossier comes from: the profile of the rival, or its bids if there is no profile."""
    return f"{'profiled' if dossier.get('profile') else 'acted'}: {dossier['rival']}"


def _without(value: Value | None, field: str) -> Value | None:
    return value and {name: one for name, one in value.items() if name != field}


def _written(item: SearchItem) -> datetime:
    return item.created_at


def _within(memories: Iterable[Memory], tokens: int) -> list[Memory]:
    """Take memories in order up to a budget of tokens, counted roughly: four characters each."""
    taken = []
    for memory in memories:
        tokens -= count_tokens_approximately([memory.text])
        if tokens < 0:
            break
        taken.append(memory)
    return taken
