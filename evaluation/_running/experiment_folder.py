"""The folder of an experiment, or its public copy: design, manifest, one folder per trial, and the results.

``experiment.json`` is the resolved design. ``manifest.json`` has its digest, versions, git commit, models, seed, kept
options, and the packages that bring its games, metrics and figures. ``games/ARM/CONDITION/0001/`` is a run or a series.
``results.json`` has the records of all trials.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from harbor._config.auction import check
from harbor._core.basics.errors import ConfigError, RunFolderError
from harbor._core.basics.feedback import steps
from harbor._core.faces import __version__
from harbor._core.files.layout import DESIGN, EVENTS, GAMES, MANIFEST, RESULTS, no_experiment
from harbor._core.files.marks import read_as_data, write_settings
from harbor._core.files.safe_files import (
    FILE,
    MOST_RECORDS,
    MOST_SETTINGS,
    new_folder,
    parsed,
    read_sent,
    remedy_of,
    write_whole,
)
from harbor._core.log.events import BiddersAsked, Listed
from harbor._core.log.log import is_public, read_log
from harbor._core.log.log_entries import Entry, is_over
from harbor._core.plugins.extensions import Kind, Part
from harbor._core.plugins.finding import check_references, found, of_part
from harbor._runs.folder import manifest
from harbor._runs.manifest import noted
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trials import Trial, planned, trials
from harbor.evaluation._metrics.measurement import PRIVATE, Measurement, measure
from harbor.evaluation._running.trial_folder import differences, read_trial

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_PUBLIC_RECORDS = TypeAdapter(tuple[TrialRecord, ...])


class Unfounded(RunFolderError):
    """Raised if the results of a public copy do not fit its design or logs; it has the expected and the found state."""

    def __init__(self, path: Path, expected: str, found: str) -> None:
        super().__init__(f"{str(path / RESULTS)!r} has {found}, not {expected}; ask for the pack again")
        self.expected = expected
        self.found = found


def public_results(path: Path, experiment: Experiment) -> Results:
    """Read the records of a public copy; those of finished games are measured from their logs.

    Raises:
        RunFolderError: its results can't be read, or are not of this design.
        Unfounded: its games are not those of the design, or a record contradicts the logs of its game.
        LogError: a log can't be read.
    """
    try:
        records = _PUBLIC_RECORDS.validate_python(json.loads(read_sent(path / RESULTS, MOST_RECORDS))["games"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
        raise RunFolderError(f"{str(path / RESULTS)!r} can't be read; unpack the pack again") from error
    _check_planned(path, experiment, records)
    metrics = measured(experiment)
    return Results(experiment, tuple(_measured(path, one, metrics) for one in records), public=True)


def _check_planned(path: Path, experiment: Experiment, records: Sequence[TrialRecord]) -> None:
    """Refuse records that do not list each game of the design once, and logs of other games."""
    wanted = [_name(*place) for place in planned(experiment)]
    known = set(wanted)
    given = Counter(_name(one.arm, one.condition, one.repeat) for one in records)
    for name, times in given.items():
        if times > 1 or name not in known:
            raise Unfounded(path, "each game of its design once", f"game {name!r} {times} times")
    if missing := [name for name in wanted if name not in given]:
        raise Unfounded(path, f"all {len(wanted)} games of its design", f"{len(given)}, without {missing[0]!r}")
    for log in (path / GAMES).rglob(EVENTS):
        if "/".join(log.relative_to(path / GAMES).parts[:3]) not in given:
            raise Unfounded(path, "logs of its games alone", f"a log {str(log.relative_to(path))!r}")


def _name(arm: str, condition: str, repeat: int) -> str:
    return f"{arm}/{condition}/{repeat:04}"


def _measured(path: Path, record: TrialRecord, metrics: Sequence[str]) -> TrialRecord:
    name = _name(record.arm, record.condition, record.repeat)
    logs = [_public_log(log) for log in sorted((path / GAMES / name).rglob(EVENTS))]
    over = bool(logs) and all(map(is_over, logs))
    if over != (record.status == "finished") or (logs and not over):
        end = "a log" if over else "no log to its end"
        raise Unfounded(path, "the ends that its logs tell", f"game {name!r} {record.status} with {end}")
    if not over:
        return replace(record, measurements=())
    told = {name for entries in logs for name in _bidders(entries)}
    if told != {bidder for bidder, _ in record.players}:
        raise Unfounded(path, f"the bidders {sorted(told)} of game {name!r}", f"{sorted(dict(record.players))}")
    if not (path / GAMES / name / EVENTS).is_file():  # a series: its own log has nothing public
        return replace(record, measurements=tuple(Measurement(name, None, missing=PRIVATE) for name in metrics))
    return replace(record, measurements=tuple(measure(metrics, logs[0])))


def _bidders(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield every bidder that was listed or asked, from public events."""
    for entry in entries:
        if isinstance(entry.event, BiddersAsked | Listed):
            yield from entry.event.bidders


