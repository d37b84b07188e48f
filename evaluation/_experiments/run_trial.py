"""Run one trial of an experiment in memory; `_running.work` runs it in a folder, where it can be resumed."""

from __future__ import annotations

from collections.abc import Sequence

from harbor._config.auction import AuctionConfig, Bidder, ModelSettings
from harbor._core.log_lines import Entry
from harbor._runs.inputs import RunInputs, models_in_use
from harbor._runs.result import Result
from harbor._runs.run import start
from harbor._runs.series import SeriesResult, prepare
from harbor.evaluation._experiments.trial_records import TrialRecord, record
from harbor.evaluation._experiments.trials import Trial


async def run_trial(trial: Trial, metrics: Sequence[str]) -> TrialRecord:
    """Run a trial and measure it."""
    return record(trial, metrics, await _logs(trial.config))


def offline(config: AuctionConfig) -> AuctionConfig:
    """Have the built-in model play for everybody but scripts, free and without latency; keep no memory of it."""
    bidders = tuple(_stand_in(bidder) if bidder.person or bidder.agent else bidder for bidder in config.bidders)
    config = config.model_copy(update={"bidders": bidders})
    models = {name: config.models.get(name) or ModelSettings() for name in models_in_use(config)}
    built_in = {
        name: settings.model_copy(
            update={
                "use": "simulated",
                "fallback": None,
                "simulated": settings.simulated.model_copy(update={"latency_seconds": 0.0}),
            }
        )
        for name, settings in models.items()
    }
    memory = config.memory.model_copy(update={"store": None, "embedding": "hashing"})
    return config.model_copy(update={"models": built_in, "memory": memory})


STAND_IN = "a stand-in"
"""The name of the model that plays the seat of a person or an agent."""


def _stand_in(bidder: Bidder) -> Bidder:
    nobody = {"person": False, "agent": False}
    return bidder.model_copy(update={**nobody, "model": STAND_IN, "planning": "none", "believe": False})


async def _logs(config: AuctionConfig) -> list[Sequence[Entry]]:
    return logs_of(await start(prepare(config, RunInputs())))


def logs_of(result: Result | SeriesResult) -> list[Sequence[Entry]]:
    """Give the log of a run; of a series, its own log and then those of its auctions."""
    return [result.log, *(one.log for one in result.auctions)] if isinstance(result, SeriesResult) else [result.log]
