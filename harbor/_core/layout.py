"""What the folders that Harbor writes contain, by which a command knows what it is given before it imports a framework.

``config.json``, ``manifest.json``, ``events.jsonl`` and ``calls.jsonl`` are in the folder of a run, and of a series;
``experiment.json``, ``manifest.json``, ``games/`` and ``results.json`` in that of an experiment; ``key.json`` in one of
ratings.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from harbor._core.errors import RatingError, RunFolderError

CONFIG, MANIFEST, EVENTS, CALLS, MEMORY = "config.json", "manifest.json", "events.jsonl", "calls.jsonl", "memory"
DESIGN, GAMES, RESULTS = "experiment.json", "games", "results.json"
KEY = "key.json"


def log_of(run: Path) -> Path:
    """Find the log of a run, given the folder or the log itself.

    Raises:
        RunFolderError: there is none.
    """
    log = run / EVENTS if run.is_dir() else run
    if not log.is_file():
        raise no_run(run)
    return log


def logs_in(folder: Path) -> list[Path]:
    """Find all logs in a folder, be it of a run or of an experiment.

    Raises:
        RunFolderError: there is none.
    """
    found = sorted(folder.rglob(EVENTS))
    if not found:
        raise RunFolderError(f"{str(folder)!r} contains no run; give the folder of a run or of an experiment")
    return found


def check_ratings(folder: Path) -> None:
    """Refuse what is not a folder of ratings.

    Raises:
        RatingError: it has no key.
    """
    if not (folder / KEY).is_file():
        raise RatingError(f"{str(folder)!r} contains no {KEY}; give a folder that harbor rate sheets has made")


def check_experiment(folder: Path) -> None:
    """Refuse what is not the folder of an experiment.

    Raises:
        RunFolderError: it says what the folder is.
    """
    if not (folder / DESIGN).is_file() or not (folder / MANIFEST).is_file():
        raise no_experiment(folder)


def no_run(folder: Path) -> RunFolderError:
    """Say that a folder contains no run, and which commands take it if it is that of an experiment."""
    if not (folder / DESIGN).is_file():
        return RunFolderError(f"{str(folder)!r} contains no run ({CONFIG}, {MANIFEST}, {EVENTS}); give its folder")
    here = shlex.quote(str(folder))
    return RunFolderError(
        f"{str(folder)!r} is an experiment, not a single run; see what it found with: harbor report {here},"
        f" or resume it with: harbor experiment resume {here}"
    )


def no_experiment(folder: Path) -> RunFolderError:
    """Say that a folder contains no experiment, and which commands take it if it is that of a run."""
    if not (folder / EVENTS).is_file():
        return RunFolderError(f"{str(folder)!r} contains no experiment ({DESIGN}, {MANIFEST}); give its folder")
    here = shlex.quote(str(folder))
    return RunFolderError(
        f"{str(folder)!r} is a single run, not an experiment; see it with: harbor replay {here},"
        f" or resume it with: harbor resume {here}"
    )
