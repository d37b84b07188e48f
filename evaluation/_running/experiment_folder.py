"""The folder of an experiment: its design, its manifest, one folder per trial, and the results.

``experiment.json`` is the design as resolved; ``manifest.json`` its digest, versions, git commit, models, seed, the
options that it keeps, and the packages that bring its games, metrics and figures; ``games/ARM/CONDITION/0001/`` is a
run or a series; ``results.json`` contains the records of all trials.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from harbor._config.auction import check
from harbor._core.errors import ConfigError, RunFolderError
from harbor._core.extensions import Kind, Part
from harbor._core.finding import found, of_part
from harbor._core.handles import remedy_of
from harbor._core.how_far import steps
from harbor._core.layout import DESIGN, GAMES, MANIFEST, RESULTS, no_experiment
from harbor._core.marks import read_as_data, write_settings
from harbor._core.private_files import FILE, new_folder, write_whole
from harbor._core.references import check_references
from harbor._core.sent_files import MOST_SETTINGS, parsed, read_sent
from harbor._core.version import __version__
from harbor._runs.folder import manifest
from harbor._runs.kept_options import noted
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trials import Trial, trials
from harbor.evaluation._running.differences import differences
from harbor.evaluation._running.public_results import public_results
from harbor.evaluation._running.trial_folder import read_trial

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_LOCK = ".lock"
_RECORDS = TypeAdapter(tuple[TrialRecord, ...])
_PARTS = TypeAdapter(tuple[Part, ...])


def make_folder(path: Path, experiment: Experiment, options: DataclassInstance) -> None:
    """Make a new folder with a design that has been checked, and the options that the experiment keeps.

    Raises:
        RunFolderError: it exists, or can't be made.
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
    """Read the design that an experiment was begun with.

    Raises:
        RunFolderError: it is not the folder of an experiment, or of a public copy, or the design was changed (the
            message says where), or a package is missing that brings a part of it.
        ConfigError: it names code that the user has not named: the folder may have been sent.
    """
    return _checked(path, *resumable(path))


def _checked(path: Path, begun_with: dict[str, Any], design: dict[str, Any]) -> Experiment:
    where = f"design {str(path / DESIGN)!r}"
    check_references(design, where)
    with read_as_data(path):
        _check_parts(begun_with, path)
        return check(Experiment, design, where)


def resumable(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give what `unchanged` gives, but of a public copy nothing.

    Raises:
        RunFolderError: as `unchanged`, or it is a public copy.
    """
    begun_with, design = unchanged(path)
    if begun_with.get("public"):
        raise RunFolderError(f"{str(path)!r} is a public copy, without what games need to go on; resume the original")
    return begun_with, design


def unchanged(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the manifest and the design as they are in the folder, with nothing looked up that they name.

    Raises:
        RunFolderError: it is not the folder of an experiment, or the design was changed; the message says where.
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
    """Name the games, metrics and figures of a design, with the packages that they come from."""
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
    """Read what an experiment was begun with.

    Raises:
        RunFolderError: it is no folder of an experiment.
    """
    try:
        begun_with: dict[str, Any] = parsed(read_sent(path / MANIFEST, MOST_SETTINGS))
        begun_with["config_digest"], begun_with["experiment"], begun_with["harbor"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise no_experiment(path) from error
    return begun_with


def check_versions(path: Path) -> None:
    """Refuse to resume with another version of Harbor, whose bidders may decide otherwise; warn of other packages.

    Raises:
        RunFolderError: it names both versions.
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
    """Give the folder of a trial."""
    return path / GAMES / trial.path


def read_results(path: Path) -> Results:
    """Read the records of all trials of an experiment; where a record is missing or stale, measure the log again.

    Raises:
        RunFolderError: it is not the folder of an experiment, the design was changed, or a trial is not of this design.
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
