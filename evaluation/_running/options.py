"""Options of an experiment: those of one session, and those that it keeps, such as the lane of its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from pydantic import ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.files.layout import BATCHES
from harbor._core.plugins.finding import given
from harbor._models.batch.job_records import JobRecords
from harbor._models.batch.lane import BatchLane, check_batched
from harbor._models.budget import check_limit
from harbor._models.providers import settings_of
from harbor._models.replies.cache import ReplyCache
from harbor._models.replies.reply_folder import own_folder
from harbor._runs.inputs import models_in_use
from harbor._runs.manifest import EXACT, kept, wrong_in
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import Trial, trials
from harbor.evaluation._running.executors import EXECUTORS
from harbor.evaluation._running.hosting import Host

Lane = Literal["live", "batch"]
"""Way of model calls: each at once, or in batches."""


def check_lane(planned: Iterable[Trial]) -> None:
    """Refuse to run in batches if a model of a trial takes no batches.

    Raises:
        ConfigError: the message names the model.
    """
    for trial in planned:
        models = trial.config.models
        check_batched({name: settings_of(name, models) for name in models_in_use(trial.config)})


def check_collected(path: Path, lane: Lane) -> None:
    """Refuse to go on live while batches are out.

    Raises:
        ConfigError: the batches' calls would be paid for a second time.
        RunFolderError: the records of batches were changed.
    """
    if lane == "live" and JobRecords(path / BATCHES).out:
        raise ConfigError(
            f"experiment {str(path)!r} has batches that nobody has collected, which would be paid for again; resume it"
            f" with --lane batch, or remove {BATCHES} to give them up"
        )


def opened_lane(path: Path, lane: Lane, tell: Callable[[str], object]) -> AbstractAsyncContextManager[BatchLane | None]:
    """Return the batch lane of an experiment in a folder; None: each call goes by itself.

    Raises:
        RunFolderError: the records of batches were changed.
    """
    return BatchLane(JobRecords(path / BATCHES), tell) if lane == "batch" else nullcontext()


@checked_dataclass(frozen=True, config=EXACT)
class ExperimentOptions:
    """The options that an experiment keeps.

    `jobs` is the number of concurrent trials (None: the executor's default), `address` that of a Ray cluster.
    `max_cost` is in dollars, over all sessions of the experiment (None: no limit). With `cache`, replies of hosted
    models are kept on this machine, and none is bought twice. In the `batch` lane, calls wait and go out as one job, at
    half the price.
    """

    executor: str = "asyncio"
    jobs: int | None = None
    address: str | None = None
    max_cost: float | None = None
    cache: bool = True
    lane: Lane = "live"

    def check(self) -> None:
        """Refuse impossible options.

        Raises:
            ConfigError: the message names the setting.
        """
        if self.executor not in EXECUTORS:
            raise ConfigError(unknown("executor", self.executor, EXECUTORS))
        if self.address is not None and self.executor != "ray":
            raise ConfigError(f"address {self.address!r} is for executor 'ray', not {self.executor!r}; drop one")
        if self.executor != "asyncio" and (values := given()):
            raise ConfigError(
                f"{values[0]!r} is an object of this process, which the workers of {self.executor!r} do not have; name"
                " it as 'package.module:NAME', or take executor 'asyncio'"
            )
        if self.lane not in get_args(Lane):
            raise ConfigError(unknown("lane", self.lane, get_args(Lane)))
        if self.lane == "batch" and self.executor != "asyncio":
            raise ConfigError(
                f"calls can wait for a batch in one process only, and executor {self.executor!r} has several; take"
                " executor 'asyncio'"
            )
        if self.jobs is not None and self.jobs < 1:
            raise ConfigError(f"jobs {self.jobs} would run no trial; give 1 or more")
        if self.max_cost is not None:
            check_limit(self.max_cost)
        _ = self.opened

    @property
    def opened(self) -> ReplyCache | None:
        """The cache of replies; None without one."""
        return ReplyCache(own_folder()) if self.cache else None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one session; results do not depend on them.

    The first six are those of `ExperimentOptions`. None means the default in a new experiment, and the kept option in a
    resumed one. `tell` gets a line on each batch job. `host` asks the people who sit in games (None: nobody can).
    `tell` and `host` belong to a session, and no experiment keeps them.
    """

    executor: str | None = None
    jobs: int | None = None
    address: str | None = None
    max_cost: float | None = None
    cache: bool | None = None
    lane: Lane | None = None
    tell: Callable[[str], object] = lambda _: None
    host: Host | None = None

    def over(self, begun: ExperimentOptions) -> ExperimentOptions:
        """Return the options of an experiment, checked, with these in place of the old ones.

        Raises:
            ConfigError: an option can't be kept, or two contradict each other; the message names them.
        """
        if self.executor not in (None, "ray"):
            begun = replace(begun, address=None)  # a cluster's address has no meaning elsewhere
        chosen = {name: one for name in asdict(begun) if (one := getattr(self, name)) is not None}
        try:
            options = replace(begun, **chosen)
        except ValidationError as error:
            raise ConfigError(f"an option can't be taken: {wrong_in(error)}") from error
        options.check()
        return options


def options_again(path: Path, experiment: Experiment, options: RunOptions) -> ExperimentOptions:
    """Return the options with which an experiment is resumed.

    Raises:
        RunFolderError: its kept options can't be read.
        ConfigError: a new option is impossible, or contradicts the experiment.
    """
    begun = kept(path, ExperimentOptions)
    again = options.over(begun)
    if experiment.same_seed and again.cache and not begun.cache:
        raise ConfigError(
            f"experiment {str(path)!r} measures the noise of its models with --same-seed and --no-cache, and replies of"
            " the cache have no noise of their own; drop --cache, or begin a new run"
        )
    if again.lane == "batch":
        check_lane(trials(experiment, 1))
    check_collected(path, again.lane)
    return again
