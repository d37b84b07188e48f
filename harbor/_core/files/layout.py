"""Contents of the folders that Harbor writes, so that a command recognizes a folder before it imports a framework.

``config.json``, ``manifest.json``, ``events.jsonl`` and ``calls.jsonl`` are in the folder of a run, and of a series;
``experiment.json``, ``manifest.json``, ``games/`` and ``results.json`` in that of an experiment; ``key.json`` in one of
ratings; ``store.json`` in that of a memory.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from harbor._core.basics.errors import RatingError, RunFolderError
from harbor._core.files.safe_files import check_folder

CONFIG, MANIFEST, EVENTS, CALLS, MEMORY = "config.json", "manifest.json", "events.jsonl", "calls.jsonl", "memory"
MEMORY_LINES = "memory.jsonl"
"""File of a pack in place of a memory."""
EVENTS_CUT, CALLS_DAMAGED = "events-cut.jsonl", "calls-damaged.jsonl"
"""Lines that were removed from a log and from calls when a run was resumed."""
DESIGN, GAMES, RESULTS = "experiment.json", "games", "results.json"
RECORD, FAILURE = "record.json", "failure.json"
"""The measurements of a game of an experiment, and the reason for its failure."""
BATCHES = "batches.jsonl"
"""The jobs that sent several calls of an experiment together."""
KEY = "key.json"
STORE = "store.json"
DEVICE = re.compile("con|prn|aux|nul|(com|lpt)[0-9]")
"""Device names of Windows, which an arm or a condition can't have as a folder."""


def log_of(run: Path) -> Path:
    """Find the log of a run, given the folder or the log itself.

    Raises:
        RunFolderError: there is no log, or the folder has a link in it.
    """
    log = run / EVENTS if run.is_dir() else run
    if not log.is_file():
        raise no_run(run)
    if run.is_dir():
        check_folder(run)
    return log


def check_run(folder: Path) -> None:
    """Refuse a folder that is not the folder of a run or of a series.

    Raises:
        RunFolderError: the folder is of another kind, which the message names, or it has a link in it.
    """
    if not (folder / CONFIG).is_file() or not (folder / MANIFEST).is_file():
        raise no_run(folder)
    check_folder(folder)


def logs_in(folder: Path) -> list[Path]:
    """Find all logs in the folder of a run or of an experiment.

    Raises:
        RunFolderError: there is no log in the folder.
    """
    if folder.is_dir():
        check_folder(folder)
    elif not folder.exists():
        raise _nothing_at(folder)
    found = sorted(folder.rglob(EVENTS))
    if not found:
        raise RunFolderError(f"{str(folder)!r} contains no run; give the folder of a run or of an experiment")
    return found


def public_auctions(folder: Path) -> list[Path]:
    """Find the logs of the auctions of a public copy of a series, which has no log of its own; else none."""
    if (folder / EVENTS).is_file() or not (folder / RESULTS).is_file():
        return []
    check_folder(folder)
    return auction_logs(folder)


def auction_logs(series: Path) -> list[Path]:
    """Find the logs of the auctions of a series, in order: their folders are numbers, and any other is not Harbor's."""
    return sorted(log for log in series.glob(f"*/{EVENTS}") if log.parent.name.isdecimal())


def games_in(experiment: Path) -> list[Path]:
    """Find the folders of the games of an experiment that have begun; auctions of a series belong to its folder."""
    begun = sorted(log.parent for log in (experiment / GAMES).rglob(EVENTS) if log.stat().st_size)
    return [folder for folder in begun if not (folder.parent / EVENTS).is_file()]


def check_ratings(folder: Path) -> None:
    """Refuse a folder that is no folder of ratings.

    Raises:
        RatingError: the folder has no key.json, which tells whose record each blind sheet shows.
    """
    if not (folder / KEY).is_file():
        raise RatingError(f"{str(folder)!r} contains no {KEY}; give a folder that harbor rate sheets has made")
    check_folder(folder)


def check_experiment(folder: Path) -> None:
    """Refuse a folder that is not the folder of an experiment.

    Raises:
        RunFolderError: the folder is of another kind, which the message names.
    """
    if not (folder / DESIGN).is_file() or not (folder / MANIFEST).is_file():
        raise no_experiment(folder)
    check_folder(folder)


def _nothing_at(path: Path) -> RunFolderError:
    return RunFolderError(f"{str(path)!r} does not exist; give the folder of a run or of an experiment")


def begun_in(folder: Path) -> str:
    """Name the run or experiment that has begun in a folder, and the commands to go on; return "" if there is none."""
    here = shlex.quote(str(folder))
    if (folder / DESIGN).is_file():
        resume = f"resume it with: harbor experiment resume {here}"
        return f"is an experiment that has begun; see it with: harbor view {here}, or {resume}"
    if (folder / EVENTS).is_file():
        return f"is a run; see it with: harbor view {here}, or run it anew with: harbor auction {here}/{CONFIG}"
    return ""


def no_run(folder: Path) -> RunFolderError:
    """Return an error that a folder contains no run; it names the commands for an experiment if it is one."""
    if not folder.exists():
        return _nothing_at(folder)
    if auctions := public_auctions(folder):
        return RunFolderError(
            f"{str(folder)!r} is a public copy of a series; give the folder of one of its auctions, such as"
            f" {str(auctions[0].parent)!r}"
        )
    if not (folder / DESIGN).is_file():
        return RunFolderError(f"{str(folder)!r} contains no run ({CONFIG}, {MANIFEST}, {EVENTS}); give its folder")
    here = shlex.quote(str(folder))
    return RunFolderError(
        f"{str(folder)!r} is an experiment, not a single run; see it with: harbor view {here},"
        f" or resume it with: harbor experiment resume {here}"
    )


def no_experiment(folder: Path) -> RunFolderError:
    """Return the error for a folder without an experiment; for a run, the error names the commands for runs."""
    if not folder.exists():
        return _nothing_at(folder)
    if not (folder / EVENTS).is_file():
        return RunFolderError(f"{str(folder)!r} contains no experiment ({DESIGN}, {MANIFEST}); give its folder")
    here = shlex.quote(str(folder))
    return RunFolderError(
        f"{str(folder)!r} is a single run, not an experiment; see it with: harbor view {here},"
        f" or resume it with: harbor resume {here}"
    )
