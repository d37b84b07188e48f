"""Exports and imports kept replies: one JSON-lines file, with which anybody repeats the runs that made them.

A file that somebody sent is data: each line is checked before the first is kept. That a model gave these replies is the
word of whoever wrote the file, so they are kept as imported, and so are the calls that use them.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from harbor._core.errors import CacheError
from harbor._models.replies.reply_folder import LONGEST, Entry, NoEntry, ReplyFolder, read_entry

MOST_NAMED = 3


def export_entries(entries: Iterable[Entry], file: Path) -> int:
    """Write entries in a new file, packed if its name ends in .gz; give their number. Equal entries give equal bytes.

    Raises:
        CacheError: the file exists or can't be written.
    """
    number = 0
    try:
        with file.open("xb") as opened, _packed(opened, file) as writing:
            for number, entry in enumerate(entries, start=1):  # noqa: B007 - the last number counts them
                writing.write(_marked(entry, False).line)
    except FileExistsError as error:
        raise CacheError(f"{str(file)!r} exists; name a new file or remove it") from error
    except OSError as error:
        raise CacheError(f"{str(file)!r} can't be written ({error.strerror}); name another file") from error
    return number


def import_entries(folder: ReplyFolder, file: Path, trust: bool = False) -> tuple[int, int]:
    """Keep the entries of a file; give how many are new, and how many were there before, which stay as they are.

    Raises:
        CacheError: a line is no entry, its request is not what its address says, or some are new and whoever wrote them
            is not trusted; nothing is kept. Or the file can't be read, or the folder not be written.
    """
    strange = Counter(entry.model for entry in _entries(file) if folder.read(entry.reply.address) is None)
    if strange and not trust:
        models = ", ".join(f"{model!r}" for model, _ in strange.most_common(MOST_NAMED))
        raise CacheError(
            f"{str(file)!r} has {strange.total():,} replies, as of {models}, and only its writer says that they gave"
            " them; if you trust who did, give --trust: calls that use them are marked as imported"
        )
    new = old = 0
    for entry in _entries(file):
        if folder.read(entry.reply.address) is not None:
            old += 1
            continue
        try:
            folder.keep(_marked(entry, True))
        except OSError as error:
            raise CacheError(
                f"replies can't be kept in {str(folder.path)!r} ({error.strerror}); make room, then import again"
            ) from error
        new += 1
    return new, old


def _marked(entry: Entry, imported: bool) -> Entry:
    """Say of an entry whether it came from a file; an export does not, as whoever imports it says so."""
    return replace(entry, reply=replace(entry.reply, imported=imported))


def _entries(file: Path) -> Iterator[Entry]:
    try:
        with _opened(file) as reading:
            number = 0
            while line := reading.readline(LONGEST + 1):
                number += 1
                yield read_entry(line)
    except NoEntry as error:
        raise CacheError(f"{str(file)!r} line {number} {error}; nothing is imported, ask for the file anew") from error
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "it is cut short or was changed"
        raise CacheError(f"{str(file)!r} can't be read ({why}); give what harbor cache export wrote") from error


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as reading:
        yield reading  # type: ignore[misc]


@contextmanager
def _packed(opened: IO[bytes], file: Path) -> Iterator[IO[bytes]]:
    """Pack what is written, without name and time, so that equal entries give equal bytes."""
    if file.suffix != ".gz":
        yield opened
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=opened, mtime=0) as packed:
        yield packed  # type: ignore[misc]
