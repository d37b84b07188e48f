"""The contents of a pack: its `pack.json`, its size, and whether an unpacked copy still has all of them."""

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
SUFFIX = ".harbor.zip"
MOST_FILES = 200_000
MOST_BYTES = 32 * 2**30
"""The most bytes of all files of a pack together, unpacked."""
MOST_RATIO = 500
"""The most unpacked bytes per packed byte, once there are more than `SMALL` of them.

JSON lines come to about 30, and to 100 at most, as each has a digest. A bomb comes to 1,000.
"""
SMALL = 2**28
LARGEST_PACK_JSON = 64 * 2**20

Kind = Literal["run", "series", "experiment"]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Contents(Settings):
    """What is in a pack: the SHA-256 of each file by its name; `published` packs are for everyone."""

    format: int = Field(ge=1)
    kind: Kind
    published: bool
    harbor: str = Field(max_length=80)
    files: dict[str, Digest] = Field(max_length=MOST_FILES)


def read_contents(text: bytes, pack: str) -> Contents:
    """Read what a pack says of itself.

    Raises:
        RunFolderError: it is no JSON, of a newer format, or lacks something.
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
    """Tell whether a file of this name, in the folder of a run, a series or an experiment, belongs into a pack."""
    return _PACKED.fullmatch(name) is not None


def fault_of(name: str) -> str:
    """Say what is wrong with the name of a file in a pack; empty if nothing is."""
    if name != PACK and not is_packed(name):
        return "is no file that Harbor packs"
    return "is that of a device" if any(map(DEVICE.fullmatch, name.split("/"))) else ""


ABOUT = (".parquet", ".md", ".cff")
"""The files of a copy that tell in another form what its logs and results tell."""
_MEASUREMENTS = TypeAdapter(tuple[Measurement, ...])


def copy_checked(folder: Path) -> Verdict | None:
    """Check what came with the logs of a run, a series or an experiment that was unpacked; None: nothing did.

    Raises:
        RunFolderError: its pack.json or its results can't be read, or it has a link in it.
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
    """Compare the files with the digests of the pack: a public copy stays as it is, others may have gone on."""
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
    """Give the digest of each file that the pack lists; the folder is walked, as names may lead out of it."""
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in contents.files:
        if name not in there:
            yield name, "no file"
            continue
        with open_sent(there[name], MOST_BYTES) as opened:
            yield name, file_digest(opened, "sha256").hexdigest()


def _results_checked(folder: Path) -> Iterator[Verdict]:
    """Measure the public copy of a run anew; nothing is measured of a series, and an experiment has its own check."""
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
    yield Verdict(True, "public", unchecked=("what played each bidder is as the copy says",))


def _told(one: Measurement) -> str:
    return _MEASUREMENTS.dump_json((one,), exclude_defaults=True).decode()[1:-1]
