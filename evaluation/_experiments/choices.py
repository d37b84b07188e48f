"""A user's choice of models, arms, repeats and seed for a design, and the settings that the built-in model ignores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harbor._config.auction import check
from harbor._config.models import BUILT_IN
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.plugins.finding import find
from harbor._games.game import Game
from harbor._models.prices import price_of
from harbor._models.providers import settings_of
from harbor._runs.inputs import models_in_use
from harbor.evaluation._experiments.design import Experiment, Published, with_models
from harbor.evaluation._experiments.design_parts import ModelPrice, price_key
from harbor.evaluation._experiments.trials import Trial, planned_repeats, trials


def chosen(
    experiment: Experiment,
    models: Sequence[str] = (),
    arms: Sequence[str] = (),
    repeats: int | None = None,
    seed: int | None = None,
    same_seed: bool = False,
) -> Experiment:
    """Return the design with some models, arms, repeats or seed replaced; the rest stays as designed.

    `models` fill the first slots; `arms` keeps only those arms. With `same_seed` all repeats share one draw, even if
    the design does not say so.

    Raises:
        ConfigError: there are more models than slots, an arm is unknown, or repeats or seed are too low.
    """
    experiment = chosen_arms(with_models(experiment, models), arms)
    if repeats is not None:
        experiment = _repeated(experiment, repeats)
    changes: dict[str, object] = {} if seed is None else {"seed": seed}
    changes |= {"same_seed": True} if same_seed else {}
    return check(Experiment, experiment.model_dump(mode="json") | changes, f"experiment {experiment.name!r}")


def _repeated(experiment: Experiment, repeats: int) -> Experiment:
    """Set the repeats of every arm under every condition, also where they had their own."""
    planned_repeats(experiment, repeats)  # refuses too few or too many
    plain = {"repeats": None}
    arms = tuple(arm.model_copy(update=plain) for arm in experiment.arms)
    conditions = tuple(condition.model_copy(update=plain) for condition in experiment.conditions)
    return experiment.model_copy(update={"repeats": repeats, "arms": arms, "conditions": conditions})


def with_prices(experiment: Experiment) -> Experiment:
    """Return the design with today's prices of its models, so that it is resumed at the same prices on another day.

    Raises:
        ConfigError: a bidder's model is unknown.
    """
    configs = [trial.config for trial in trials(experiment, 1)]
    used = {
        price_key(settings.use, settings.base_url): settings
        for config in configs
        for settings in (settings_of(name, config.models) for name in models_in_use(config))
    }
    found = {key: price_of(used[key]) for key in sorted(used.keys() - experiment.prices.keys())}
    listed = {
        key: ModelPrice(input_price=price.input_price, cached_price=price.cached_price, output_price=price.output_price)
        for key, price in found.items()
        if price is not None
    }
    return experiment.model_copy(update={"prices": experiment.prices | listed})


def chosen_arms(experiment: Experiment, names: Iterable[str]) -> Experiment:
    """Keep only these arms and their published numbers; without names, keep all. Every comparison stays.

    A comparison with an arm that is left out can't be made, but it was planned, so it still counts in Holm's family.

    Raises:
        ConfigError: no arm has that name.
    """
    wanted = list(names)
    known = [arm.name for arm in experiment.arms]
    for name in wanted:
        if name not in known:
            raise ConfigError(unknown("arm", name, known))
    if not wanted:
        return experiment
    kept, left_out = (tuple(one for one in experiment.arms if (one.name in wanted) == stays) for stays in (True, False))
    published = tuple(told for one in experiment.published if (told := _of_arms(one, wanted)).values)
    left_out = (*experiment.arms_left_out, *left_out)
    return experiment.model_copy(update={"arms": kept, "arms_left_out": left_out, "published": published})


def _of_arms(published: Published, arms: list[str]) -> Published:
    return published.model_copy(update={"values": tuple(one for one in published.values if one.arm in ("", *arms))})


def unheeded(experiment: Experiment) -> tuple[str, ...]:
    """Name the arms in which the built-in model ignores the personas of its bidders. Return nothing if none does."""
    found: dict[str, dict[str, None]] = {}
    for one in trials(experiment, 1):
        if told := _told(one):
            found.setdefault(told, {})[one.arm] = None
    return tuple(f"in {'arm' if len(arms) == 1 else 'arms'} {', '.join(arms)}: {told}" for told, arms in found.items())


def _told(trial: Trial) -> str:
    models = trial.config.models
    played = [one for one in trial.config.bidders if one.uses_model and models[one.model].use == BUILT_IN]
    game: Game = find("game", trial.config.rules.game)
    return game.unheeded({one.name: one.persona for one in played})
