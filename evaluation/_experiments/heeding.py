"""What the built-in model does not read of a design that it plays, so that no arm is taken for more than it is."""

from __future__ import annotations

from harbor._config.models import BUILT_IN
from harbor._core.finding import find
from harbor._games.game import Game
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import Trial, trials


def unheeded(experiment: Experiment) -> tuple[str, ...]:
    """Say in which arms the built-in model does not read the personas of bidders that it plays; nothing if in none."""
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
