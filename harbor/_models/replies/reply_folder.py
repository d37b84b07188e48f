"""A folder keeps replies, one small file each, found by the digest of the request; a file of lines carries them on.

``v1/ab/abcd….json`` is written whole under another name and then linked. So processes, machines that share the folder
and a sudden end do no harm, without locks: a file is there whole or not at all, and the first that is there stays.
Unreadable files and files of another version of Harbor are passed over.

With an exported file of JSON lines anybody repeats the runs that made them. A file that somebody sent is data: each
line is checked before the first is kept. That a model gave these replies is the word of the file's author, so they
are kept as imported, and so are the calls that use them.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from errno import EFBIG
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp
from typing import IO, Any

from pydantic import TypeAdapter

from harbor._core.basics.errors import CacheError
from harbor._core.files.marks import own_place
from harbor._core.files.safe_files import make_private

VERSION = 1
LONGEST = 32 * 2**20
"""The most bytes of a reply with its request; longer ones are neither kept nor read."""
ADDRESS = re.compile(r"[0-9a-f]{64}")
_OURS = re.compile(rf"v\d+/[0-9a-f]{{2}}/(?:{ADDRESS.pattern}\.json|\.[\w-]+\.draft)")
"""The names of files that Harbor writes there, drafts that a sudden end has left included; no other is removed."""
Asked = dict[str, Any]
"""A request, as JSON: the model with its settings, the words, and which draw of the reply it is."""


class NoEntry(ValueError):
    """Bytes that are no kept reply; the message says why."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; its arguments could be read."""

    name: str
    args: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A call of a tool whose arguments, the raw text, could not be read; `error` says why."""

    name: str | None = None
    args: str | None = None
    id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A provider's answer, word for word: the content, as text or in its blocks, with all tool calls."""

    content: str | list[str | dict[str, Any]]
    tool_calls: list[ToolCall]
    invalid_tool_calls: list[MalformedCall]


MESSAGE: TypeAdapter[Message | None] = TypeAdapter(Message | None)
"""Reads and writes a message as JSON."""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply as text, with its tokens, why the model stopped, and which model it was; `address` is where it is kept.

    The address is empty for a reply that is not kept. `message` is the whole of it where the text does not say it all.
    `imported`: it came here from a file, so nothing but that file says that the model gave it. `reasoning` are the
    model's thoughts before.
    """

    reply: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    finish: str = ""
    answered_by: str = ""
    address: str = ""
    message: Message | None = None
    imported: bool = False
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A kept reply with all that was asked, and when it was kept (UTC)."""

    asked: Asked
    reply: CachedReply
    when: str

    @property
    def model(self) -> str:
        """The model that was asked, as settings name it."""
        return str(self.asked["model"]["use"])

    @property
    def line(self) -> bytes:
        """The entry as one line of JSON; the address is the digest of the request, and `digest` that of all else.

        That it was imported is said of this folder, and stands beside the digest: the same entry has the same.
        """
        told = asdict(self.reply)
        address, imported = told.pop("address"), told.pop("imported")
        thought = {"reasoning"} if not told["reasoning"] else set()
        reply = {name: value for name, value in told.items() if value is not None and name not in thought}
        said = {"version": VERSION, "address": address, "when": self.when, "reply": reply}
        here = {"imported": True} if imported else {}
        return _json(said | here | {"digest": _digest(said), "request": self.asked}) + b"\n"


def new_entry(asked: Asked, reply: CachedReply) -> Entry:
    """Put a reply, which tells its address, to its request."""
    return Entry(asked, reply, datetime.now(UTC).isoformat(timespec="seconds"))


def place_of(asked: Asked) -> str:
    """Return the digest of a request, for any time in the game."""
    return _digest({"version": VERSION, "request": asked | {"number": None}})


def numbered(place: str, asked: Asked) -> str:
    """Return the address of a request with a known digest: equal requests share one, and no others do."""
    return _digest({"place": place, "number": asked["number"]})


def _digest(value: Asked) -> str:
    return sha256(_json(value)).hexdigest()


