"""Unpacks a pack from an untrusted sender. It checks the directory before it writes, and each file while it writes."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from harbor._core.basics.errors import RunFolderError
from harbor._core.files.marks import is_in_own
from harbor._core.files.safe_files import FOLDER, open_private
from harbor._packs.contents import (
    LARGEST_PACK_JSON,
    MOST_BYTES,
    MOST_FILES,
    MOST_RATIO,
    PACK,
    SMALL,
    SUFFIX,
    Contents,
    fault_of,
    read_contents,
)

END, END_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q")
LOCATOR_64 = struct.Struct("<4sLQL")
MOST_BYTES_OF_ENTRY = 512
"""The greatest number of bytes of the directory per entry on average: a name and its zip fields."""
ENCRYPTED = 0x1 | 0x40 | 0x2000
"""The zip flags for encryption, strong encryption and an encrypted directory."""


def check_end(file: IO[bytes]) -> None:
    """Refuse a file without a zip end record, or with a directory that is too large to read.

    A pack has no bytes after its end record, not even a comment, so the record has only one possible place.

    Raises:
        BadZipFile: the file is truncated or no zip file, or its directory is too large.
    """
    size = file.seek(0, os.SEEK_END)
    if size < END.size:
        raise BadZipFile("no zip file, or cut short")
    file.seek(size - END.size)
    signature, _, _, _, count, length, _, comment = END.unpack(file.read(END.size))
    if signature != b"PK\x05\x06" or comment:
        raise BadZipFile("no zip file, or cut short")
    count, length = _end_64(file, size) or (count, length)
    if count > MOST_FILES or length > MOST_FILES * MOST_BYTES_OF_ENTRY or length > size:
        raise BadZipFile(f"{count:,} entries are more than a pack may have")
    file.seek(0)


def _end_64(file: IO[bytes], size: int) -> tuple[int, int] | None:
    """Return the number of entries and the bytes of the directory from a zip64 end. Return None if there is none."""
    locator = size - END.size - LOCATOR_64.size
    if locator < END_64.size:
        return None
    file.seek(locator)
    if file.read(4) != b"PK\x06\x07":
        return None
    file.seek(locator - END_64.size)
    found = END_64.unpack(file.read(END_64.size))
    if found[0] != b"PK\x06\x06":
        raise BadZipFile("no zip file, or cut short")
    return found[7], found[8]


def check_entries(entries: Sequence[ZipInfo], packed: int, pack: str) -> None:
    """Refuse entries that Harbor does not write, that are no plain files, that occur twice, or that form a zip bomb.

    Args:
        entries: the entries in the directory.
        packed: bytes of the packed file.
        pack: name of the pack, for messages.

    Raises:
        RunFolderError: an entry is refused. The message names the first.
    """
    for entry in entries:
        if fault := _fault(entry):
            raise RunFolderError(f"pack {pack!r} has the entry {entry.orig_filename!r}, which {fault}; don't trust it")
    if twice := [name for name, count in Counter(entry.filename for entry in entries).items() if count > 1]:
        raise RunFolderError(f"pack {pack!r} has the entry {twice[0]!r} twice; don't trust it")
    size = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_FILES or size > MOST_BYTES or (size > SMALL and size > packed * MOST_RATIO):
        raise RunFolderError(
            f"pack {pack!r} of {packed:,} bytes would have {len(entries):,} files and {size:,} bytes; don't trust it"
        )


def _fault(entry: ZipInfo) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.orig_filename != entry.filename:
        return "has a hidden end"
    if fault := fault_of(entry.filename):
        return fault
    if kind not in (0, stat.S_IFREG) or entry.external_attr & 0x10:
        return "is no plain file, but a link, a folder or a device"
    if entry.flag_bits & ENCRYPTED:
        return "is encrypted"
    return "" if entry.compress_type in (ZIP_STORED, ZIP_DEFLATED) else "is compressed in an unknown way"


CHUNK = 2**20
"""Bytes that are read at once."""
UNREADABLE = (
    BadZipFile,
    LargeZipFile,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    struct.error,
    ValueError,
    zlib.error,
)
"""Errors of the standard library for a file that is no zip, truncated, damaged or encrypted."""


def unpack(pack: Path, out: Path | None = None) -> Path:
    """Unpack a pack into a new folder, and return its path (default: the pack's name, in the current folder).

    Files go to a draft folder until every digest is right, so a refused pack leaves nothing behind.
    Only the owner can read the folders and files.

    Raises:
        RunFolderError: it is no pack, it was changed, it would write outside the folder, it is too large, or
            the folder exists or can't be written.
    """
    folder = out or Path(pack.name.removesuffix(SUFFIX).removesuffix(".zip"))
    with _opened(pack) as file:
        with _readable(pack):
            check_end(file)
        with _draft_of(folder) as draft, _readable(pack), ZipFile(file) as archive:
            _unpack_into(draft, archive, os.fstat(file.fileno()).st_size, str(pack))
    return folder


@contextmanager
def _readable(pack: Path) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise RunFolderError(
            f"pack {str(pack)!r} can't be read ({_said(error)}); give what harbor pack wrote, or ask for it again"
        ) from error


@contextmanager
def _opened(pack: Path) -> Iterator[IO[bytes]]:
    if not pack.is_file():
        raise RunFolderError(f"pack {str(pack)!r} is no file; give what harbor pack wrote")
    try:
        file = pack.open("rb")
    except OSError as error:
        raise RunFolderError(f"pack {str(pack)!r} can't be read ({error.strerror}); make it readable") from error
    with file:
        yield file


@contextmanager
def _draft_of(folder: Path) -> Iterator[Path]:
    """Make a draft folder beside `folder`. Rename it at the end, or remove it after an error."""
    if folder.exists() or folder.is_symlink():
        raise RunFolderError(f"output folder {str(folder)!r} exists; name a new one with --out")
    if is_in_own(folder):
        raise RunFolderError(
            f"output folder {str(folder)!r} would be a part of a run of yours; name another with --out"
        )
    draft = folder.with_name(f".{folder.name}-{token_hex(4)}.draft")
    try:
        draft.mkdir(FOLDER)
        yield draft
        draft.rename(folder)
    except OSError as error:
        raise RunFolderError(
            f"output folder {str(folder)!r} can't be written ({error.strerror}); name another with --out"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _unpack_into(draft: Path, archive: ZipFile, packed: int, pack: str) -> None:
    entries = {entry.filename: entry for entry in archive.infolist()}
    check_entries(archive.infolist(), packed, pack)
    contents = _contents(archive, entries, pack)
    for name, digest in contents.files.items():
        if _write(archive, entries[name], draft) != digest:
            raise RunFolderError(f"pack {pack!r}: {name!r} does not match its digest; ask for the pack again")
    _write(archive, entries[PACK], draft)


def _contents(archive: ZipFile, entries: Mapping[str, ZipInfo], pack: str) -> Contents:
    """Read the `pack.json` of a pack, and check that it lists exactly the entries of the archive."""
    if PACK not in entries:
        raise RunFolderError(f"{pack!r} is no pack: it has no {PACK}; give what harbor pack wrote")
    if entries[PACK].file_size > LARGEST_PACK_JSON:
        raise RunFolderError(f"pack {pack!r} has a {PACK} of {entries[PACK].file_size:,} bytes; ask for the pack again")
    with archive.open(entries[PACK]) as opened:
        contents = read_contents(opened.read(LARGEST_PACK_JSON), pack)
    listed, there = set(contents.files), set(entries) - {PACK}
    if unlisted := sorted(there - listed):
        raise RunFolderError(f"pack {pack!r} has {unlisted[0]!r}, which its {PACK} does not list; ask for it again")
    if missing := sorted(listed - there):
        raise RunFolderError(f"pack {pack!r} lacks {missing[0]!r}, which its {PACK} lists; ask for it again")
    return contents


def _write(archive: ZipFile, entry: ZipInfo, draft: Path) -> str:
    """Write a file, with at most the declared number of bytes, and return its SHA-256."""
    path = draft.joinpath(*entry.filename.split("/"))
    _make(path.parent)
    found, size = sha256(), 0
    with open_private(path, "xb") as written, archive.open(entry) as read:
        while chunk := read.read(CHUNK):
            size += len(chunk)
            if size > entry.file_size:
                raise BadZipFile(f"{entry.filename!r} is longer than declared")
            found.update(chunk)
            written.write(chunk)
    return found.hexdigest()


def _make(folder: Path) -> None:
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(FOLDER)


def _said(error: BaseException) -> str:
    """Return the message of an error in one printable line."""
    words = " ".join(str(error).split())[:100]
    return words if words.isprintable() and words else type(error).__name__
