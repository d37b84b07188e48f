"""What an experiment will take: calls, tokens, dollars, by playing a few of its games on the built-in model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from harbor._config.auction import ModelSettings
from harbor._core.events import ModelCalled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._experiments.choices import with_prices
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.run_trial import offline, run_trial
from harbor.evaluation._experiments.trials import Trial, trials
from harbor.evaluation._metrics.calls import calls

Track = Callable[[Sequence[Trial]], Iterable[Trial]]
"""Goes through the games that are played, and may show how far it is."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What a model is asked and what that costs; prices are dollars per million tokens (None: unknown)."""

    model: str
    calls: float
    input_tokens: float
    output_tokens: float
    input_price: float | None
    output_price: float | None

    @property
    def cost(self) -> float | None:
        """Dollars; None where a price is unknown."""
        if self.input_price is None or self.output_price is None:
            return None
        return (self.input_tokens * self.input_price + self.output_tokens * self.output_price) / 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """What a game, or many, take; `chain` is the run of calls that wait for one another, as long as a game must last.

    Where there are many games, `chain` is that of a game on average.
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
        """Dollars; None where the price of a model is unknown."""
        costs = [model.cost for model in self.models]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


@dataclass(frozen=True, slots=True)
class ArmUsage:
    """What an arm takes in all its games, and what each of those took that were played."""

    arm: str
    games: int
    usage: Usage
    played: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class DryRun:
    """What an experiment takes, in all and arm by arm."""

    experiment: str
    games: int
    usage: Usage
    arms: tuple[ArmUsage, ...]

    @property
    def played(self) -> int:
        """How many games were played to know it."""
        return sum(len(arm.played) for arm in self.arms)


async def dry_run(experiment: Experiment, sample: int = 1, track: Track = iter) -> DryRun:
    """Say what an experiment takes.

    The built-in model plays the first games of each arm under each condition, in memory. What it is asked counts for
    the model whose place it takes, and as much again for each game of that arm and condition that is not played.

    Args:
        experiment: the design; no model of it is called.
        sample: how many games of each arm under each condition to play.
        track: told the games to be played, and goes through them.

    Raises:
        ConfigError: the settings of an arm are refused, or a model is unknown.
    """
    planned = trials(with_prices(experiment))
    played: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    for game in track([game for game in planned if game.repeat <= sample]):
        played[game.arm, game.condition].append(await _play(game))
    arms = tuple(_arm(arm.name, planned, played) for arm in experiment.arms)
    whole = _together([(arm.usage, 1) for arm in arms], chain=_mean_chain(planned, played))
    return DryRun(experiment.name, len(planned), whole, arms)


def _arm(name: str, planned: Sequence[Trial], played: dict[tuple[str, str], list[Usage]]) -> ArmUsage:
    own = [game for game in planned if game.arm == name]
    cells = {cell: usages for cell, usages in played.items() if cell[0] == name}
    weighted = [
        (usage, sum(game.condition == condition for game in own) / len(usages))
        for (_, condition), usages in cells.items()
        for usage in usages
    ]
    usage = _together(weighted, chain=_mean_chain(own, cells))
    return ArmUsage(name, len(own), usage, tuple(usage for usages in cells.values() for usage in usages))


def _mean_chain(planned: Sequence[Trial], played: dict[tuple[str, str], list[Usage]]) -> float:
    """Average the chains of all planned games, each taken to be as long as those played of its kind."""
    chains = {cell: sum(usage.chain for usage in usages) / len(usages) for cell, usages in played.items()}
    return sum(chains[game.arm, game.condition] for game in planned) / len(planned)


def _together(weighted: Iterable[tuple[Usage, float]], chain: float) -> Usage:
    """Add up what is used, model by model; a model that has several prices is several."""
    sums: dict[tuple[str, float | None, float | None], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for usage, weight in weighted:
        for one in usage.models:
            total = sums[one.model, one.input_price, one.output_price]
            for place, amount in enumerate((one.calls, one.input_tokens, one.output_tokens)):
                total[place] += amount * weight
    return Usage(tuple(ModelUse(name, *used, *prices) for (name, *prices), used in sums.items()), chain)


async def _play(game: Trial) -> Usage:
    """Have the built-in model play a game, and count what it was asked in place of each model."""
    heard: list[Entry] = []
    await run_trial(replace(game, config=offline(game.config)), metrics=(), listen=heard.append)
    made = of_type(heard, ModelCalled)
    names = dict.fromkeys(call.model for call in made)
    found = [_use(name, game.config.models[name], [call for call in made if call.model == name]) for name in names]
    return Usage(tuple(found), calls(heard).chain)


def _use(name: str, settings: ModelSettings, made: Sequence[ModelCalled]) -> ModelUse:
    read = sum(call.input_tokens for call in made)
    written = sum(call.output_tokens for call in made)
    return ModelUse(name, len(made), read, written, settings.input_price, settings.output_price)
