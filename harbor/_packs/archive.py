"""Writes a pack: a zip file whose bytes follow from the files alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from harbor._core.errors import RunFolderError
from harbor._core.how_far import steps
from harbor._core.version import __version__
from harbor._packs.contents import FORMAT, MOST_BYTES, MOST_FILES, PACK, SUFFIX, Contents, Kind
from harbor._packs.names import fault_of

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
UNIX = 3
CHUNK = 2**20


def write_archive(out: Path, files: Mapping[str, Path], kind: Kind, published: bool) -> None:
    """Write a new pack with these files, by their names in it; `pack.json` comes last.

    The times, the order and the rights in it are fixed, so equal files make equal packs. Only its owner can read the
    file, unless it is published.

    Raises:
        RunFolderError: the file exists or can't be written, or a name or the size would be refused by `unpack`.
    """
    _check(files)
    with _new_file(out, 0o644 if published else 0o600) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
        digests = {name: _add(archive, name, files[name]) for name in steps(sorted(files), "files packed")}
        contents = Contents(format=FORMAT, kind=kind, published=published, harbor=__version__, files=digests)
        archive.writestr(_entry(PACK), contents.model_dump_json(indent=1) + "\n")


def _check(files: Mapping[str, Path]) -> None:
    for name in files:
        if fault := fault_of(name):
            raise RunFolderError(f"file {name!r} can't be packed: its name {fault}; rename or remove it")
    if len(files) > MOST_FILES or sum(path.stat().st_size for path in files.values()) > MOST_BYTES:
        raise RunFolderError(f"{len(files):,} files are more than a pack may have; pack parts of it")


@contextmanager
def _new_file(out: Path, mode: int) -> Iterator[IO[bytes]]:
    """Open a draft beside the file; it gets the name once it is whole."""
    if out.exists():
        raise RunFolderError(f"{str(out)!r} exists; name a new file with --out, or remove it")
    draft = out.with_name(f".{out.name.removesuffix(SUFFIX)}-{token_hex(4)}.draft")
    try:
        with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), "w+b") as file:
            yield file
        draft.rename(out)
    except OSError as error:
        raise RunFolderError(f"{str(out)!r} can't be written ({error.strerror}); name another with --out") from error
    finally:
        draft.unlink(missing_ok=True)


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, FIXED_TIME)
    entry.create_system = UNIX
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    entry.compress_type = ZIP_DEFLATED
    return entry


def _add(archive: ZipFile, name: str, path: Path) -> str:
    """Add a file and give its digest."""
    entry, found = _entry(name), sha256()
    with path.open("rb") as read:
        entry.file_size = os.fstat(read.fileno()).st_size  # so that a large one gets the fields it needs
        with archive.open(entry, "w") as written:
            while chunk := read.read(CHUNK):
                found.update(chunk)
                written.write(chunk)
    return found.hexdigest()
