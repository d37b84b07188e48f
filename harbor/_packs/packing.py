"""Packs a run, a series or an experiment: whole for its owner, or a public copy of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from harbor._core.errors import RunFolderError
from harbor._core.marks import read_as_data
from harbor._core.sent_files import check_folder
from harbor._packs.archive import write_archive
from harbor._packs.card import UNKNOWN_LICENSE, Credits, write_card
from harbor._packs.contents import SUFFIX
from harbor._packs.gathering import files_of
from harbor._packs.publishing import PublicCopy, kind_of, publish

EASILY_GUESSED = 10**6


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
    """Pack the folder of a run, a series or an experiment into one new file, and give that.

    Args:
        folder: what is packed; it stays as it is.
        out: the file; by default it is beside the folder, with its name.
        public: pack a copy in which nothing is private, with a dataset card.
        license_: of a public pack, as hubs of data sets name it.
        authors: of a public pack, as it is to be cited.
        title: of a public pack; by default that of the experiment, or the name of the game.
        embedding: the model of its memories, if there is one: one that you trust.

    Raises:
        RunFolderError: it is no such folder, a process is running in it, or the file exists or can't be written.
        LogError: a log was edited.
        MemoryStoreError: a memory can't be opened.
        ConfigError: the license is no name of one, or an author or the title is no line of text.
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
    """Write the public copy, with tables if Parquet can be written."""
    with_tables = find_spec("pyarrow") is not None
    if with_tables:
        from harbor._packs.parquet_tables import COLUMNS, Tables
    else:
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
    """Make a folder for drafts beside the file, for its owner alone."""
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
