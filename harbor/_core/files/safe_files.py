"""Reads and writes files safely: synced, private, and with a size limit where somebody may have sent them.

Flushing hands bytes to the operating system, which outlives a process that is killed. Only syncing hands them to the
disk. Syncing takes milliseconds, so only irreplaceable data is synced: a paid reply, a person's words.

Only their owner can read private files and folders, from the moment they are made, whatever the umask: they contain
budgets, thoughts, prompts and replies. A report has the usual mode: its folder keeps it private, and a user who copies
it out wants it to be read.

In files that somebody may have sent, links are not followed, and sizes are checked before reading. A refusal is
an `OSError` whose words are reason and remedy, as for any file that can't be read.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from errno import EMFILE, ENFILE
from io import BufferedReader
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import IO, Any

from harbor._core.basics.errors import RunFolderError


class SyncedFile:
    """A file to which lines are appended; each is flushed at once, and synced on request."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._written = self._synced = 0
        self._error: OSError | None = None
        self._one_at_a_time = Lock()
        self._syncing = ThreadPoolExecutor(1, "sync")  # its thread starts with the first call

    def append(self, line: bytes) -> None:
        """Append a line and flush it.

        Raises:
            OSError: it can't be written.
        """
        self._file.write(line)
        self._file.flush()
        self._written += 1

    def sync(self) -> None:
        """Wait until all lines are on the disk.

        Raises:
            OSError: lines can't be written to the disk. Later calls raise it too, because the operating system tells
                of the failure only once.
        """
        with self._one_at_a_time:
            if self._error is not None:
                raise self._error
            written = self._written
            if self._synced < written:
                try:
                    sync_data(self._file.fileno())
                except OSError as error:
                    self._error = error
                    raise
                self._synced = written

    def sync_soon(self) -> None:
        """Begin to sync in the thread of this file, so that no caller waits; `sync` tells whether it worked."""
        with suppress(RuntimeError):  # no more threads can be started: then `sync` does it
            self._syncing.submit(self.sync)

    def close(self) -> None:
        """Sync and close the file.

        Raises:
            OSError: lines can't be synced; it is closed all the same.
        """
        try:
            self.sync()
        finally:
            self._syncing.shutdown()  # its thread may sync right now
            self._file.close()


def sync_data(handle: int) -> None:
    """Sync the content and the length of a file, without its times; systems that can't do so sync those too.

    Raises:
        OSError: it can't be synced.
    """
    getattr(os, "fdatasync", os.fsync)(handle)


def sync_files(*paths: Path) -> None:
    """Sync written files, and the names in their folders.

    Raises:
        OSError: a file can't be synced.
    """
    for path in paths:
        with path.open("rb+") as written:  # Windows syncs only files open for writing
            os.fsync(written.fileno())
    for folder in {path.parent for path in paths}:
        sync_folder(folder)


def sync_folder(path: Path) -> None:
    """Sync the names in a folder, where the system can; Windows can't."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


FILE, FOLDER = 0o600, 0o700
"""Modes of private files and folders: the owner alone may read and write."""


def make_private(path: Path, exist_ok: bool = False) -> None:
    """Make a private folder; a missing parent, such as ``runs``, gets the mode of its own parent.

    Raises:
        FileExistsError: the folder is there, and `exist_ok` is false.
        OSError: it can't be made.
    """
    _make_parents(path.parent)
    path.mkdir(FOLDER, exist_ok=exist_ok)


def _make_parents(path: Path) -> None:
    if not path.exists():
        _make_parents(path.parent)
        path.mkdir(path.parent.stat().st_mode & 0o777, exist_ok=True)


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file to write bytes in it; a new file is private. `mode` is ``"xb"``, ``"ab"`` or ``"r+b"``.

    Raises:
        OSError: it can't be opened, or it is a link, which may lead out of a folder that somebody sent.
    """
    return open(path, mode, opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, FILE)


