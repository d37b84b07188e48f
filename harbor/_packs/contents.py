"""The contents of a pack: its `pack.json`, its limits, and a check that an unpacked copy still matches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from harbor._core.basics.errors import HarborError, RunFolderError
from harbor._core.faces import __version__
from harbor._core.files.layout import (
    BATCHES,
    CALLS,
    CALLS_DAMAGED,
    CONFIG,
    DESIGN,
    DEVICE,
    EVENTS,
    EVENTS_CUT,
    FAILURE,
    GAMES,
    MANIFEST,
    MEMORY_LINES,
    RECORD,
    RESULTS,
)
from harbor._core.files.safe_files import MOST_RECORDS, check_folder, open_sent, read_sent
from harbor._core.log.log import read_log
from harbor._core.settings import Settings, check
from harbor._house.compared_log import Verdict
from harbor.evaluation._metrics.measurement import Measurement, fitting, measure

PACK = "pack.json"
CARD, CITATION = "README.md", "CITATION.cff"
EVENTS_TABLE, MEASUREMENTS_TABLE = "events.parquet", "measurements.parquet"
FORMAT = 1
"""Newest format of packs that this Harbor reads."""
SUFFIX = ".harbor.zip"
MOST_FILES = 200_000
"""The greatest number of files in a pack."""
MOST_BYTES = 32 * 2**30
"""The greatest number of bytes of all files in a pack together, unpacked."""
MOST_RATIO = 500
"""The greatest number of unpacked bytes per packed byte, if the pack has more than `SMALL` unpacked bytes.

