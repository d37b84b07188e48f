"""The folder of a trial holds a run or a series, with its measurements; differing settings are described in words.

The log is the source of truth. `record.json` is a cache: it is valid while the digests of the logs, their schema, the
metrics and the version of Harbor are unchanged. `failure.json` says why a trial failed for a reason of its own.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from harbor._config.auction import AuctionConfig, read_settings
from harbor._core.basics.errors import ConfigError, LogError, RunFolderError
from harbor._core.faces import __version__
from harbor._core.files.layout import CALLS, CONFIG, EVENTS, FAILURE, RECORD
from harbor._core.files.marks import is_in_own
from harbor._core.files.safe_files import MOST_RECORDS, MOST_SETTINGS, make_private, open_sent, read_sent, write_whole
from harbor._core.log.events import SCHEMA_VERSION
from harbor._core.log.log import read_whole_lines
from harbor._core.log.log_entries import Entry, is_over
from harbor._runs.folder import complete
from harbor.evaluation._experiments.trial_records import TrialRecord, broken_off, record
from harbor.evaluation._experiments.trials import Trial
from harbor.personas._catalog.catalogue import with_items

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
MOST_NAMED = 3
"""Largest number of differences that a message names."""
LONGEST_SHOWN = 60
"""Longest value in a message, in characters."""
NOT_SET = "not set"


def differences(then: Json, now: Json, was: str = "then", is_: str = "now") -> str:
    """Name the first keys that differ, with both values: ``seed 7 then, 8 now``."""
    found = list(differing("", then, now))
    named = [f"{key} {short(old)} {was}, {short(new)} {is_}" for key, old, new in found[:MOST_NAMED]]
    more = [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    return "; ".join([*named, *more])


def differing(place: str, then: Json, now: Json) -> Iterator[tuple[str, Json, Json]]:
    """Yield each key that differs, below `place`, with both values; None if it is not set."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            yield from differing(f"{place}.{key}".lstrip("."), then.get(key), now.get(key))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from differing(f"{place}[{number}]", old, new)
    elif then != now:
        yield place, then, now


def short(value: Json) -> str:
    """Return a value in one short line."""
    shown = str(value).lower() if isinstance(value, bool) else NOT_SET if value is None else repr(value)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."


LONGEST_READ = 4096
"""Bytes that tell whether a file was zeroed."""
OF_NOW = (__version__, SCHEMA_VERSION)
"""Version and schema for which a record is valid; a log of another schema is refused even if it has a record."""


@dataclass(frozen=True)
class _CachedRecord:
    """A record and its sources."""

    harbor: str
    metrics: tuple[str, ...]
    logs: dict[str, str]
    record: TrialRecord
    schema: int = 0


_CACHED = TypeAdapter(_CachedRecord)


def begun(path: Path) -> bool:
    """Say whether a trial has a log; without one it can't be resumed.

    It can't either if a power cut has zeroed its settings. Those are synced, except in games of scripts alone, which
    cost nothing.
    """
    return (path / EVENTS).is_file() and not (_is_zeroed(path / CONFIG) and _is_zeroed(path / CALLS))


def _is_zeroed(file: Path) -> bool:
    """Say whether a file exists and has only zeros."""
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return not opened.read(LONGEST_READ).strip(b"\0")


def clear(path: Path) -> None:
    """Remove the folder of a trial that stopped before it had a log."""
    if path.exists() and not begun(path):
        shutil.rmtree(path)


def read_trial(path: Path, trial: Trial, metrics: Sequence[str], anew: bool = False) -> TrialRecord:
    """Read the record of a trial; measure it again if the record is missing or stale, or with `anew`.

    Raises:
        RunFolderError: the trial has other settings.
        LogError: a log was edited.
    """
    failure = str(_failure(path).get("failure", ""))
    if not begun(path):
        return broken_off(trial, failure=failure)
    check_config(path, trial)
    if failure:
        return broken_off(trial, _logs_of_failed(path), failure)
    cached = None if anew else _cached(path)
    if cached and _is_of(cached, trial, metrics, _digests(path)):
        return cached.record
    logs = logs_in(path)
    if not is_over(logs[0]):
        return broken_off(trial, logs)
    found = record(trial, metrics, logs)
    if not anew and is_in_own(path):  # a stranger's folder is not written
        with suppress(OSError):  # a read-only folder can still be read
            keep_record(path, metrics, found)
    return found


def kept_record(path: Path) -> TrialRecord | None:
    """Return the record beside the log of a trial, without a check of its sources."""
    cached = _cached(path)
    return cached.record if cached and (cached.harbor, cached.schema) == OF_NOW else None


