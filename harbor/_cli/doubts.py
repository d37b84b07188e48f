"""What commands that measure logs say of one that does not follow, and of what then can't be measured."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harbor._cli.output import say
from harbor._core.errors import HarborError, LogError, told
from harbor._core.finding import command
from harbor._core.how_far import steps

if TYPE_CHECKING:
    from harbor._core.log_lines import Entry

MOST_CHECKED = 20_000_000
"""The bytes of logs that are checked along the way: more would take longer than a few seconds."""


@contextmanager
def measuring(run: Path, entries: Sequence[Entry]) -> Iterator[None]:
    """Warn of a log that does not follow, and put what goes wrong in measuring it in one line.

    Raises:
        LogError: it can't be measured.
    """
    from harbor._runs.following import difference_in

    _warn(run, difference_in(run, entries))
    with _in_one_line(run):
        yield


@contextmanager
def measuring_games(experiment: Path, checked: bool = True) -> Iterator[None]:
    """Put what goes wrong in measuring an experiment in one line; if it is checked, warn of one that does not follow.

    Raises:
        LogError: it can't be measured.
    """
    if checked:
        warn_of_games(experiment)
    with _in_one_line(experiment):
        yield


def warn_of_games(experiment: Path) -> None:
    """Warn of an experiment with a log, a record or results that do not follow; say so if there is too much to check.

    Raises:
        LogError: it can't be measured.
    """
    from harbor._core.layout import EVENTS, games_in

    games = games_in(experiment)
    if (size := sum(log.stat().st_size for log in experiment.rglob(EVENTS))) > MOST_CHECKED:
        say(f"its logs have {size // 10**6:,} MB, so they are not checked here; see: {_verify(experiment)}")
        return
    with _in_one_line(experiment):
        _warn(experiment, _difference_in_games(experiment, games))


def warn_of(folder: Path) -> None:
    """Warn of a run (its folder or its log), a series or an experiment that does not follow.

    Raises:
        RunFolderError: it has a link in it.
        LogError: it can't be measured.
    """
    from harbor._core.layout import DESIGN, check_experiment
    from harbor._runs.following import first_difference

    if (folder / DESIGN).is_file():
        check_experiment(folder)
        warn_of_games(folder)
    elif found := first_difference(folder):
        inside = found.log.relative_to(folder if folder.is_dir() else folder.parent)
        _warn(folder, f"{inside}: {found.verdict.words}")


def _difference_in_games(experiment: Path, games: Sequence[Path]) -> str:
    """Say what of an experiment does not follow, its logs first; empty: all does, or what is there can't be checked."""
    from harbor._runs.following import first_difference
    from harbor.evaluation._running.verifying import results_checked

    if found := next(filter(None, map(first_difference, steps(games, "games checked"))), None):
        return f"{found.log.relative_to(experiment)}: {found.verdict.words}"
    with suppress(HarborError):
        verdict = results_checked(experiment)
        if not verdict.follows:
            return f"{verdict.event}, does not follow from its log: {verdict.found}, not {verdict.expected}"
    return ""


def _warn(run: Path, difference: str) -> None:
    if difference:
        say(f"warning: {difference}; see: {_verify(run)}")


def _verify(run: Path) -> str:
    return f"{command()} verify {shlex.quote(str(run))}"


@contextmanager
def _in_one_line(run: Path) -> Iterator[None]:
    """Let no error but Harbor's pass: a log may have been forged so that anything goes wrong in measuring it."""
    try:
        yield
    except (HarborError, OSError):
        raise
    except Exception as error:
        raise LogError(f"{str(run)!r} can't be measured ({told(error)}); see: {_verify(run)}") from error
