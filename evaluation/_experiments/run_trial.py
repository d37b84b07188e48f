"""Run one trial of an experiment in memory; `_running.work` runs it in a folder, where it can be resumed."""

from __future__ import annotations

from collections.abc import Sequence

from harbor._config.auction import AuctionConfig, ModelSettings
from harbor._core.log_lines import Entry
from harbor._runs.inputs import RunInputs, models_in_use
from harbor._runs.result import Listener, Result
from harbor._runs.run import start
from harbor._runs.series import SeriesResult, prepare
from harbor.evaluation._experiments.trial_records import TrialRecord, record
from harbor.evaluation._experiments.trials import Trial


async def run_trial(trial: Trial, metrics: Sequence[str], listen: Listener | None = None) -> TrialRecord:
    """Run a trial and measure it."""
    return record(trial, metrics, await _logs(trial.config, listen))


def offline(config: AuctionConfig) -> AuctionConfig:
    """Replace every model by the built-in one, free and without latency, and keep no memory beyond the trial."""
    models = {name: config.models.get(name) or ModelSettings() for name in models_in_use(config)}
    built_in = {
        name: settings.model_copy(
            update={"use": "simulated", "simulated": settings.simulated.model_copy(update={"latency_seconds": 0.0})}
        )
        for name, settings in models.items()
    }
    memory = config.memory.model_copy(update={"store": None, "embedding": "hashing"})
    return config.model_copy(update={"models": built_in, "memory": memory})


async def _logs(config: AuctionConfig, listen: Listener | None) -> list[Sequence[Entry]]:
    return logs_of(await start(prepare(config, RunInputs()), listen=listen))


def logs_of(result: Result | SeriesResult) -> list[Sequence[Entry]]:
    """Give the log of a run; of a series, its own log and then those of its auctions."""
    return [result.log, *(one.log for one in result.auctions)] if isinstance(result, SeriesResult) else [result.log]
