"""The lane that the calls of an experiment take: each by itself, or together in batches at half the price."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Literal

from harbor._core.errors import ConfigError
from harbor._core.layout import BATCHES
from harbor._models.batch.discount import check_batched
from harbor._models.batch.job_records import JobRecords
from harbor._models.batch.lane import BatchLane
from harbor._models.providers import settings_of
from harbor._runs.inputs import models_in_use
from harbor.evaluation._experiments.trials import Trial

Lane = Literal["live", "batch"]


def check_lane(planned: Iterable[Trial]) -> None:
    """Refuse batches where a trial has a model that takes none.

    Raises:
        ConfigError: it names the model.
    """
    for trial in planned:
        models = trial.config.models
        check_batched({name: settings_of(name, models) for name in models_in_use(trial.config)})


def check_collected(path: Path, lane: Lane) -> None:
    """Refuse to go on live while batches are out.

    Raises:
        ConfigError: what they hold would be paid a second time.
        RunFolderError: the records of batches were changed.
    """
    if lane == "live" and JobRecords(path / BATCHES).out:
        raise ConfigError(
            f"experiment {str(path)!r} has batches that nobody has collected, which would be paid for again; resume it"
            f" with --lane batch, or remove {BATCHES} to give them up"
        )


def opened_lane(path: Path, lane: Lane, tell: Callable[[str], object]) -> AbstractAsyncContextManager[BatchLane | None]:
    """Open the lane of an experiment in a folder; None: each call goes by itself.

    Raises:
        RunFolderError: the records of batches were changed.
    """
    return BatchLane(JobRecords(path / BATCHES), tell) if lane == "batch" else nullcontext()