JSON lines reach about 30, and at most 100, because each line has a digest. A zip bomb reaches 1,000.
"""
SMALL = 2**28
"""Unpacked bytes up to which `MOST_RATIO` does not apply."""
LARGEST_PACK_JSON = 64 * 2**20
"""The greatest number of bytes of a `pack.json`."""

Kind = Literal["run", "series", "experiment"]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Contents(Settings):
    """The contents of a pack: the SHA-256 of each file by its name. A `published` pack is for everyone."""

    format: int = Field(ge=1)
    kind: Kind
    published: bool
    harbor: str = Field(max_length=80)
    files: dict[str, Digest] = Field(max_length=MOST_FILES)


def read_contents(text: bytes, pack: str) -> Contents:
    """Parse the `pack.json` of a pack.

    Raises:
        RunFolderError: the text is no JSON, has a newer format, or lacks a field.
    """
    try:
        values = json.loads(text)
        version = values["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFolderError(f"pack {pack!r} has a {PACK} that can't be read; ask for the pack again") from error
    if isinstance(version, int) and version > FORMAT:
        raise RunFolderError(f"pack {pack!r} has format {version}, and this Harbor reads {FORMAT}; upgrade Harbor")
    try:
        return check(Contents, values, PACK)
    except HarborError as error:
        raise RunFolderError(f"pack {pack!r} can't be unpacked: {error}") from error


OF_A_RUN = (CONFIG, MANIFEST, EVENTS, CALLS, EVENTS_CUT, CALLS_DAMAGED, MEMORY_LINES, RECORD, FAILURE)
OF_THE_WHOLE = (DESIGN, RESULTS, BATCHES, CARD, CITATION, EVENTS_TABLE, MEASUREMENTS_TABLE)
_SLUG, _REPEAT, _AUCTION = "[a-z0-9-]{1,60}", "[0-9]{4,9}(-failed-[0-9]{1,9})?", "[0-9]{1,9}"
_PACKED = re.compile(
    f"({GAMES}/{_SLUG}/{_SLUG}/{_REPEAT}/)?({_AUCTION}/)?({'|'.join(map(re.escape, OF_A_RUN))})"
    f"|{'|'.join(map(re.escape, OF_THE_WHOLE))}"
)


def is_packed(name: str) -> bool:
    """Return whether a pack includes a file of this name in the folder of a run, a series or an experiment."""
    return _PACKED.fullmatch(name) is not None


def fault_of(name: str) -> str:
    """Describe the fault in the name of a file in a pack. Return "" if the name is valid."""
    if name != PACK and not is_packed(name):
        return "is no file that Harbor packs"
    return "is that of a device" if any(map(DEVICE.fullmatch, name.split("/"))) else ""


ABOUT = (".parquet", ".md", ".cff")
"""Suffixes of the files that repeat the logs and results in another form."""
_MEASUREMENTS = TypeAdapter(tuple[Measurement, ...])


def copy_checked(folder: Path) -> Verdict | None:
    """Check the files that came with the logs of an unpacked folder. Return None if there are none.

    Raises:
        RunFolderError: its `pack.json` or its results can't be read, or the folder contains a link.
    """
    check_folder(folder)
    verdicts = [*_files_checked(folder), *_results_checked(folder)]
    about = sorted(path.name for path in folder.iterdir() if path.suffix in ABOUT)
    unchecked = [sentence for one in verdicts for sentence in one.unchecked]
    if about and verdicts:
        unchecked.append(f"{', '.join(about)}: they are not made anew from the logs")
    wrong = next((one for one in verdicts if not one.follows), None)
    return wrong or (Verdict(True, verdicts[0].level, unchecked=tuple(unchecked)) if verdicts else None)


def _files_checked(folder: Path) -> Iterator[Verdict]:
    """Compare the files with the digests of the pack. Only a public copy must be unchanged; a run may have gone on."""
    if not (folder / PACK).is_file():
        return
    try:
        contents = read_contents(read_sent(folder / PACK, LARGEST_PACK_JSON), str(folder))
    except OSError as error:
        raise RunFolderError(f"{str(folder / PACK)!r} can't be read; unpack the pack again") from error
    changed = [(name, found) for name, found in _digests(folder, contents) if found != contents.files[name]]
    if changed and contents.published:
        name, found = changed[0]
        yield Verdict(False, "public", None, name, f"the digest {contents.files[name]} of {PACK}", found)
    words = f"{len(changed)} of {len(contents.files)} files have changed since they were packed"
    yield Verdict(True, "public" if contents.published else "rules", unchecked=(words,) if changed else ())


def _digests(folder: Path, contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield the digest of each file in the pack. Walk the folder, as a name may lead out of it."""
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in contents.files:
        if name not in there:
            yield name, "no file"
            continue
        with open_sent(there[name], MOST_BYTES) as opened:
            yield name, file_digest(opened, "sha256").hexdigest()


def _results_checked(folder: Path) -> Iterator[Verdict]:
    """Measure the public copy of a run again. Skip a series, which has no measurements, and an experiment."""
    if (folder / DESIGN).is_file() or not (folder / RESULTS).is_file():
        return
    try:
        results: dict[str, Any] = json.loads(read_sent(folder / RESULTS, MOST_RECORDS))
        harbor, given = str(results["harbor"]), _MEASUREMENTS.validate_python(results["measurements"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFolderError(f"{str(folder / RESULTS)!r} can't be read; unpack the pack again") from error
    if harbor != __version__:
        words = f"{RESULTS} was measured by harbor {harbor}, this is {__version__}"
        yield Verdict(True, "public", unchecked=(words,))
        return
    entries = read_log(folder / EVENTS).entries if (folder / EVENTS).is_file() else ()
    wanted = tuple(measure(fitting(entries), entries)) if entries else ()
    if differing := [pair for pair in zip(wanted, given, strict=False) if pair[0] != pair[1]]:
        expected, found = differing[0]
        yield Verdict(False, "public", None, RESULTS, _told(expected), _told(found))
    elif len(wanted) != len(given):
        yield Verdict(False, "public", None, RESULTS, f"{len(wanted)} measurements", f"{len(given)} measurements")
    yield Verdict(True, "public", unchecked=("the player of each bidder is as the copy says",))


def _told(one: Measurement) -> str:
    return _MEASUREMENTS.dump_json((one,), exclude_defaults=True).decode()[1:-1]
