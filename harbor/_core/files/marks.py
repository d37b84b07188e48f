"""Marks of the user's own folders: a keyed mark covers the settings and the manifest of each.

A folder that somebody sent has no such mark, and is data: Harbor reads it, and loads, contacts or pays nothing that it
names until the user says so. The key never leaves the user's state folder, so nobody else can make a mark; a copy of a
folder keeps its mark. The mark covers the files that make Harbor act, not its records. The auctions of a series, the
games of an experiment and their memories have no marks: the settings of the whole define them. Any other folder inside
one's own is not part of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as hmac
from pathlib import Path
from secrets import token_bytes
from tempfile import mkstemp

from harbor._core.basics.errors import ConfigError, RunFolderError
from harbor._core.files.layout import CONFIG, DESIGN, GAMES, MANIFEST, MEMORY, STORE
from harbor._core.files.safe_files import MOST_SETTINGS, make_private, read_sent, write_whole
from harbor._core.plugins.extensions import only_harbors


def own_place(variable: str, kind: str, usual: str, folder: str) -> Path:
    """Return the folder that an environment variable names, or Harbor's own folder for such files.

    Args:
        variable: such as ``HARBOR_CACHE``.
        kind: the XDG variable that names the base folder, such as ``XDG_CACHE_HOME``.
        usual: the base folder in the home folder without that variable, such as ``.cache``.
        folder: the name of Harbor's folder in the base folder.

    Raises:
        ConfigError: there is no home folder.
    """
    try:
        if named := os.environ.get(variable):
            return Path(named).expanduser().absolute()
        common = Path(os.environ.get(kind, ""))
        return (common if common.is_absolute() else Path.home() / usual) / folder
    except RuntimeError as error:
        raise ConfigError(f"there is no home for {folder!r} ({error}); name a folder in {variable}") from error


MARK = "mark"
KEY = "mark.key"
KEY_BYTES = 32
"""Bytes of the key, as many as SHA-256 gives."""
MOST_MARK = 2 * (2 * KEY_BYTES) + 1
"""The greatest number of bytes of a mark file: two marks, in hexadecimal, while a file is being replaced."""
COVERED = (CONFIG, DESIGN, MANIFEST, STORE)
"""The files that a mark covers, where they are."""
DEEPEST = 6
"""The most folders from an experiment down to a memory or an auction: games/ARM/CONDITION/0001/1/memory."""
_PART = re.compile(rf"({GAMES}/[^/]+/[^/]+/[0-9]{{4,}}/)?([0-9]+/)?({MEMORY}/)?")
"""The path from a marked folder to a part of it."""

_vouched: ContextVar[Path | None] = ContextVar("_vouched", default=None)


def write_settings(folder: Path, files: Mapping[str, bytes], marked: bool = True) -> None:
    """Write the settings and the manifest of a new folder of the user's; the mark that covers them comes first.

    They are not synced: the caller syncs the whole folder.

    Raises:
        ConfigError: there is no place for the key.
        OSError: they can't be written.
    """
    first = {MARK: _mark(_key_made(), files)} if marked else {}
    for name, content in {**first, **files}.items():
        write_whole(folder / name, content)


def replace_settings(folder: Path, name: str, content: bytes) -> None:
    """Replace a file that the mark of a folder of the user's covers.

    Both marks are there meanwhile, so that a crash leaves the folder the user's own, with the old file or the new one.

    Raises:
        ConfigError: there is no place for the key.
        OSError: it can't be written.
    """
    key, files = _key_made(), _covered(folder)
    then, now = _mark(key, files), _mark(key, {**files, name: content})
    write_whole(folder / MARK, then + b"\n" + now, synced=True)
    write_whole(folder / name, content, synced=True)
    write_whole(folder / MARK, now, synced=True)


def mark(folder: Path) -> None:
    """Mark a folder as the user's own, on the user's word.

    Raises:
        ConfigError: there is no place for the key.
        LogError: a file of it can't be read.
        OSError: it can't be written.
    """
    write_whole(folder / MARK, _mark(_key_made(), _covered(folder)), synced=True)


def is_own(folder: Path) -> bool:
    """Say whether a folder has a mark that the user's key made for its present settings."""
    key = _key()
    try:
        found, files = read_sent(folder / MARK, MOST_MARK).split(b"\n"), _covered(folder)
        return key is not None and bool(files) and any(compare_digest(one, _mark(key, files)) for one in found)
    except OSError:
        return False


