"""Checks the directory of a zip file before anything is unpacked: how many entries, of which names, kinds and sizes."""

from __future__ import annotations

import os
import stat
import struct
from collections import Counter
from collections.abc import Sequence
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipInfo

from harbor._core.errors import RunFolderError
from harbor._packs.contents import MOST_BYTES, MOST_FILES, MOST_RATIO, SMALL
from harbor._packs.names import fault_of

END, END_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q")
LOCATOR_64 = struct.Struct("<4sLQL")
MOST_BYTES_OF_ENTRY = 512
"""The most bytes that the directory has for an entry in the mean: a name, and what zip adds to it."""
ENCRYPTED = 0x1 | 0x40 | 0x2000


def check_end(file: IO[bytes]) -> None:
    """Refuse a file whose end is not that of a zip file, or tells of a directory too large to be read.

    A pack has nothing after its end, no comment either, so its end is in one place.

    Raises:
        BadZipFile: it is cut short or no zip file, or its directory is too large.
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
    """Read the end of a large zip file: how many entries, and how many bytes of directory; None of a small one."""
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
    """Refuse entries that Harbor does not write, that are no plain files, that are there twice, or that are a bomb.

    Args:
        entries: those of the directory.
        packed: bytes of the file.
        pack: its name, for complaints.

    Raises:
        RunFolderError: it names the first.
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
