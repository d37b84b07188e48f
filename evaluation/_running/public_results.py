"""The results of a public copy of an experiment: how its games ended, as it says, measured from their public logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from harbor._core.errors import RunFolderError
from harbor._core.events import BiddersAsked, Listed
from harbor._core.layout import EVENTS, GAMES, RESULTS
from harbor._core.log import is_public, read_log
from harbor._core.log_lines import Entry, is_over
from harbor._core.sent_files import MOST_RECORDS, read_sent
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trials import planned
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._metrics.registry import PRIVATE, measure

_RECORDS = TypeAdapter(tuple[TrialRecord, ...])


class Unfounded(RunFolderError):
    """The results of a public copy are not those of its design, or have no logs: what was expected, what is there."""

    def __init__(self, path: Path, expected: str, found: str) -> None:
        super().__init__(f"{str(path / RESULTS)!r} has {found}, not {expected}; ask for the pack again")
        self.expected = expected
        self.found = found


def public_results(path: Path, experiment: Experiment) -> Results:
    """Read the records of a public copy; those of finished games are measured from their logs.

    Raises:
        RunFolderError: its results can't be read, or are not of this design.
        Unfounded: its games are not those of the design, or a record and the logs of its game tell of another end.
        LogError: a log can't be read.
    """
    try:
        records = _RECORDS.validate_python(json.loads(read_sent(path / RESULTS, MOST_RECORDS))["games"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
        raise RunFolderError(f"{str(path / RESULTS)!r} can't be read; unpack the pack again") from error
    _check_planned(path, experiment, records)
    metrics = measured(experiment)
    return Results(experiment, tuple(_measured(path, one, metrics) for one in records), public=True)


def _check_planned(path: Path, experiment: Experiment, records: Sequence[TrialRecord]) -> None:
    """Make sure that each game of the design is listed once, and that no other has a log."""
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
    if not (path / GAMES / name / EVENTS).is_file():  # a series, whose own log has nothing that is public
        return replace(record, measurements=tuple(Measurement(name, None, missing=PRIVATE) for name in metrics))
    return replace(record, measurements=tuple(measure(metrics, logs[0])))


def _bidders(entries: Sequence[Entry]) -> Iterator[str]:
    """Give everyone that was seated or asked, as the events of everyone tell."""
    for entry in entries:
        if isinstance(entry.event, BiddersAsked | Listed):
            yield from entry.event.bidders


def _public_log(log: Path) -> Sequence[Entry]:
    entries = read_log(log).entries
    if not is_public(entries):
        raise RunFolderError(f"log {str(log)!r} is no public log, but the copy says that it is; unpack the pack again")
    return entries
