"""Unpacks a pack that anybody may have sent: all is checked before a byte is written, and again while it is."""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO
from zipfile import BadZipFile, LargeZipFile, ZipFile, ZipInfo

from harbor._core.errors import RunFolderError
from harbor._core.marks import is_in_own
from harbor._core.private_files import FOLDER, open_private
from harbor._packs.contents import LARGEST_PACK_JSON, PACK, SUFFIX, Contents, read_contents
from harbor._packs.directory import check_end, check_entries

CHUNK = 2**20
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
"""What the standard library raises of a file that is no zip, cut short, damaged or encrypted."""


def unpack(pack: Path, out: Path | None = None) -> Path:
    """Unpack a pack into a new folder, and give that; by default it is named as the file, in the current folder.

    It is a draft until all is there and every digest is right, so a pack that is refused leaves nothing behind.
    Folders and files are their owner's alone.

    Raises:
        RunFolderError: it is no pack, it was changed, it would touch what is outside of the folder, it is too large, or
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
    """Make a folder beside the one that is wanted, which gets its name in the end, or is removed."""
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
    """Read what the pack says of itself, and make sure that it names just what is there."""
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
    """Write a file, at most as long as was declared, and give its digest."""
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
    """Give the words of an error in one printable line."""
    words = " ".join(str(error).split())[:100]
    return words if words.isprintable() and words else type(error).__name__