def _json(value: Asked) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def read_entry(line: bytes) -> Entry:
    """Read an entry, and check that it is whole and stands under its own address.

    Raises:
        NoEntry: it names the fault.
    """
    if len(line) > LONGEST:
        raise NoEntry(f"is longer than {LONGEST:,} bytes")
    try:
        said = json.loads(line)
        version = said["version"]
        if version != VERSION:
            raise NoEntry(f"was written by another version of Harbor (its format is {version!r}, not {VERSION})")
        return _entry(said)
    except NoEntry:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise NoEntry("is not a kept reply") from error


def _entry(said: Asked) -> Entry:
    digest, asked, imported = said.pop("digest"), said.pop("request"), bool(said.pop("imported", False))
    if numbered(place_of(asked), asked) != said["address"]:
        raise NoEntry("is not what its address says: its request was changed")
    if _digest(said) != digest:
        raise NoEntry("is not what its digest says: it was changed")
    message = MESSAGE.validate_python(said["reply"].pop("message", None))
    reply = CachedReply(**said["reply"], address=said["address"], message=message, imported=imported)
    when = datetime.fromisoformat(said["when"])
    texts = (reply.reply, reply.finish, reply.answered_by, reply.reasoning, asked["model"]["use"])
    counts = (reply.input_tokens, reply.output_tokens, reply.cached_tokens, reply.reasoning_tokens)
    if not all(isinstance(one, str) for one in texts) or not all(type(one) is int and one >= 0 for one in counts):
        raise TypeError
    return Entry(asked, reply, when.astimezone(UTC).isoformat(timespec="seconds"))


def own_folder() -> Path:
    """Return the folder of this machine: ``HARBOR_CACHE``, or ``harbor/replies`` where caches go.

    Raises:
        ConfigError: there is no home folder to put it in.
    """
    return own_place("HARBOR_CACHE", "XDG_CACHE_HOME", ".cache", "harbor/replies")


@dataclass(frozen=True, slots=True)
class ReplyFolder:
    """Kept replies in a folder, which is made when the first is kept; only its owner can read them."""

    path: Path

    def read(self, address: str) -> Entry | None:
        """Return the entry at an address; None: there is none that can be read."""
        if not ADDRESS.fullmatch(address):
            return None
        found = _read(self._file(address))
        return found if found is not None and found.reply.address == address else None

    def keep(self, entry: Entry) -> Entry:
        """Keep an entry unless its address has one; give the one that is there now.

        So games that ask the same at once go on with the same reply, as they will when they are run again.

        Raises:
            OSError: it can't be written.
        """
        file, line = self._file(entry.reply.address), entry.line
        if len(line) > LONGEST:
            raise OSError(EFBIG, os.strerror(EFBIG))
        for folder in (self.path, file.parent.parent, file.parent):
            make_private(folder, exist_ok=True)
        handle, name = mkstemp(prefix=".", suffix=".draft", dir=file.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as writing:
                writing.write(line)
            return self._put(draft, file, entry)
        finally:
            draft.unlink(missing_ok=True)

    def _put(self, draft: Path, file: Path, entry: Entry) -> Entry:
        try:
            os.link(draft, file)
            return entry
        except OSError:  # it is there, or the disk knows no links
            if (there := self.read(entry.reply.address)) is None:
                draft.replace(file)
            return there or entry

    def files(self) -> Iterator[tuple[Path, Entry | None]]:
        """Return the text that Harbor has written there; None if it can't be read or is of another version."""
        for file in sorted(self.path.glob("v*/??/*")):
            if _OURS.fullmatch(file.relative_to(self.path).as_posix()) and file.is_file():
                yield file, _read(file)

    def _file(self, address: str) -> Path:
        return self.path / f"v{VERSION}" / address[:2] / f"{address}.json"


def _read(file: Path) -> Entry | None:
    with suppress(OSError, NoEntry), file.open("rb") as reading:
        return read_entry(reading.read(LONGEST + 1))
    return None


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
        CacheError: a line is no entry, its request does not fit its address, or some are new and their author
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
    """Say of an entry whether it came from a file; an export does not, as its importer says so."""
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
    """Pack the lines, without name and time, so that equal entries give equal bytes."""
    if file.suffix != ".gz":
        yield opened
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=opened, mtime=0) as packed:
        yield packed  # type: ignore[misc]
