"""Inspect log files from a run, a series or an experiment. Only their owner can read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from shutil import move
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from harbor._core.basics.errors import ConfigError, RunFolderError
from harbor._core.basics.feedback import steps
from harbor._core.files.layout import (
    CALLS,
    DESIGN,
    EVENTS,
    GAMES,
    MANIFEST,
    auction_logs,
    check_experiment,
    log_of,
    no_run,
    public_auctions,
)
from harbor._core.files.safe_files import FILE, MOST_SETTINGS, make_private, read_sent
from harbor._core.log.log import read_log
from harbor._runs.raw_calls import read_calls
from harbor.evaluation._metrics.summary import is_series

if TYPE_CHECKING:
    from harbor._packs.inspect_logs import Game

ENDING = ".eval"
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def write_eval(folder: Path, out: Path | None = None) -> list[Path]:
    """Write a run or a series to one file, or an experiment to a folder with one file per arm.

    Args:
        folder: folder of a run, a series or an experiment. Public copies have no calls, so their samples have none.
        out: a new file, or a new folder for an experiment (None: beside `folder`).

    Raises:
        ConfigError: inspect-ai is not installed.
        RunFolderError: the folder has no game to write, or `out` exists or can't be written.
        LogError: a log can't be read.
    """
    if not folder.exists():
        raise no_run(folder)
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise ConfigError("eval needs inspect_ai; run: pip install 'harbor-auctions[inspect]'") from error
    is_experiment = (folder / DESIGN).is_file()
    place = out or folder.with_name(f"{folder.resolve().name}{'-eval' if is_experiment else ENDING}")
    if place.exists():
        raise RunFolderError(f"{str(place)!r} exists; name another with --out")
    try:
        if is_experiment:
            check_experiment(folder)
            return _write_arms(folder, place)
        return [_write(place, folder.resolve().name, _games(folder), _is_over(folder))]
    except OSError as error:
        raise RunFolderError(f"{str(place)!r} can't be written ({error.strerror}); name another with --out") from error


def _write_arms(folder: Path, place: Path) -> list[Path]:
    arms = sorted(path for path in (folder / GAMES).glob("*") if path.is_dir())
    begun = {arm.name: [run for run in sorted(arm.glob("*/*")) if _has_begun(run)] for arm in arms}
    if not any(begun.values()):
        raise RunFolderError(f"{str(folder)!r} has no game that has begun; run it first")
    make_private(place)
    written = []
    for arm, runs in begun.items():
        if runs:
            read = steps(runs, f"games of {arm} read")
            games = [game for run in read for game in _games(run, int(run.name), run.parent.name)]
            written.append(_write(place / f"{arm}{ENDING}", arm, games, all(map(_is_over, runs))))
    return written


def _has_begun(run: Path) -> bool:
    return run.name.isdecimal() and bool(public_auctions(run) or (run / EVENTS).is_file())


def _write(place: Path, task: str, games: list[Game], complete: bool) -> Path:
    """Write a log in a private temporary folder, and move it to its place."""
    from inspect_ai.log import write_eval_log

    from harbor._packs.inspect_logs import inspect_log

    with TemporaryDirectory() as private:
        draft = Path(private) / f"log{ENDING}"
        write_eval_log(inspect_log(task, games, complete), str(draft), format="eval")
        draft.chmod(FILE)
        place.parent.mkdir(parents=True, exist_ok=True)
        move(draft, place)
    return place


def _is_over(run: Path) -> bool:
    logs = public_auctions(run) or [log_of(run)]
    return all(read_log(log).complete for log in logs)


def _games(run: Path, epoch: int = 1, condition: str = "") -> list[Game]:
    """Return the game of a run, or one game per auction of a series. The auctions of a series hold its calls."""
    return list(_of_run(run, epoch, condition))


def _of_run(run: Path, epoch: int, condition: str) -> Iterator[Game]:
    from harbor._packs.inspect_logs import Game

    auctions = public_auctions(run)
    if not auctions and not is_series(entries := read_log(log_of(run)).entries):
        yield Game(entries, read_calls(run / CALLS), _began(run), epoch, "" if condition == "all" else condition)
        return
    inner = auctions or auction_logs(run)
    for log in inner:
        name = log.parent.name
        of = " ".join(filter(None, ["" if condition == "all" else condition, f"repeat {epoch}" if condition else ""]))
        yield Game(read_log(log).entries, read_calls(log.parent / CALLS), _began(log.parent), int(name), of)


def _began(run: Path) -> datetime:
    """Return the start time of a run, or 1970-01-01 if it is unknown."""
    try:
        return datetime.fromisoformat(json.loads(read_sent(run / MANIFEST, MOST_SETTINGS))["began"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return _UNKNOWN
