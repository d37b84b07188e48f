"""Checks of an experiment: that its logs follow from the rules, and its results from the logs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harbor._core.basics.errors import RunFolderError
from harbor._core.faces import __version__
from harbor._core.files.layout import DESIGN, EVENTS, RECORD, RESULTS, games_in
from harbor._core.files.marks import MARK, is_own
from harbor._core.files.safe_files import MOST_RECORDS, check_folder, read_sent
from harbor._house.compared_log import LONGEST_SHOWN, Verdict, what_differs
from harbor._runs.verification import Checked, logs_checked
from harbor.evaluation._experiments.design import measured
from harbor.evaluation._experiments.trial_records import TrialRecord
from harbor.evaluation._experiments.trials import Trial, trials
from harbor.evaluation._running.experiment_folder import Unfounded, read_design, read_manifest, read_results, trial_path
from harbor.evaluation._running.trial_folder import kept_record, read_trial, without_tries

PLAYERS_UNCHECKED = "the player of each bidder, and the reason why a game has no log, are as the copy says"
PLAN_UNCHECKED = "whether question, title, comparisons and published numbers were written before the games"
_RECORD = TypeAdapter(TrialRecord)
Fields = dict[str, Any]


def games_checked(experiment: Path) -> Iterator[Checked]:
    """Check the logs of all games of an experiment.

    Raises:
        LogError: a log can't be read, or the game of a log has no known check.
        RunFolderError: the folder has a link in it.
    """
    check_folder(experiment)
    for folder in games_in(experiment):
        yield from logs_checked(folder)


def results_checked(experiment: Path) -> Verdict:
    """Measure the games of an experiment anew, and compare its records and its results with that.

    Raises:
        RunFolderError: the folder is no experiment, its design was changed, or results.json can't be read.
    """
    results = _results(experiment)
    begun_with = read_manifest(experiment)
    same = begun_with["harbor"] == __version__
    measured_by = f"results.json was measured by harbor {begun_with['harbor']}, this is {__version__}"
    checked = _public_results_checked if begun_with.get("public") else _own_results_checked
    verdict = checked(experiment, results if same else [])
    return verdict if same else replace(verdict, unchecked=(measured_by, *verdict.unchecked))


def _own_results_checked(experiment: Path, results: list[Fields]) -> Verdict:
    design = read_design(experiment)
    planned = list(trials(design))
    if foreign := _not_planned(experiment, planned):
        return Verdict(
            False, "rules", None, foreign, "games of its design alone", "a game that the design does not have"
        )
    if results and len(results) != len(planned):
        return Verdict(False, "rules", None, RESULTS, f"{len(planned)} games", f"{len(results)} games")
    silent = earlier = 0
    for place, trial in enumerate(planned):
        path = trial_path(experiment, trial)
        expected = _fields(read_trial(path, trial, measured(design), anew=True))
        silent += not (path / EVENTS).is_file()
        kept = kept_record(path)
        for file, found in ((RECORD, kept and _fields(kept)), (RESULTS, next(iter(results[place : place + 1]), None))):
            if found and file == RESULTS and _is_earlier(found):
                earlier += expected["status"] != "unfinished"
            elif found and found != expected:
                return _differing(f"{file}, game {trial.path}", expected, found)
    counts = ((silent, "games have no log"), (earlier, "games have ended since results.json called them unfinished"))
    untold = tuple(f"{n} of {len(planned)} {words}" for n, words in counts if n)
    return Verdict(True, "rules", unchecked=(*untold, *_plan_unchecked(experiment)))


def _not_planned(experiment: Path, planned: Sequence[Trial]) -> str:
    """Name the first folder with a log of no game of the design; empty if there is none."""
    known = {trial_path(experiment, trial) for trial in planned}
    found = (folder for folder in games_in(experiment) if without_tries(folder) not in known)
    return next((str(folder.relative_to(experiment)) for folder in found), "")


def _plan_unchecked(experiment: Path) -> tuple[str, ...]:
    """Say that the games can't prove the plan, unless the user's mark covers the design."""
    if is_own(experiment):
        return ()
    marked = ", or it was changed since" if (experiment / MARK).exists() else ""
    return (f"{PLAN_UNCHECKED}: no mark of yours covers {DESIGN}{marked}",)


def _is_earlier(found: Fields) -> bool:
    """Say whether results only report that a game was unfinished when they were written."""
    return found["status"] == "unfinished" and not found.get("measurements")


def _public_results_checked(experiment: Path, results: list[Fields]) -> Verdict:
    """Compare the results of a public copy with new measurements of its public logs."""
    try:
        records = read_results(experiment).records
    except Unfounded as error:
        return Verdict(False, "public", None, RESULTS, error.expected, error.found)
    for record, found in zip(records, results, strict=False):  # no results from another version
        if (expected := _fields(record)) != found:
            game = f"{record.arm}/{record.condition}/{record.repeat:04}"
            return _differing(f"{RESULTS}, game {game}", expected, found)
    return Verdict(True, "public", unchecked=(PLAYERS_UNCHECKED, *_plan_unchecked(experiment)))


def _results(experiment: Path) -> list[Fields]:
    """Read the results of an experiment, a record per game; none without a file."""
    file = experiment / RESULTS
    if not file.is_file():
        return []
    try:
        found = json.loads(read_sent(file, MOST_RECORDS))
        return [_fields(_RECORD.validate_python(one)) for one in found["games"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFolderError(f"{str(file)!r} can't be read; restore it as it was written") from error


def _fields(record: TrialRecord) -> Fields:
    fields: Fields = json.loads(_RECORD.dump_json(record, exclude_defaults=True))
    return fields


def _differing(what: str, expected: Fields, found: Fields) -> Verdict:
    wanted, given = (json.dumps(one)[:LONGEST_SHOWN] for one in what_differs(expected, found))
    return Verdict(False, "rules", None, what, wanted, given)
