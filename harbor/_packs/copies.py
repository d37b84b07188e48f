"""Whether a copy that was unpacked still has what its pack had, and its results are those of its logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harbor._core.basics.errors import RunFolderError
from harbor._core.faces import __version__
from harbor._core.files.layout import DESIGN, EVENTS, RESULTS
from harbor._core.files.safe_files import MOST_RECORDS, check_folder, open_sent, read_sent
from harbor._core.log.log import read_log
from harbor._house.compared_log import Verdict
from harbor._packs.contents import LARGEST_PACK_JSON, MOST_BYTES, PACK, Contents, read_contents
from harbor.evaluation._metrics.measurement import Measurement, fitting, measure

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