def is_in_own(path: Path) -> bool:
    """Say whether a folder, or that of a file, is the user's own or lies in one that is: the nearest mark decides."""
    if is_vouched(path):
        return True
    here = path.resolve()
    here = here.parent if here.is_file() else here
    near = (here, *here.parents)[: DEEPEST + 1]
    marked = next((folder for folder in near if os.path.lexists(folder / MARK)), None)
    return marked is not None and _is_part(here, marked) and is_own(marked)


def _is_part(inside: Path, marked: Path) -> bool:
    """Say whether Harbor puts a part at this path; a folder that somebody unpacked there is none."""
    return _PART.fullmatch("".join(f"{name}/" for name in inside.relative_to(marked).parts)) is not None


def check_own(folder: Path, trust: bool = False) -> None:
    """Refuse a stranger's folder, so that its settings have no effect; with `trust`, mark it as the user's own.

    Raises:
        RunFolderError: it is a stranger's, or it can't be marked.
        ConfigError: there is no place for the key.
    """
    if is_own(folder):
        return
    if not trust:
        inside = " by itself (it is part of a folder that is: resume that)" if is_in_own(folder) else ""
        raise RunFolderError(
            f"{str(folder)!r} is not marked as yours{inside}: somebody else may have made it, or an earlier Harbor; if"
            " you trust what it names, give --trust (in Python trust=True), once"
        )
    try:
        mark(folder)
    except OSError as error:
        raise RunFolderError(f"{str(folder)!r} can't be marked ({error.strerror}); make it writable") from error


@contextmanager
def read_as_data(path: Path) -> Iterator[None]:
    """Load no package that a stranger's file or folder names, while it is read."""
    token = only_harbors.set(not is_in_own(path))
    try:
        yield
    finally:
        only_harbors.reset(token)


@contextmanager
def vouched(folder: Path) -> Iterator[None]:
    """Take a folder for the user's own: a worker, which may have no key, has the word of the driver."""
    token = _vouched.set(folder.absolute())
    try:
        yield
    finally:
        _vouched.reset(token)


def is_vouched(path: Path) -> bool:
    """Say whether a path is inside the folder that the driver vouches for, so that it needs no mark."""
    return _vouched.get() in (path.absolute(), *path.absolute().parents)


def _covered(folder: Path) -> dict[str, bytes]:
    found = {}
    for name in COVERED:
        with suppress(FileNotFoundError):
            found[name] = read_sent(folder / name, MOST_SETTINGS)
    return found


def _mark(key: bytes, files: Mapping[str, bytes]) -> bytes:
    """Make the mark: the HMAC of each file's name and digest, in a fixed order, so that no file can be another."""
    lines = (f"{name} {sha256(files[name]).hexdigest()}\n" for name in COVERED if name in files)
    return hmac(key, "".join(lines).encode(), "sha256").hex().encode()


def _key() -> bytes | None:
    """Read the key; return None if no key can be read: then all folders are strangers'."""
    try:
        return _read_key(_place())
    except (ConfigError, OSError):
        return None


def _key_made() -> bytes:
    """Read the key, or make it; if several processes make it at once, the first wins."""
    place = _place()
    try:
        with suppress(FileNotFoundError):
            return _read_key(place)
        make_private(place.parent, exist_ok=True)
        handle, draft = mkstemp(prefix=".", dir=place.parent)  # private from the start
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(token_bytes(KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(draft, place)
        finally:
            Path(draft).unlink()
        return _read_key(place)
    except OSError as error:
        raise ConfigError(
            f"the key of your marks can't be kept in {str(place)!r} ({error.strerror}); name a folder in HARBOR_STATE"
        ) from error


def _read_key(place: Path) -> bytes:
    key = place.read_bytes()
    if len(key) != KEY_BYTES:
        raise ConfigError(
            f"the key of your marks, {str(place)!r}, is damaged: it has {len(key)} bytes; remove it, and give --trust"
            " once for each folder of yours"
        )
    return key


def _place() -> Path:
    return own_place("HARBOR_STATE", "XDG_STATE_HOME", ".local/state", "harbor") / KEY
