"""The unit of work: one trial, run or resumed in its own folder by any executor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import harbor._runs.seating  # noqa: F401 - the frameworks, before workers keep what is loaded out of garbage collection
from harbor._config.auction import AuctionConfig
from harbor._core.basics.errors import (
    HarborError,
    LimitReached,
    LogError,
    ModelError,
    PromptTooLong,
    RunFolderError,
    RunPaused,
    Unanswered,
)
from harbor._core.basics.redaction import redact
from harbor._core.files.marks import vouched
from harbor._core.files.safe_files import OUT_OF_HANDLES
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import follow, references
from harbor._models.batch.lane import BatchGame, BatchLane
from harbor._models.budget import RunBudget
from harbor._models.governor.remote import GovernorAddress, RemoteGovernor
from harbor._models.replies.cache import ReplyCache
from harbor._runs.folder import RunFolder, complete
from harbor._runs.inputs import Listener, RunInputs
from harbor._runs.run import calls_in, paid_for, within
from harbor._runs.series import prepare
from harbor.evaluation._experiments.trial_records import TrialRecord, record
from harbor.evaluation._experiments.trial_runs import logs_of
from harbor.evaluation._experiments.trials import Trial
from harbor.evaluation._running.experiment_folder import trial_path
from harbor.evaluation._running.hosting import Host
from harbor.evaluation._running.trial_folder import begun, clear, keep_failure, keep_record, read_trial

LONGEST_REASON = 500
"""Longest reason of a failure, in characters."""
MAX_ATTEMPTS = 3
"""Number of workers that may die in a trial before it counts as failed."""
Logs = Sequence[Sequence[Entry]]


@dataclass(frozen=True, slots=True)
class Task:
    """A trial to run in the folder of an experiment; it stops once all its sessions have cost `dollars`.

    `references` is code that the user has named, which another process loads before the trial. `age` is the place of
    the trial in the experiment: calls of earlier trials go first. Another process asks the `governor` of the driver for
    permission to call a model. `cache` keeps replies (None: no cache). With a `lane`, which is of this process, calls
    wait and go out together. `host`, also of this process, asks a person who plays. `agents` are the given ones, by
    bidder.
    """

    folder: Path
    trial: Trial
    metrics: tuple[str, ...]
    dollars: float | None = None
    references: tuple[str, ...] = ()
    age: tuple[int, ...] = ()
    governor: GovernorAddress | None = None
    cache: ReplyCache | None = None
    lane: BatchLane | None = None
    host: Host | None = None
    agents: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The outcome of a trial: a record (None: it has stopped), and its total cost in dollars.

    A trial stops for lack of money, or because a provider can't be reached or has `refused` its calls: then `paused` is
    the reason.
    """

    record: TrialRecord | None
    paid: float = 0.0
    paused: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs trials: `places` is the number of concurrent ones, `run` runs one."""

    places: int
    run: Callable[[Task], Awaitable[TaskOutcome]]


async def run_task(task: Task) -> TaskOutcome:
    """Run or resume a trial; a failure of its own becomes a failed record.

    The folder of the experiment counts as the user's own, because the caller has checked that.

    Raises:
        OSError: the folder can't be written.
        RunFolderError: another process has locked it.
        ConfigError: code that the user has named is missing in this process.
        EOFError: the person who plays no longer answers.
    """
    with vouched(task.folder):
        return await _run_task(task)


async def _run_task(task: Task) -> TaskOutcome:
    for reference in set(task.references) - set(references()):
        follow(reference)
    path, config = trial_path(task.folder, task.trial), task.trial.config
    cache = replace(task.cache, draw=task.trial.draw) if task.cache else None
    paid = paid_for(path, config.models) if task.dollars is not None else 0.0
    budget = RunBudget(task.dollars, config.models, paid) if task.dollars is not None else None
    found: TrialRecord | None = None
    try:
        with _held(task, path) as game:
            logs = await within(budget, _played(task, path, _inputs(task, budget, cache, game)))
        found = record(task.trial, task.metrics, logs)
        keep_record(path, task.metrics, found)
    except LimitReached:
        pass
    except RunPaused as error:
        return TaskOutcome(None, budget.spent if budget else 0.0, str(error))
    except (Unanswered, PromptTooLong) as error:
        found = failed(task, str(error))
    except ModelError as error:
        return TaskOutcome(None, budget.spent if budget else 0.0, str(error), refused=True)
    except RunFolderError as error:
        raise error.__cause__ if isinstance(error.__cause__, OSError) else error from error
    except EOFError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and not isinstance(error, ConnectionError | TimeoutError):
            raise
        if isinstance(lack := error.__cause__, OSError) and lack.errno in OUT_OF_HANDLES:  # not a failure of the game
            raise lack from error
        reason = str(error) if isinstance(error, HarborError) else f"{type(error).__name__}: {error}"
        found = failed(task, reason, passing=isinstance(error, LogError))  # a difference may be gone next time
    return TaskOutcome(found, budget.spent if budget else 0.0)


def _held(task: Task, path: Path) -> AbstractContextManager[BatchGame | None]:
    """Return a context for a game whose calls go in batches; without a lane it does nothing."""
    if task.lane is None:
        return nullcontext()
    return task.lane.holding(task.trial.path, lambda: {call.answer_id for call in calls_in(path)} - {""})


def worker_lost(task: Task) -> TaskOutcome:
    """Return the outcome of a trial in which too many workers died."""
    reason = f"its worker died {MAX_ATTEMPTS} times: killed from outside, or out of memory; try fewer jobs"
    path = trial_path(task.folder, task.trial)
    return TaskOutcome(
        failed(task, reason), paid_for(path, task.trial.config.models) if task.dollars is not None else 0.0
    )


def failed(task: Task, reason: str, passing: bool = False) -> TrialRecord:
    """Write why a trial has failed; `passing` means that the session failed, and the next one tries again."""
    path = trial_path(task.folder, task.trial)
    keep_failure(path, redact(reason)[:LONGEST_REASON], passing)
    return read_trial(path, task.trial, task.metrics)


def _inputs(task: Task, budget: RunBudget | None, cache: ReplyCache | None, game: BatchGame | None) -> RunInputs:
    governor = RemoteGovernor(task.governor) if task.governor else None
    return RunInputs(agents=task.agents, budget=budget, governor=governor, age=task.age, cache=cache, batch=game)


async def _played(task: Task, path: Path, inputs: RunInputs) -> Logs:
    """Run a trial, and ask the person who plays in it, if any."""
    config, person = task.trial.config, task.trial.person
    if person is None or task.host is None:
        return await _run_in(path, config, inputs)
    return await task.host(person, lambda listen, people: _run_in(path, config, replace(inputs, people=people), listen))


async def _run_in(path: Path, config: AuctionConfig, inputs: RunInputs, listen: Listener | None = None) -> Logs:
    clear(path)
    if config.series is None and (done := complete(path)) is not None:
        return [done.entries]
    run = prepare(config, inputs)
    with closing(_folder(path, run.config)) as folder:
        return logs_of(await run.run(folder, listen))


def _folder(path: Path, config: AuctionConfig) -> RunFolder:
    return RunFolder.reopen(path) if begun(path) else RunFolder.make(path, config)
