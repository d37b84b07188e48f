"""The runner runs the trials of an experiment in its folder, within a budget, on any executor, and resumes them.

Money is reserved before it is spent, so no executor can overdraw the limit by more than one call per trial.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from harbor._core.basics.errors import ModelError, RunPaused
from harbor._core.files.layout import check_experiment
from harbor._core.files.marks import check_own
from harbor._core.plugins.finding import references
from harbor._models.batch.lane import AT_ONCE, BatchLane
from harbor._models.budget import check_prices
from harbor._models.replies.cache import ReplyCache
from harbor._runs.inputs import RunInputs, people_of
from harbor._runs.manifest import keep
from harbor._runs.resolve import models_of
from harbor._runs.run import paid_for
from harbor._runs.series import prepare
from harbor.evaluation._experiments.choices import with_prices
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.trial_records import Results, Tally, TrialRecord, tally
from harbor.evaluation._experiments.trials import Trial, trials
from harbor.evaluation._running.executors import EXECUTORS
from harbor.evaluation._running.experiment_folder import (
    check_versions,
    locked,
    make_folder,
    read_design,
    read_results,
    resumable,
    trial_path,
    write_results,
)
from harbor.evaluation._running.hosting import Host, check_shared, check_stated, given_to
from harbor.evaluation._running.options import ExperimentOptions, check_lane, opened_lane, options_again
from harbor.evaluation._running.options import RunOptions as RunOptions
from harbor.evaluation._running.trial_folder import may_pass, set_aside
from harbor.evaluation._running.work import Executor, Task, TaskOutcome

ROOM = 1.5
"""A trial stops once it costs this many times the dearest so far; it resumes by replay, which is free."""
NOTHING = 1e-6
"""Least dollars with which a trial starts; rounding errors of sums are smaller."""


class ExperimentBudget:
    """The budget of an experiment: its limit, the cost of each trial so far, and the amounts reserved for running ones.

    The cost of a trial is unknown before it ends, so the dearest trial so far is the estimate. The first trial runs
    alone, and after n finished trials at most n + 1 run at once. So if trials cost more than the first, few are
    running, and the money finishes those. For example, $40 and trials of $11.50 finish three trials, whatever `jobs`
    is.

    Args:
        limit: in dollars; None: no limit.
        paid: the cost of each trial so far, in dollars, by its path.
    """

    def __init__(self, limit: float | None = None, paid: Mapping[str, float] | None = None) -> None:
        self._limit = limit
        self._paid = dict(paid or {})
        self._reserved: dict[str, float] = {}

    @property
    def left(self) -> float:
        """The amount neither spent nor reserved, in dollars."""
        if self._limit is None:
            return math.inf
        bound = {trial: max(dollars, self._reserved.get(trial, 0.0)) for trial, dollars in self._paid.items()}
        return self._limit - sum(bound.values())

    def may_start(self, trial: Trial, running: int, finished: int) -> bool:
        """Say whether a trial may start beside `running` others: the money left must cover the dearest trial so far.

        Beside others, it must cover the trial's reservation: with less, the trial may stop, and later ones overtake it.
        """
        if self._limit is None:
            return True
        needed = (ROOM if running else 1) * self._dearest - self._paid.get(trial.path, 0.0)
        return running <= finished and self.left >= max(needed, NOTHING)

    def reserve(self, trial: Trial) -> float | None:
        """Reserve more than the dearest cost so far; return the total at which a trial stops, None for no limit."""
        if self._limit is None:
            return None
        paid = self._paid.setdefault(trial.path, 0.0)
        # While no trial has cost anything, reserve half: if this one is free too, others can run beside the next.
        wanted = ROOM * self._dearest - paid if self._dearest else self.left / 2
        self._reserved[trial.path] = paid + min(self.left, wanted)
        return self._reserved[trial.path]

    @property
    def _dearest(self) -> float:
        return max(self._paid.values(), default=0.0)

    def settle(self, trial: Trial, paid: float) -> None:
        """Record the total cost of a trial that has ended or stopped, and release the rest of its reservation."""
        self._reserved.pop(trial.path, None)
        self._paid[trial.path] = paid


NO_AGENTS: Mapping[str, Any] = {}
OnProgress = Callable[[Tally, TrialRecord | None], None]
"""Callback for progress: first with the state at the start, then after each trial that ends."""


async def run_experiment(
    experiment: Experiment,
    out: Path,
    options: RunOptions = RunOptions(),
    on_progress: OnProgress = lambda *_: None,
    agents: Mapping[str, Any] = NO_AGENTS,
) -> Results:
    """Run all trials of an experiment in a new folder, and measure them.

    A trial that fails for a reason of its own is recorded as failed, and the others go on. At the limit of `max_cost`
    the running trials stop and can be resumed. `agents` are those of bidders with `agent = true`, of any make; an
    AutoGen agent must be made for each game, by an `Agent`.

    Raises:
        ConfigError: no trial could be run with a setting, or a price is unknown; nothing has been written.
        RunFolderError: the folder exists, or can't be written.
        ModelError: a provider refuses the calls of a model; remove the cause and resume.
        RunPaused: a provider can't be reached; resume later.
        OSError: a file can't be written, for example on a full disk; make room and resume.
    """
    kept = options.over(ExperimentOptions())
    experiment = with_prices(experiment)
    first = [trial for trial in trials(experiment) if trial.repeat == 1]
    check_shared(first, kept, options.host, agents)
    if kept.lane == "batch":
        check_lane(first)
    if kept.max_cost is not None:
        _check_prices(first)
    for trial in first:  # a fault in the first of a kind is in all
        seated = given_to(trial.config, agents)
        prepare(trial.config, RunInputs(cache=kept.opened, people=people_of(trial.config), agents=seated))
    check_stated(first)
    async with _opened(kept) as executor:
        make_folder(out, experiment, kept)
        return await _go_on(out, experiment, options, kept, on_progress, agents, executor=executor)


async def resume_experiment(
    path: Path,
    options: RunOptions = RunOptions(),
    on_progress: OnProgress = lambda *_: None,
    retry_failed: bool = False,
    trust: bool = False,
    agents: Mapping[str, Any] = NO_AGENTS,
) -> Results:
    """Resume an experiment: finished trials stay as they are, and an interrupted one is replayed, then continued.

    The experiment keeps its options except those that `options` sets; the manifest notes each change. A failed trial is
    tried again only with `retry_failed`, or if it failed because its replay differed from its log. A folder from
    somebody else needs `trust`, as in `harbor.resume`. `agents` are as in `run_experiment`.

    Raises:
        RunFolderError: the folder has no experiment or is not marked as yours, its design was changed, another version
            of Harbor began it, or another process runs it.
        LogError: the log of a game was edited.
        ConfigError: a price is unknown, or an option contradicts what the experiment has.
        ModelError: a provider refuses the calls of a model; remove the cause and resume.
        RunPaused: a provider can't be reached; resume later.
        OSError: the folder can't be written.
    """
    check_experiment(path)
    resumable(path)
    check_own(path, trust)
    experiment = read_design(path)
    check_versions(path)
    kept = options_again(path, experiment, options)
    return await _go_on(path, experiment, options, kept, on_progress, agents, retry_failed)


def _opened(options: ExperimentOptions) -> AbstractAsyncContextManager[Executor]:
    return EXECUTORS[options.executor](options.jobs or (AT_ONCE if options.lane == "batch" else None), options.address)


async def _go_on(
    path: Path,
    experiment: Experiment,
    options: RunOptions,
    kept: ExperimentOptions,
    on_progress: OnProgress,
    agents: Mapping[str, Any],
    retry_failed: bool = False,
    executor: Executor | None = None,
) -> Results:
    """Run the unfinished trials; an executor is opened only if there is one to run, and money for it."""
    with locked(path):
        todo, done = _sorted(path, experiment, retry_failed)
        check_shared(todo, kept, options.host, agents)
        budget = _budget(path, trials(experiment), kept.max_cost)
        so_far = replace(tally(done), games=len(todo) + len(done))
        on_progress(so_far, None)
        if todo:
            keep(path, kept)
        if todo and budget.may_start(todo[0], 0, so_far.finished):
            opened = nullcontext(executor) if executor else _opened(kept)
            async with opened as places, opened_lane(path, kept.lane, options.tell) as lane:
                tasks = _tasks(path, experiment, todo, kept.opened, lane, options.host, agents)
                await _run_all(tasks, places, budget, so_far, on_progress)
        results = read_results(path)
        write_results(path, results)
        return results


def _tasks(
    path: Path,
    experiment: Experiment,
    todo: list[Trial],
    cache: ReplyCache | None,
    lane: BatchLane | None,
    host: Host | None,
    agents: Mapping[str, Any],
) -> list[Task]:
    metrics, followed = measured(experiment), references()
    return [
        Task(
            path.absolute(),
            trial,
            metrics,
            references=followed,
            age=(number,),
            cache=cache,
            lane=lane,
            host=host if trial.person else None,
            agents=given_to(trial.config, agents),
        )
        for number, trial in enumerate(todo)
    ]


def _sorted(path: Path, experiment: Experiment, retry_failed: bool) -> tuple[list[Trial], list[TrialRecord]]:
    """Return the trials to run, and the records of the others."""
    todo, done = [], []
    for trial, record in zip(trials(experiment), read_results(path).records, strict=True):
        folder = trial_path(path, trial)
        again = record.status == "failed" and (retry_failed or may_pass(folder))
        if again:
            set_aside(folder)
        if again or record.status == "unfinished":
            todo.append(trial)
        else:
            done.append(record)
    return todo, done


def _budget(path: Path, planned: list[Trial], limit: float | None) -> ExperimentBudget:
    """Return the budget; payments of earlier sessions count, also for trials that were set aside."""
    if limit is None:
        return ExperimentBudget()
    _check_prices(planned)
    folders = ((trial, folder) for trial in planned for folder in _folders(trial_path(path, trial)))
    return ExperimentBudget(
        limit, {_key(trial, folder): paid_for(folder, trial.config.models) for trial, folder in folders}
    )


def _check_prices(planned: list[Trial]) -> None:
    for trial in planned:
        check_prices(models_of(trial.config), "auction.models")


def _folders(path: Path) -> list[Path]:
    return [path, *path.parent.glob(f"{path.name}-*")]


def _key(trial: Trial, folder: Path) -> str:
    return str(Path(trial.path).with_name(folder.name))


async def _run_all(
    tasks: list[Task], executor: Executor, budget: ExperimentBudget, so_far: Tally, on_progress: OnProgress
) -> None:
    """Keep all places busy while there are trials and money; if this is interrupted, stop the running trials.

    Raises:
        RunPaused: a provider can't be reached; the other running trials have ended or paused too.
        ModelError: a provider refuses calls; the other running trials have ended too, because their calls are paid for.
    """
    waiting, running = deque(tasks), dict[asyncio.Task[TaskOutcome], Task]()
    stopped: TaskOutcome | None = None
    try:
        while waiting or running:
            while (
                stopped is None
                and len(running) < executor.places
                and (task := _next(waiting, running.values()))
                and budget.may_start(task.trial, len(running), so_far.finished)
            ):
                waiting.remove(task)
                funded = replace(task, dollars=budget.reserve(task.trial))
                running[asyncio.ensure_future(executor.run(funded))] = funded
            if not running:
                break
            ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for one in ended:
                task, outcome = running.pop(one), one.result()
                budget.settle(task.trial, outcome.paid)
                stopped = stopped or (outcome if outcome.paused else None)
                if outcome.record is None:  # out of money: it runs next, with its cost now known
                    waiting.appendleft(task)
                else:
                    so_far = so_far.plus(outcome.record)
                    on_progress(so_far, outcome.record)
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    if stopped is not None:
        raise (ModelError if stopped.refused else RunPaused)(stopped.paused)


def _next(waiting: Iterable[Task], running: Iterable[Task]) -> Task | None:
    """Return the next trial to start: the first one, except games with people while a person plays."""
    busy = any(task.trial.person for task in running)
    return next((task for task in waiting if not (busy and task.trial.person)), None)