def _public_log(log: Path) -> Sequence[Entry]:
    entries = read_log(log).entries
    if not is_public(entries):
        raise RunFolderError(f"log {str(log)!r} is no public log, but the copy says that it is; unpack the pack again")
    return entries


_LOCK = ".lock"
_RECORDS = TypeAdapter(tuple[TrialRecord, ...])
_PARTS = TypeAdapter(tuple[Part, ...])


def make_folder(path: Path, experiment: Experiment, options: DataclassInstance) -> None:
    """Write a new folder with a checked design, and the options that the experiment keeps.

    Raises:
        RunFolderError: the folder exists, or can't be made.
    """
    text = experiment.model_dump_json(indent=2)
    begun_with = {
        **manifest(text),
        "harbor": __version__,
        "token": token_hex(8),
        "seed": experiment.seed,
        "models": experiment.models,
        "parts": [asdict(part) for part in _parts(experiment)],
        "options": [noted(options)],
        "experiment": json.loads(text),
    }
    files = {DESIGN: text.encode() + b"\n", MANIFEST: json.dumps(begun_with, indent=2).encode() + b"\n"}
    try:
        with new_folder(path) as draft:
            write_settings(draft, files)
    except FileExistsError as error:
        raise RunFolderError(
            f"output folder {str(path)!r} exists; go on with: harbor experiment resume, or name a new one"
        ) from error
    except OSError as error:
        remedy = remedy_of(error, "name another")
        raise RunFolderError(f"output folder {str(path)!r} can't be made ({error.strerror}); {remedy}") from error


def read_design(path: Path) -> Experiment:
    """Read the design with which an experiment was begun.

    Raises:
        RunFolderError: the folder is no experiment or public copy; or the design was changed (the message says where);
            or a package is missing that brings a part of it.
        ConfigError: the design names code that the user has not named, as the folder may come from somebody else.
    """
    return _checked(path, *resumable(path))


def _checked(path: Path, begun_with: dict[str, Any], design: dict[str, Any]) -> Experiment:
    where = f"design {str(path / DESIGN)!r}"
    check_references(design, where)
    with read_as_data(path):
        _check_parts(begun_with, path)
        return check(Experiment, design, where)


