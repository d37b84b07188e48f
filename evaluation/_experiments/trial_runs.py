"""Runs trials in memory. Such runs on the built-in model estimate the calls, tokens and dollars of a design.

`_running.work` runs a trial in a folder, where it can be resumed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harbor._config.auction import AuctionConfig, Bidder, ModelSettings
from harbor._core.log.log_entries import Entry
from harbor._models.prices import thoughts_of
from harbor._runs.inputs import Result, RunInputs, models_in_use
from harbor._runs.resolve import models_of
from harbor._runs.run import start
from harbor._runs.series import SeriesResult, prepare
from harbor.evaluation._experiments.choices import with_prices
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trial_records import TrialRecord, record
from harbor.evaluation._experiments.trials import Trial, planned_repeats, trials
from harbor.evaluation._metrics.calls import CallTotals, calls


async def run_trial(trial: Trial, metrics: Sequence[str]) -> TrialRecord:
    """Run a trial and measure it."""
    return record(trial, metrics, await _logs(trial.config))


def offline(config: AuctionConfig) -> AuctionConfig:
    """Let the built-in model play all bidders but scripts, free and without latency, with no memory on disk."""
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
"""Name of the model that plays the seat of a person or an agent."""


def _stand_in(bidder: Bidder) -> Bidder:
    nobody = {"person": False, "agent": False}
    return bidder.model_copy(update={**nobody, "model": STAND_IN, "planning": "none", "believe": False})


async def _logs(config: AuctionConfig) -> list[Sequence[Entry]]:
    return logs_of(await start(prepare(config, RunInputs())))


def logs_of(result: Result | SeriesResult) -> list[Sequence[Entry]]:
    """Return the log of a run; for a series, its own log and then those of its auctions."""
    return [result.log, *(one.log for one in result.auctions)] if isinstance(result, SeriesResult) else [result.log]


Track = Callable[[Sequence[Trial]], Iterable[Trial]]
"""Iterates over the trials to play, and may show progress."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Calls and tokens of one model. Prices are dollars per million tokens (None: unknown).

    `reasoning_tokens` are among the output tokens. `thoughts` names their basis (empty: the model does not think).
    """

    model: str
    calls: float
    input_tokens: float
    output_tokens: float
    reasoning_tokens: float
    input_price: float | None
    output_price: float | None
    thoughts: str = ""

    @property
    def cost(self) -> float | None:
        """Cost in dollars; None if a price is unknown."""
        if self.input_price is None or self.output_price is None:
            return None
        return (self.input_tokens * self.input_price + self.output_tokens * self.output_price) / 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of one trial or of many. `chain` is the critical path: the longest sequence of calls that wait in turn.

    For many trials `chain` is the mean per trial.
    """

    models: tuple[ModelUse, ...]
    chain: float

    @property
    def calls(self) -> float:
        """Calls of all models."""
        return sum(model.calls for model in self.models)

    @property
    def input_tokens(self) -> float:
        """Tokens that the models read."""
        return sum(model.input_tokens for model in self.models)

    @property
    def output_tokens(self) -> float:
        """Tokens that the models write."""
        return sum(model.output_tokens for model in self.models)

    @property
    def cost(self) -> float | None:
        """Cost in dollars; None if the price of a model is unknown."""
        costs = [model.cost for model in self.models]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


@dataclass(frozen=True, slots=True)
class ArmUsage:
    """Usage of all trials of an arm (`usage`), and of each trial that was played (`played`)."""

    arm: str
    games: int
    usage: Usage
    played: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class DryRun:
    """Usage of an experiment, in total and per arm."""

    experiment: str
    games: int
    usage: Usage
    arms: tuple[ArmUsage, ...]

    @property
    def played(self) -> int:
        """Number of trials that were played for the estimate."""
        return sum(len(arm.played) for arm in self.arms)


async def dry_run(experiment: Experiment, track: Track = iter) -> DryRun:
    """Estimate the calls, tokens and dollars of an experiment.

    The built-in model plays the first trial of each arm under each condition, in memory. Its calls count for the
    model that it replaces. The other trials of that arm and condition are assumed to need the same.

    Args:
        experiment: the design; no model of it is called.
        track: gets the trials to be played, and iterates over them.

    Raises:
        ConfigError: the settings of an arm are refused, or a model is unknown.
    """
    priced = with_prices(experiment)
    games = planned_repeats(priced)
    first = track(trials(priced, 1))
    played = {(trial.arm, trial.condition): await play_offline(trial.config) for trial in first}
    arms = tuple(_arm(arm.name, games, played) for arm in experiment.arms)
    whole = _together([(arm.usage, 1) for arm in arms], chain=_mean_chain(games, played))
    return DryRun(experiment.name, sum(games.values()), whole, arms)


def _arm(name: str, games: Mapping[tuple[str, str], int], played: Mapping[tuple[str, str], Usage]) -> ArmUsage:
    own = {cell: count for cell, count in games.items() if cell[0] == name}
    usage = _together([(played[cell], count) for cell, count in own.items()], chain=_mean_chain(own, played))
    return ArmUsage(name, sum(own.values()), usage, tuple(played[cell] for cell in own))


def _mean_chain(games: Mapping[tuple[str, str], int], played: Mapping[tuple[str, str], Usage]) -> float:
    """Return the mean chain of all planned trials. Each is assumed to be as long as the one played in its cell."""
    return sum(played[cell].chain * count for cell, count in games.items()) / sum(games.values())


def _together(weighted: Iterable[tuple[Usage, float]], chain: float) -> Usage:
    """Add up usage per model. A model with several prices counts as several."""
    sums: dict[tuple[str, float | None, float | None, str], list[float]] = defaultdict(lambda: [0.0] * 4)
    for usage, weight in weighted:
        for one in usage.models:
            total = sums[one.model, one.input_price, one.output_price, one.thoughts]
            for place, amount in enumerate((one.calls, one.input_tokens, one.output_tokens, one.reasoning_tokens)):
                total[place] += amount * weight
    uses = []
    for (name, inward, outward, thoughts), (made, read, written, reasoning) in sums.items():
        uses.append(ModelUse(name, made, read, written, reasoning, inward, outward, thoughts))
    return Usage(tuple(uses), chain)


async def play_offline(config: AuctionConfig) -> Usage:
    """Let the built-in model play an auction or a series in memory, and count its calls in place of each model.

    Its calls in the place of an agent or a person are not counted.

    Raises:
        ConfigError: a setting is refused, or a model is unknown.
    """
    models, heard = models_of(config), list[Entry]()
    await start(prepare(offline(config), RunInputs()), listen=heard.append)
    made = calls(heard)
    paid = {name: used for name, used in made.by_model.items() if name != STAND_IN}
    uses = [_use(name, models.get(name, ModelSettings()), used) for name, used in paid.items()]
    return Usage(tuple(uses), made.chain)


def _use(name: str, settings: ModelSettings, used: CallTotals) -> ModelUse:
    thoughts = thoughts_of(settings)
    reasoning = thoughts.per_call * used.count
    tokens = used.input_tokens, used.output_tokens + reasoning, reasoning
    return ModelUse(name, used.count, *tokens, settings.input_price, settings.output_price, thoughts.words)