def _is_of(cached: _CachedRecord, trial: Trial, metrics: Sequence[str], digests: Mapping[str, str]) -> bool:
    """Say whether this Harbor measured a record from this very trial, because the file may come from somebody else."""
    record = cached.record
    return (
        (cached.harbor, cached.schema, cached.metrics, cached.logs) == (*OF_NOW, tuple(metrics), digests)
        and (record.arm, record.condition, record.repeat) == (trial.arm, trial.condition, trial.repeat)
        and {one.metric for one in record.measurements} <= set(metrics)
    )


def keep_record(path: Path, metrics: Sequence[str], found: TrialRecord) -> None:
    """Write the record of a finished trial."""
    cached = _CachedRecord(__version__, tuple(metrics), _digests(path), found, SCHEMA_VERSION)
    write_whole(path / RECORD, _CACHED.dump_json(cached, exclude_defaults=True))


def keep_failure(path: Path, reason: str, passing: bool) -> None:
    """Write why a trial failed, and whether resuming tries it again by itself."""
    make_private(path, exist_ok=True)
    told = {"failure": reason} | ({"passing": True} if passing else {})
    write_whole(path / FAILURE, json.dumps(told).encode() + b"\n", synced=True)


def may_pass(path: Path) -> bool:
    """Say whether a session failed in a trial, and not the trial itself."""
    return _failure(path).get("passing") is True


def set_aside(path: Path) -> None:
    """Prepare a failed trial to run again: it resumes at its failure, or begins anew if its game was over."""
    if (path / FAILURE).exists() and not _came_to_its_end(path):
        (path / FAILURE).unlink()
        return
    tries = sum(1 for _ in path.parent.glob(f"{path.name}-failed-*"))
    path.rename(path.with_name(f"{path.name}-failed-{tries + 1}"))


def _came_to_its_end(path: Path) -> bool:
    try:
        return complete(path) is not None
    except LogError:
        return False


def without_tries(path: Path) -> Path:
    """Return the folder of a trial from that of a failed try, which has the suffix `-failed-N`."""
    return path.with_name(re.sub(r"-failed-\d+$", "", path.name))


def check_config(path: Path, trial: Trial) -> None:
    """Refuse a trial that was run with other settings than those of the design.

    Raises:
        RunFolderError: the settings differ, and the message names the first differences; or they can't be read.
    """
    expected = trial.config if trial.config.series else with_items(trial.config)
    with suppress(OSError):
        if read_sent(path / CONFIG, MOST_SETTINGS) == expected.model_dump_json(indent=2).encode() + b"\n":
            return
    try:
        found = read_settings(path / CONFIG, AuctionConfig)
    except ConfigError as error:
        raise RunFolderError(
            f"game {str(path)!r} lacks a {CONFIG} that can be read; restore it, or remove the folder of that game, and"
            " resuming runs it again"
        ) from error
    if _as_played(found) != _as_played(expected):
        differ = differences(found.model_dump(mode="json"), expected.model_dump(mode="json"), "there", "by the design")
        raise RunFolderError(f"game {str(path)!r} is not of this experiment: {differ}; restore it, or take it away")


def _as_played(config: AuctionConfig) -> AuctionConfig:
    """Return settings without those that only refuse a start, because games of earlier versions lack them."""
    models = {name: one.model_copy(update={"must_take": ()}) for name, one in config.models.items()}
    return config.model_copy(update={"models": models})


def logs_in(path: Path) -> list[Sequence[Entry]]:
    """Read the log of a trial; for a series, its own and then those of its auctions.

    Raises:
        LogError: a log was edited.
    """
    return [read_whole_lines(log).entries for log in _logs(path)]


def _logs_of_failed(path: Path) -> list[Sequence[Entry]]:
    try:
        return logs_in(path)
    except LogError:  # an edited log may be why it failed
        return []


def _logs(path: Path) -> list[Path]:
    auctions = sorted(inner for inner in path.iterdir() if inner.name.isdecimal() and inner.is_dir())
    return [folder / EVENTS for folder in (path, *auctions) if (folder / EVENTS).is_file()]


def _digests(path: Path) -> dict[str, str]:
    found = {}
    for log in _logs(path):
        with open_sent(log, MOST_RECORDS) as opened:
            found[str(log.relative_to(path))] = file_digest(opened, "sha256").hexdigest()
    return found


def _cached(path: Path) -> _CachedRecord | None:
    try:
        return _CACHED.validate_json(read_sent(path / RECORD, MOST_RECORDS))
    except (OSError, ValueError):
        return None


def _failure(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(read_sent(path / FAILURE, MOST_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