def resumable(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the same as `unchanged`, but refuse a public copy.

    Raises:
        RunFolderError: as `unchanged`, or the folder is a public copy.
    """
    begun_with, design = unchanged(path)
    if begun_with.get("public"):
        raise RunFolderError(
            f"{str(path)!r} is a public copy, without the private parts that games need; resume the original"
        )
    return begun_with, design


def unchanged(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest and the design from the folder, without loading any code that they name.

    Raises:
        RunFolderError: the folder is no experiment, or the design was changed; the message says where.
    """
    begun_with = read_manifest(path)
    try:
        text = read_sent(path / DESIGN, MOST_SETTINGS).decode().removesuffix("\n")
        design = parsed(text)
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{str(path / DESIGN)!r} can't be read; restore it as it was written") from error
    if sha256(text.encode()).hexdigest() != begun_with["config_digest"]:
        changes = differences(begun_with["experiment"], design) or "in its spacing"
        raise RunFolderError(
            f"{str(path / DESIGN)!r} was changed since the experiment began: {changes}; restore it, or run a new one"
        )
    return begun_with, design


def _parts(experiment: Experiment) -> Iterator[Part]:
    """Yield the games, metrics and figures of a design, with the packages that bring them."""
    games = dict.fromkeys(trial.config.rules.game for trial in trials(experiment, repeats=1))
    kinds: dict[Kind, Iterable[str]] = {"game": games, "metric": experiment.metrics, "figure": experiment.figures}
    return (found(kind, name).part for kind, names in kinds.items() for name in names)


def _check_parts(begun_with: dict[str, Any], path: Path) -> None:
    """Refuse an experiment that has a part whose package is missing."""
    try:
        for part in _PARTS.validate_python(begun_with.get("parts", ())):
            of_part(part)
    except ValidationError as error:
        raise no_experiment(path) from error
    except ConfigError as error:
        raise RunFolderError(f"experiment {str(path)!r} has the {error}") from error


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the manifest with which an experiment was begun.

    Raises:
        RunFolderError: the folder is no experiment.
    """
    try:
        begun_with: dict[str, Any] = parsed(read_sent(path / MANIFEST, MOST_SETTINGS))
        begun_with["config_digest"], begun_with["experiment"], begun_with["harbor"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise no_experiment(path) from error
    return begun_with


def check_versions(path: Path) -> None:
    """Refuse to resume with another version of Harbor, whose bidders may decide differently; warn of other packages.

    Raises:
        RunFolderError: the message names both versions.
    """
    then, now = read_manifest(path), manifest("")["versions"]
    if then["harbor"] != __version__:
        raise RunFolderError(
            f"experiment {str(path)!r} was begun with harbor {then['harbor']}, and this is {__version__};"
            " install that version to go on"
        )
    if changes := differences(then["versions"], now):
        warnings.warn(f"packages changed since experiment {str(path)!r} began: {changes}", stacklevel=2)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the folder of an experiment for this process.

    Raises:
        RunFolderError: another process runs it.
    """
    lock = FileLock(path / _LOCK, timeout=0, mode=FILE)
    try:
        lock.acquire()
    except Timeout as error:
        raise RunFolderError(f"experiment {str(path)!r} is being run by another process; wait until it ends") from error
    try:
        yield
    finally:
        with suppress(OSError):
            (path / _LOCK).unlink()
        lock.release()


def trial_path(path: Path, trial: Trial) -> Path:
    """Return the folder of a trial."""
    return path / GAMES / trial.path


def read_results(path: Path) -> Results:
    """Read the records of all trials of an experiment; measure a log again if its record is missing or stale.

    Raises:
        RunFolderError: the folder is no experiment, the design was changed, or a trial is not of this design.
        LogError: the log of a game was edited.
    """
    begun_with, design = unchanged(path)
    experiment = _checked(path, begun_with, design)
    if begun_with.get("public"):
        return public_results(path, experiment)
    metrics = measured(experiment)
    with read_as_data(path):
        all_trials = steps(trials(experiment), "games read")
        records = tuple(read_trial(trial_path(path, trial), trial, metrics) for trial in all_trials)
    return Results(experiment, records)


def write_results(path: Path, results: Results) -> None:
    """Write the records of all trials in one file: the same bytes, however often the experiment was interrupted."""
    about = {"experiment": results.experiment.name, "harbor": __version__, "simulated": results.simulated}
    head = json.dumps(about | {"config_digest": read_manifest(path)["config_digest"]})
    records = _RECORDS.dump_json(results.records, exclude_defaults=True)
    write_whole(path / RESULTS, head[:-1].encode() + b', "games": ' + records + b"}\n", synced=True)
