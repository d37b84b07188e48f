"""Packs a run, a series or an experiment into a zip file: the whole folder for its owner, or a public copy."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from filelock import FileLock, Timeout

from harbor._core.basics.errors import MemoryStoreError, RunFolderError
from harbor._core.basics.feedback import steps
from harbor._core.faces import __version__
from harbor._core.files.marks import read_as_data
from harbor._core.files.safe_files import check_folder
from harbor._packs.contents import FORMAT, MOST_BYTES, MOST_FILES, PACK, SUFFIX, Contents, Kind, fault_of, is_packed
from harbor._packs.dataset import COLUMNS, UNKNOWN_LICENSE, Credits, Tables, write_card
from harbor._packs.publishing import PublicCopy, kind_of, publish

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every entry, the earliest in the zip format, so that equal files make equal packs."""
UNIX = 3
"""The zip format's number for Unix, under which entries have Unix permissions."""
CHUNK = 2**20
"""Bytes that are read at once."""


def write_archive(out: Path, files: Mapping[str, Path], kind: Kind, published: bool) -> None:
    """Write a new pack with these files by their names in the pack. `pack.json` comes last.

    Times, order and permissions are fixed, so equal files make equal packs. Only the owner can read the pack, unless it
    is published.

    Raises:
        RunFolderError: the file exists or can't be written, or `unpack` would refuse a name or the size.
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
    """Open a draft beside `out`, and rename it when it is complete."""
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
    """Add a file and return its SHA-256."""
    entry, found = _entry(name), sha256()
    with path.open("rb") as read:
        entry.file_size = os.fstat(read.fileno()).st_size  # so that a large file gets the zip64 fields
        with archive.open(entry, "w") as written:
            while chunk := read.read(CHUNK):
                found.update(chunk)
                written.write(chunk)
    return found.hexdigest()


LOCKS, MARK, DRAFT = (".lock", "harbor.lock", "harbor.open"), "mark", ".draft"
DATABASE = "chroma.sqlite3"


def files_of(folder: Path, exports: Path, embedding: str | None) -> tuple[dict[str, Path], list[str]]:
    """Return the files of a private pack by their names in the pack, and the names of the files that are left out.

    Each memory is exported to `exports` as JSON lines. Its name in the pack is its folder with the ending ``.jsonl``.
    `embedding` is the trusted embedding model, needed if a memory uses one.

    Raises:
        RunFolderError: a process is running in the folder, or the folder has a link or a device.
        MemoryStoreError: a memory can't be opened.
    """
    found: dict[str, Path] = {}
    left_out: list[str] = []
    memories: list[Path] = []
    for path in _walked(folder, memories):
        if path.name in LOCKS:
            _check_idle(path)
        elif is_packed(name := path.relative_to(folder).as_posix()):
            found[name] = path
        elif path.name not in (MARK, PACK) and path.suffix != DRAFT:
            left_out.append(name)
    for number, memory in enumerate(memories):
        place = memory.relative_to(folder).as_posix()
        if is_packed(name := f"{place}.jsonl"):
            found[name] = exports / f"{number}.jsonl"
            _export(memory, found[name], embedding)
        else:
            left_out.append(place)
    return found, left_out


def _walked(folder: Path, memories: list[Path]) -> Iterator[Path]:
    """Yield the files at any depth, in order. Append folders of memories to `memories` instead."""
    for place, inner, names in os.walk(folder):
        here = Path(place)
        if DATABASE in names and here != folder:
            memories.append(here)
            inner.clear()
            continue
        inner.sort()
        for path in (here / name for name in sorted([*names, *inner])):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise RunFolderError(f"{str(path)!r} is a link or a device; put a copy in its place, or remove it")
        yield from (here / name for name in sorted(names))


def _check_idle(lock: Path) -> None:
    try:
        with FileLock(lock, timeout=0):
            pass
    except Timeout as error:
        raise RunFolderError(f"{str(lock.parent)!r} is being run by another process; wait until it ends") from error


def _export(memory: Path, lines: Path, embedding: str | None) -> None:
    from harbor.memory._store.chroma import open_existing, to_line

    try:
        with open_existing(str(memory), embedding) as store:
            records = sorted(store.records(), key=lambda record: (record.namespace, record.created, record.key))
    except MemoryStoreError as error:
        raise MemoryStoreError(f"{error}; a pack has memories as JSON lines, so it must be opened") from error
    with lines.open("w", encoding="utf-8") as file:
        file.writelines(to_line(record) + "\n" for record in records)


EASILY_GUESSED = 10**6
"""A public copy from a smaller seed gets a warning, as such a seed can be found by trial."""


def pack(
    folder: Path | str,
    out: Path | str | None = None,
    *,
    public: bool = False,
    license_: str = UNKNOWN_LICENSE,
    authors: Sequence[str] = (),
    title: str = "",
    embedding: str | None = None,
) -> Path:
    """Pack the folder of a run, a series or an experiment into a new file, and return its path.

    Args:
        folder: the folder to pack. It stays unchanged.
        out: the new file (None: beside the folder, under its name).
        public: True for a copy without private data and with a dataset card.
        license_: license of a public pack, in the spelling of dataset hubs.
        authors: authors of a public pack, for its citation.
        title: title of a public pack (empty: that of the experiment, or the name of the game).
        embedding: trusted embedding model of its memories, if they have one.

    Raises:
        RunFolderError: the folder is none of these, a process is running in it, or the file exists or can't be written.
        LogError: a log was edited.
        MemoryStoreError: a memory can't be opened.
        ConfigError: the license is no license name, or an author or the title is no single line.
    """
    path = Path(folder)
    credits_ = Credits(license_, authors, title)
    kind = kind_of(path)
    file = Path(out) if out else path.absolute().with_name(f"{path.absolute().name}{'-public' * public}{SUFFIX}")
    check_folder(path)
    with read_as_data(path), _drafts(file) as drafts:
        if public:
            copy = drafts / "copy"
            copy.mkdir()
            _make_public(path, copy, PublicCopy(kind, ""), credits_)
            path = copy
        files, left_out = files_of(path, drafts, embedding)
        write_archive(file, files, kind, public)
    if left_out:
        more = f" and {len(left_out) - 1:,} more" if left_out[1:] else ""
        warnings.warn(
            f"the pack leaves out {left_out[0]!r}{more}: it has what Harbor reads again; pages and tables can be made"
            " anew, and files of yours sent beside it",
            stacklevel=2,
        )
    return file


def _make_public(folder: Path, copy: Path, about: PublicCopy, credits_: Credits) -> None:
    """Write the public copy, with tables if pyarrow is installed."""
    with_tables = find_spec("pyarrow") is not None
    if not with_tables:
        warnings.warn(
            "the pack has no Parquet tables, only JSON lines; for both: pip install 'harbor-auctions[parquet]'",
            stacklevel=3,
        )
    with Tables(copy) if with_tables else nullcontext() as tables:
        for game in publish(folder, copy, about):
            if tables is not None:
                tables.add(game)
    if about.seed < EASILY_GUESSED:
        warnings.warn(
            f"seed {about.seed} is not in the pack, but easily guessed, and whoever knows it and the settings draws"
            " private values again; to rule that out, run it with a large random --seed",
            stacklevel=3,
        )
    about.title = credits_.title or about.title
    write_card(copy, about, COLUMNS if with_tables else {}, credits_)


@contextmanager
def _drafts(file: Path) -> Iterator[Path]:
    """Make a private folder for drafts beside the file."""
    if file.exists():
        raise RunFolderError(f"{str(file)!r} exists; name a new file with --out, or remove it")
    try:
        made = TemporaryDirectory(dir=file.absolute().parent, prefix=".harbor-pack-", ignore_cleanup_errors=True)
    except OSError as error:
        raise RunFolderError(f"{str(file)!r} can't be written ({error.strerror}); name another with --out") from error
    with made as drafts:
        try:
            yield Path(drafts)
        except OSError as error:
            raise RunFolderError(f"{str(file)!r} can't be packed ({error.strerror}); mend that, then repeat") from error
