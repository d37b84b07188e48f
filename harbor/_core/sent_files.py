"""The one door to files that somebody may have sent: links are not followed, and sizes are bounded before reading.

What is refused of a file is an `OSError` whose words are reason and remedy, as for any file that can't be read.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

from harbor._core.errors import RunFolderError

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
    """Open a file to read bytes; raises as `read_sent`."""
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
        ValueError: they can't be parsed, or they are.
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
