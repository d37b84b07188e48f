"""One bidder's part of a store: its own memories of earlier auctions. Other bidders' memories are out of reach."""

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
"""Version of the stored values."""
CARRIED = "carried-over"
"""Scope that all runs on one store share."""
FIRST = "english"
"""Game without its name in a namespace: older stores hold memories of this game alone."""
EVERYTHING = 1_000_000
"""Search limit, in memories, that no namespace reaches."""


def label(name: str) -> str:
    """Turn any name into a label for a namespace. Different names get different labels.

    >>> label("Ann B.")
    'ann-b-e2214cff'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return f"{plain}-{sha256(name.encode(errors='replace')).hexdigest()[:8]}".lstrip("-")


def open_store(settings: MemorySettings, folder: Path | None) -> ChromaStore:
    """Open the store that the settings name, by default a store in the folder of the run. None as `folder`: in memory.

    Raises:
        MemoryStoreError: the store can't be opened.
    """
    from harbor.memory._store.chroma import (
        ChromaStore,
    )  # Chroma takes half a second to load, so only bidders that remember wait

    return ChromaStore(settings.store or folder, embedding=settings.embedding, fields=("text",))


@dataclass(frozen=True)
class BidderMemory:
    """One bidder's memories of earlier auctions, in a LangGraph store.

    Memories that the bidder stored in the current `auction` are never returned. So a resumed auction recalls the same
    memories as before, even if it was interrupted while it stored its own. `game` is the name of the current game.
    `series` is the name of the series of auctions to which the auction belongs (empty: it belongs to none).

    >>> from langgraph.store.memory import InMemoryStore
    >>> BidderMemory(InMemoryStore(), "Ann", "first").namespace("learning")
    ('carried-over', 'ann-17239b6e', 'learning')
    """

    store: BaseStore
    bidder: str
    auction: str
    settings: MemorySettings = MemorySettings()
    game: str = FIRST
    series: str = ""

    def namespace(self, kind: MemoryKind, game: str = "") -> tuple[str, str, str]:
        """Return the namespace in the store that has the bidder's memories of one kind from a game.

        The namespace is (scope, bidder, kind). The scope is shared by the auctions whose memories the bidder may
        recall: all auctions that use the store, those of one series, or the current auction alone, as the setting
        `carry_over` says. Each game has scopes of its own. If `game` is empty, the current game is meant.
        """
        own = (self.settings.carry_over == "series" and self.series) or self.auction
        scope = CARRIED if self.settings.carry_over is True else label(own)
        of_game = game or self.game
        return (scope if of_game == FIRST else f"{scope}-of-{label(of_game)}", label(self.bidder), kind)

    async def learnings(self) -> list[str]:
        """Return the learnings (lessons in words) from the list that the bidder stored last in the current game."""
        return [str(item.value["text"]) for item in await self._newest_list(self.game)]

    async def all_learnings(self) -> list[str]:
        """Return the learnings that the bidder stored last in the current game, then those of the other games.

        The setting `games` of the memory lists the other games.
        """
        lists = [await self._newest_list(game) for game in (self.game, *self._others)]
        return [str(item.value["text"]) for items in lists for item in items]

    @property
    def _others(self) -> tuple[str, ...]:
        return tuple(game for game in self.settings.games if game != self.game)

    async def nearest_learnings(self, query: str) -> list[str]:
        """Return the learnings that are nearest in meaning to `query`, the nearest first.

        Of each game, only the list that the bidder stored last is searched. At most `k` learnings are returned, as the
        settings of the memory say.
        """
        found: list[SearchItem] = []
        for game in (self.game, *self._others):
            if newest := await self._newest_list(game):
                wanted = {"auction": newest[0].value["auction"]}
                found += await self._search("learning", game, query=query, filter=wanted, limit=self.settings.k)
        return [str(item.value["text"]) for item in self._nearest(found)]

    def _nearest(self, found: list[SearchItem]) -> list[SearchItem]:
        """Return the nearest k memories. Those of one game are already in order; those of several games are sorted."""
        ordered = sorted(found, key=lambda item: -(item.score or 0)) if self._others else found
        return ordered[: self.settings.k]

    async def nearest_episodes(self, query: str) -> list[str]:
        """Return the episodes (memories of single sales) that are nearest in meaning to `query`, the nearest first.

        At most `k` episodes are returned, as the settings of the memory say.
        """
        found: list[SearchItem] = []
        for game in (self.game, *self._others):
            found += await self._nearest_episodes(query, game)
        return [str(item.value["text"]) for item in self._nearest(found)]

    async def _nearest_episodes(self, query: str, game: str) -> list[SearchItem]:
        found = self._earlier(await self._search("episode", game, query=query, limit=self.settings.k))
        if len(found) < self.settings.k:  # this auction's episodes took places: search without them, which is slower
            others = {"auction": {"$ne": self.auction}}
            found = await self._search("episode", game, query=query, filter=others, limit=self.settings.k)
        return found

    async def dossiers(self, rivals: Iterable[str]) -> dict[str, Value]:
        """Return, by rival, the dossiers that the bidder had on these rivals before this auction.

        A dossier is all that the bidder remembers about one rival. Rivals without a dossier are left out.
        """
        keys = {label(rival): rival for rival in rivals}
        items = await self.store.abatch([GetOp(self.namespace("dossier"), key) for key in keys])
        values = {keys[item.key]: item.value for item in items if isinstance(item, Item)}
        earlier = {
            rival: value if value["auction"] != self.auction else value["before"] for rival, value in values.items()
        }
        return {rival: value for rival, value in earlier.items() if value}

    async def everything(self, rivals: Iterable[str]) -> list[Memory]:
        """Return the learnings, the dossiers on these rivals and all episodes (the newest first).

        The list is cut where the next memory would exceed the number of tokens that the settings allow.
        """
        memories = [Memory("learning", text) for text in await self.all_learnings()]
        memories += [Memory("dossier", value["text"]) for value in (await self.dossiers(rivals)).values()]
        of_games = [await self._search("episode", game) for game in (self.game, *self._others)]
        every = (item for items in of_games for item in self._earlier(items))
        episodes = sorted(every, key=_written)  # the sort is stable: at equal times the last stored is newest
        memories += [Memory("episode", item.value["text"]) for item in reversed(episodes)]
        return _within(memories, self.settings.tokens)

    async def keep_learnings(self, learnings: Sequence[str]) -> None:
        """Store the bidder's learnings after this auction.

        The list from before this auction stays in the store until another auction stores its list, so that this auction
        can be resumed with the same memories.
        """
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
        """Store the episodes of this auction: for each item, a memory of its sale."""
        values = {f"{self.auction}:{episode['item']}": episode for episode in episodes}
        await self._keep("episode", values, _event_of)

    async def keep_dossiers(self, dossiers: Mapping[str, Value], before: Mapping[str, Value]) -> None:
        """Store the bidder's new dossiers: for each rival, what the bidder remembers about it after this auction.

        Each new dossier contains the rival's old dossier from `before`, so that a resumed auction can still recall the
        old one.
        """
        values = {
            label(rival): {**dossier, "before": _without(before.get(rival), "before")}
            for rival, dossier in dossiers.items()
        }
        await self._keep("dossier", values, _event_of_dossier)

    async def _keep(self, kind: MemoryKind, values: Mapping[str, Value], source: Callable[[Value], str]) -> None:
        """Store memories under fixed keys, so storing them twice has the same effect as once."""
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
    """Name the log event behind an episode."""
    return str(episode.get("source", f"lot_closed: {episode['item']}"))


def _event_of_dossier(dossier: Value) -> str:
    """Name the log events behind a dossier: the rival's profile, or its bids if there is no profile."""
    return f"{'profiled' if dossier.get('profile') else 'acted'}: {dossier['rival']}"


def _without(value: Value | None, field: str) -> Value | None:
    return value and {name: one for name, one in value.items() if name != field}


def _written(item: SearchItem) -> datetime:
    return item.created_at


def _within(memories: Iterable[Memory], tokens: int) -> list[Memory]:
    """Return memories in order until the budget of tokens is spent. The count is rough: four characters a token."""
    taken = []
    for memory in memories:
        tokens -= count_tokens_approximately([memory.text])
        if tokens < 0:
            break
        taken.append(memory)
    return taken
