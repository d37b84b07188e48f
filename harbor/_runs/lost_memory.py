"""The memory of a series that is gone: made again from the lines that a pack has of it, or missed.

The auctions that are over are not played again, so nothing else brings back what their bidders remember of them.
"""

from __future__ import annotations

import shlex
import shutil
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harbor._config.auction import AuctionConfig
from harbor._core.errors import MemoryStoreError, RunFolderError
from harbor._core.events import LogOpened
from harbor._core.finding import command
from harbor._core.layout import MEMORY, MEMORY_LINES
from harbor._core.log import of_type
from harbor._core.syncing import sync_folder
from harbor._core.thoughts import Remembered
from harbor._runs.folder import complete

if TYPE_CHECKING:
    from harbor.memory._store.records import Record

DRAFT = f".{MEMORY}.draft"


def bring_back(config: AuctionConfig, series: Path, auctions: Sequence[Path]) -> None:
    """Make the memory of a series again from ``memory.jsonl``, if its auctions left one that is gone; warns of it.

    Args:
        config: the settings of the series.
        series: its folder.
        auctions: the folders of all its auctions, whether or not they are there.

    Raises:
        RunFolderError: an auction is still to come, and would be held without what was remembered.
        MemoryStoreError: the lines can't be read, or no memory can be made of them.
    """
    from harbor.memory._store.place import is_there

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
    from harbor.memory._store.transfer import read_lines

    if not file.is_file():
        return
    try:
        with file.open(encoding="utf-8") as opened:
            yield from read_lines(opened, repr(str(file)))
    except OSError as error:
        raise MemoryStoreError(f"{str(file)!r} can't be read ({error.strerror}); make it readable") from error


def _make(memory: Path, records: Sequence[Record], embedding: str) -> None:
    """Make a memory that is there whole or not at all."""
    from harbor.memory._store.chroma import ChromaStore

    draft = memory.with_name(DRAFT)
    shutil.rmtree(draft, ignore_errors=True)  # a sudden end has left it
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
        f"{str(series / MEMORY)!r} is gone{why}, so the next auction would be held without what was remembered; put it"
        f" back, or write it where the run was made: {copy}"
    )