def write_whole(path: Path, content: bytes, private: bool = True, synced: bool = False) -> None:
    """Replace a file atomically: a crash leaves the old one or the new one.

    A report need not be `private`. Irreplaceable content is `synced`, and survives a power cut.
    """
    draft = path.with_name(f".{path.name[:50]}.{token_hex(8)}.draft")  # unique, so that no other draft has it
    try:
        with open_private(draft, "xb") if private else draft.open("xb") as file:
            file.write(content)
        if synced:
            sync_files(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    if synced:
        sync_folder(path.parent)


@contextmanager
def new_folder(path: Path, synced: bool = True) -> Iterator[Path]:
    """Make a private folder that exists with everything in it, or not at all, even if the program or the power stops.

    Yields:
        a draft folder for the files, beside the path. It is renamed to the path in the end. A draft that a sudden end
        has left is used again.

    Raises:
        FileExistsError: there is something at the path.
        OSError: it can't be made.
    """
    if os.path.lexists(path):
        raise FileExistsError(path)
    made = [path, *(parent for parent in path.parents if not parent.exists())]
    draft = path.with_name(f".{path.name[:200]}.draft")
    make_private(draft, exist_ok=True)
    yield draft
    if synced:
        sync_files(*draft.iterdir())
    draft.rename(path)
    if synced:
        for one in made:
            sync_folder(one.parent)


MOST_SETTINGS = 64 * 2**20
"""The most bytes of settings, manifests and designs; a design of 1,000 arms has about 1 MB."""
MOST_RECORDS = 512 * 2**20
"""The most bytes of a log, of recorded calls, and of the results of an experiment; 1,000 calls take about 10 MB."""
LONGEST_LINE = 32 * 2**20
"""The most bytes of a line in a log or in recorded calls."""
MOST_FILES = 2_000_000
"""The most files and folders in a folder; 100,000 games have about 500,000."""
DEEPEST = 100
"""The most lists and tables inside each other; Harbor's own settings have fewer than 20."""
_TOO_DEEP = f"it has lists or tables nested more than {DEEPEST} deep"


def read_sent(path: Path, most_bytes: int) -> bytes:
    """Read a file that may have been sent.

    Raises:
        OSError: it is not there; it is a link, a device or a pipe; or it is larger than `most_bytes`.
    """
    with open_sent(path, most_bytes) as file:
        content = file.read(most_bytes + 1)
    _check_size(path, len(content), most_bytes)  # it may have grown meanwhile
    return content


def open_sent(path: Path, most_bytes: int) -> BufferedReader:
    """Open a file that may have been sent, to read bytes; the errors are those of `read_sent`."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, which may lead anywhere: put a copy of the file in its place", path)
    # Without waiting: a pipe that nobody writes to would be waited for, for ever.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    found = os.fstat(file.fileno())
    try:
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file: put the file itself in its place", path)
        _check_size(path, found.st_size, most_bytes)
    except OSError:
        file.close()
        raise
    return file


def parsed(text: str | bytes, parse: Callable[[Any], Any] = json.loads) -> Any:
    """Parse settings, and refuse those that are nested too deep to walk over.

    Raises:
        ValueError: they can't be parsed, or are nested too deep.
    """
    try:
        values = parse(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    layer = [values]
    for _ in range(DEEPEST + 1):
        tables = [one.values() if isinstance(one, dict) else one for one in layer if isinstance(one, dict | list)]
        layer = [inner for table in tables for inner in table]
    if layer:
        raise ValueError(_TOO_DEEP)
    return values


def _check_size(path: Path, size: int, most_bytes: int) -> None:
    if size > most_bytes:
        told = f"it has {size:,} bytes, and at most {most_bytes:,} are read: ask for the file as Harbor wrote it"
        raise OSError(errno.EFBIG, told, path)


def check_folder(folder: Path) -> None:
    """Refuse a folder with a link, a device or a pipe anywhere in it, or with too many files.

    Raises:
        RunFolderError: it names the first, or the folder can't be read.
    """
    try:
        for number, entry in enumerate(_entries(folder)):
            if entry.is_symlink():
                raise RunFolderError(f"{entry.path!r} is a link, which may lead anywhere; put a copy in its place")
            if not entry.is_dir() and not entry.is_file():
                raise RunFolderError(f"{entry.path!r} is no plain file; take it away")
            if number >= MOST_FILES:
                raise RunFolderError(f"{str(folder)!r} has more than {MOST_FILES:,} files; give what Harbor wrote")
    except OSError as error:
        raise RunFolderError(f"{error.filename!r} can't be read ({error.strerror}); make it readable") from error


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        for entry in found:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path))


ALLOW_MORE = "too many files are open: allow more with `ulimit -n 4096`, or run less at once"

OUT_OF_HANDLES = frozenset({EMFILE, ENFILE})
"""The errors of a process, or a machine, that can open no more files."""


def remedy_of(error: BaseException, usual: str) -> str:
    """Return the remedy for an error at a file: the usual one, unless no more files may be opened."""
    if isinstance(error, OSError):
        return ALLOW_MORE if error.errno in OUT_OF_HANDLES else usual
    return ALLOW_MORE if _none_is_left() else usual  # SQLite tells no number


def _none_is_left() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in OUT_OF_HANDLES
    return False
