"""The memories of an auction are in a store that is open during the auction; each bidder has a part of the store.

A lost memory of a series is made again from the lines in a pack. Without them the series can't continue: its finished
auctions are not played again, so nothing else restores the memories of their bidders.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import warnings
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from langgraph.store.base import BaseStore, Op
from langgraph.store.base import Result as OpResult

from harbor._config.auction import AuctionConfig, MemorySettings
from harbor._core.basics.errors import MemoryStoreError, RunFolderError
from harbor._core.files.layout import MEMORY, MEMORY_LINES
from harbor._core.files.safe_files import sync_folder
from harbor._core.log.events import LogOpened
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Remembered
from harbor._core.plugins.finding import command, find
from harbor._games.game import Game
from harbor._runs.folder import RunFolder, complete
from harbor._runs.inputs import anybody_remembers
from harbor.memory._bidder.bidder_memory import BidderMemory, open_store
from harbor.memory._store.place import is_there, is_url

if TYPE_CHECKING:
    from harbor.memory._store.chroma import ChromaStore
    from harbor.memory._store.records import Record


@asynccontextmanager
async def memories(
    config: AuctionConfig, folder: RunFolder | None, given: BaseStore | None = None
) -> AsyncIterator[BaseStore | None]:
    """Open the store of the memories during the auction, if a bidder remembers and no store is given."""
    if given is not None or not anybody_remembers(config):
        yield given
        return
    async with AsyncExitStack() as stack:
        try:
            if config.memory.store is None:
                mine = await asyncio.to_thread(open_store, config.memory, folder.path / MEMORY if folder else None)
                store: BaseStore = await stack.enter_async_context(mine)
            else:
                opening = asyncio.ensure_future(asyncio.to_thread(_borrow, config.memory))
                stack.push_async_callback(_give_back, opening)
                store = (await asyncio.shield(opening)).store
        except MemoryStoreError as error:
            if config.memory.on_error == "stop":
                raise
            store = Unavailable(error)
        yield store


@dataclass
class _Lent:
    """A store that runs of this process share, and its number of users: a folder can be opened only once."""

    key: tuple[str, str]
    store: ChromaStore
    users: int = 0


_LENT: dict[tuple[str, str], _Lent] = {}
_ONE_AT_A_TIME = Lock()
"""Protects `_LENT`, which threads change."""


def _borrow(settings: MemorySettings) -> _Lent:
    """Open the store in the settings, once for all runs of this process."""
    where = str(settings.store)
    key = where if is_url(where) else str(Path(where).resolve()), settings.embedding
    with _ONE_AT_A_TIME:
        lent = _LENT.get(key) or _Lent(key, open_store(settings, None))
        lent.users += 1
        _LENT[key] = lent
        return lent


async def _give_back(opening: asyncio.Future[_Lent]) -> None:
    """Close a borrowed store after its last user; a cancelled caller waits until the store is open."""
    await asyncio.wait([opening])
    if not opening.cancelled() and opening.exception() is None:
        await asyncio.to_thread(_let_go, opening.result())


def _let_go(lent: _Lent) -> None:
    with _ONE_AT_A_TIME:
        lent.users -= 1
        if not lent.users:
            del _LENT[lent.key]
            lent.store.close()


class Unavailable(BaseStore):
    """A store that could not be opened: every access raises the error, and the auction goes on without memories."""

    def __init__(self, error: MemoryStoreError) -> None:
        self.error = error

    def batch(self, ops: Iterable[Op]) -> list[OpResult]:
        """Raise the error."""
        raise MemoryStoreError(str(self.error))

    async def abatch(self, ops: Iterable[Op]) -> list[OpResult]:
        """Raise the error."""
        return self.batch(ops)


def memories_of(
    config: AuctionConfig, store: BaseStore | None, auction: str, series: str = ""
) -> dict[str, BidderMemory]:
    """Return the part of the store of each bidder that remembers; `auction` is the current one, in `series`."""
    if store is None:
        return {}
    game, settings = named(config.rules.game), config.memory
    settings = settings.model_copy(update={"games": tuple(map(named, settings.games))})
    return {
        bidder.name: BidderMemory(store, bidder.name, auction, settings, game, series)
        for bidder in config.bidders
        if bidder.remembers
    }


def named(game: str) -> str:
    """Return a game's own name for any reference to it, so that all references share one memory."""
    found: Game = find("game", game)
    return found.name


DRAFT = f".{MEMORY}.draft"
"""Name of a memory that is still being made."""


def bring_back(config: AuctionConfig, series: Path, auctions: Sequence[Path]) -> None:
    """Make the lost memory of a series again from ``memory.jsonl``, with a warning; do nothing if none is lost.

    Args:
        config: the settings of the series.
        series: folder of the series.
        auctions: the folders of all its auctions, present or not.

    Raises:
        RunFolderError: an auction is still to come, and would lack memories.
        MemoryStoreError: the lines can't be read, or no memory can be made from them.
    """
    memory = series / MEMORY
    if config.memory.store is not None or is_there(memory):
        return
    over = [done.entries for path in auctions if (done := complete(path)) is not None]
    left = {
        (f"{opened.run}-{opened.token}", one.bidder)
        for entries in over
        for opened in of_type(entries[:1], LogOpened)
        for one in of_type(entries, Remembered)
        if any(one.kept.values())
    }
    records = list(_lines(series / MEMORY_LINES)) if left else []
    if left <= {(value.get("auction"), value.get("bidder")) for value in (record.content() for record in records)}:
        if records:
            _make(memory, records, config.memory.embedding)
            warnings.warn(f"the memory is made again from {str(series / MEMORY_LINES)!r}", stacklevel=4)
    elif len(over) < len(auctions):
        raise _missed(series, bool(records))


def _lines(file: Path) -> Iterator[Record]:
    from harbor.memory._store.chroma import read_lines

    if not file.is_file():
        return
    try:
        with file.open(encoding="utf-8") as opened:
            yield from read_lines(opened, repr(str(file)))
    except OSError as error:
        raise MemoryStoreError(f"{str(file)!r} can't be read ({error.strerror}); make it readable") from error


def _make(memory: Path, records: Sequence[Record], embedding: str) -> None:
    """Make a memory, whole or not at all."""
    from harbor.memory._store.chroma import ChromaStore

    draft = memory.with_name(DRAFT)
    shutil.rmtree(draft, ignore_errors=True)  # left over from a crash
    with ChromaStore(draft, embedding=embedding, fields=("text",)) as store:
        store.restore(records)
    try:
        draft.rename(memory)
    except OSError as error:
        raise MemoryStoreError(f"{str(memory)!r} has no database ({error.strerror}); remove it, then repeat") from error
    sync_folder(memory.parent)


def _missed(series: Path, is_old: bool) -> RunFolderError:
    lines = series / MEMORY_LINES
    why = f", and {MEMORY_LINES} lacks memories of an auction that is over" if is_old else ""
    copy = f"{command()} memory export RUN --out {shlex.quote(str(lines))}"
    return RunFolderError(
        f"{str(series / MEMORY)!r} is gone{why}, so the next auction would be held without its memories; put it"
        f" back, or write it where the run was made: {copy}"
    )
