"""A folder keeps replies, one small file each, under the digest of the request; a file of lines exports them.

``v1/ab/abcd….json`` is written whole under another name and then linked. So other processes, machines that share the
folder and a sudden end do no harm without locks: a file is there whole or not at all, and the first file stays.
Unreadable files and files from another version of Harbor are passed over.

An exported file of JSON lines lets anybody repeat the runs that made it. A file from somebody else is data: each line
is checked before the first is kept. Only the file's writer says that a model gave these replies, so the replies and the
calls that use them are marked as imported.
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

VERSION = 1  # of the format of an entry
LONGEST = 32 * 2**20
"""Limit of bytes for a reply with its request; a longer entry is neither kept nor read."""
ADDRESS = re.compile(r"[0-9a-f]{64}")  # a SHA-256 digest
_OURS = re.compile(rf"v\d+/[0-9a-f]{{2}}/(?:{ADDRESS.pattern}\.json|\.[\w-]+\.draft)")
"""Names of the files that Harbor writes there, including drafts left by a sudden end; no other file is removed."""
Asked = dict[str, Any]
"""A request as JSON: the model with its settings, the words, and the number of the draw."""


class NoEntry(ValueError):
    """Says why some bytes are no kept reply."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call whose arguments could be read."""

    name: str
    args: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A tool call whose arguments `args`, a raw text, could not be read; `error` says why."""

    name: str | None = None
    args: str | None = None
    id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A provider's answer word for word: the content, as text or blocks, with all tool calls."""

    content: str | list[str | dict[str, Any]]
    tool_calls: list[ToolCall]
    invalid_tool_calls: list[MalformedCall]


MESSAGE: TypeAdapter[Message | None] = TypeAdapter(Message | None)
"""Reads and writes a message as JSON."""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply as text, with its tokens, the stop reason and the answering model; `address` is its place in the cache.

    The address is empty for a reply that is not kept. `message` is the whole answer if the text lacks some of it.
    `imported` says that the reply came from a file, which alone says that the model gave it. `reasoning` holds the
    model's thoughts.
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
    """A kept reply with its request and the time (UTC) when it was kept."""

    asked: Asked
    reply: CachedReply
    when: str

    @property
    def model(self) -> str:
        """The name of the asked model in its settings."""
        return str(self.asked["model"]["use"])

    @property
    def line(self) -> bytes:
        """The entry as one line of JSON; `address` is the digest of the request, and `digest` of all else.

        `imported` depends on the folder, so it stands outside the digest: equal entries have equal digests.
        """
        told = asdict(self.reply)
        address, imported = told.pop("address"), told.pop("imported")
        thought = {"reasoning"} if not told["reasoning"] else set()
        reply = {name: value for name, value in told.items() if value is not None and name not in thought}
        said = {"version": VERSION, "address": address, "when": self.when, "reply": reply}
        here = {"imported": True} if imported else {}
        return _json(said | here | {"digest": _digest(said), "request": self.asked}) + b"\n"


def new_entry(asked: Asked, reply: CachedReply) -> Entry:
    """Make an entry from a request and its reply, which has its address, with the time now."""
    return Entry(asked, reply, datetime.now(UTC).isoformat(timespec="seconds"))


def place_of(asked: Asked) -> str:
    """Return the digest of a request without its number in the game."""
    return _digest({"version": VERSION, "request": asked | {"number": None}})


def numbered(place: str, asked: Asked) -> str:
    """Return the address of a request from its digest `place`; only equal requests share an address."""
    return _digest({"place": place, "number": asked["number"]})


def _digest(value: Asked) -> str:
    return sha256(_json(value)).hexdigest()


def _json(value: Asked) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def read_entry(line: bytes) -> Entry:
    """Read an entry, and check that it is whole and has its own address.

    Raises:
        NoEntry: the line is no valid entry; the message says why.
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
    """Return the folder of this machine: ``HARBOR_CACHE``, or ``harbor/replies`` in the user's cache folder.

    Raises:
        ConfigError: there is no home folder.
    """
    return own_place("HARBOR_CACHE", "XDG_CACHE_HOME", ".cache", "harbor/replies")


@dataclass(frozen=True, slots=True)
class ReplyFolder:
    """A folder of kept replies. It is made with the first reply, and only its owner can read it."""

    path: Path

    def read(self, address: str) -> Entry | None:
        """Return the entry at an address; None if no readable entry is there."""
        if not ADDRESS.fullmatch(address):
            return None
        found = _read(self._file(address))
        return found if found is not None and found.reply.address == address else None

    def keep(self, entry: Entry) -> Entry:
        """Keep an entry unless its address has one; return the entry that is there now.

        So games that ask the same at once go on with the same reply, as they will when they run again.

        Raises:
            OSError: the entry can't be written.
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
        except OSError:  # the file exists, or the disk has no links
            if (there := self.read(entry.reply.address)) is None:
                draft.replace(file)
            return there or entry

    def files(self) -> Iterator[tuple[Path, Entry | None]]:
        """Return Harbor's files there with their entries; None for a file that is unreadable or of another version."""
        for file in sorted(self.path.glob("v*/??/*")):
            if _OURS.fullmatch(file.relative_to(self.path).as_posix()) and file.is_file():
                yield file, _read(file)

    def _file(self, address: str) -> Path:
        return self.path / f"v{VERSION}" / address[:2] / f"{address}.json"


def _read(file: Path) -> Entry | None:
    with suppress(OSError, NoEntry), file.open("rb") as reading:
        return read_entry(reading.read(LONGEST + 1))
    return None


MOST_NAMED = 3  # models in the message about an untrusted file


def export_entries(entries: Iterable[Entry], file: Path) -> int:
    """Write entries to a new file (gzipped for a name with .gz) and return their number. Equal entries: equal bytes.

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
    """Keep the entries of a file; return the numbers of new entries and of old ones, which stay unchanged.

    Raises:
        CacheError: a line is no entry or does not match its address, or the file has new entries and no `trust`;
            nothing is kept. Or the file can't be read, or the folder can't be written.
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
    """Mark whether an entry came from a file. An export clears the mark, because the import sets it."""
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
    """Gzip the output without name and time, so that equal entries give equal bytes."""
    if file.suffix != ".gz":
        yield opened
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=opened, mtime=0) as packed:
        yield packed  # type: ignore[misc]
