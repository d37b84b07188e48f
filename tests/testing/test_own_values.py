"""Every value of Harbor's own passes the suite of its kind, as a stranger's must."""

from __future__ import annotations

import pytest

from harbor._core.plugins.finding import everything, find
from harbor._games.sessions.private_games import PrivateValues
from harbor.testing import (
    check_catalogue,
    check_experiment,
    check_figure,
    check_game,
    check_metric,
    check_model,
    check_node,
    check_policy,
)
from support.cases import crossed, some
from support.folders import ROOT, TINY

SHORT = {"runs": 2, "days": 3}
"""Settings that make games of days and runs short."""


def check_short_game(game):
    check_game(game, {name: value for name, value in SHORT.items() if name in game.settings.model_fields})


KEPT = {
    "game": ("english-private", "second-price", "water"),
    "node": ("believe", "fused", "mirror", "profile", "replan"),
    "metric": (
        "profit", "winning_bid", "legality", "bid_increase", "final_profile_brier", "priority_current", "survivors",
        "earned_by_run", "forecast_error", "input_tokens",
    ),
    "figure": ("priorities-by-match", "profit-by-item", "health"),
}  # fmt: skip
"""The values that CI checks of kinds with many; `make studies` checks all."""


def own(kind, check, *marks):
    """Return Harbor's own values of a kind with their suite."""
    names = [one.name for one in everything(kind) if one.builtin]
    for one in some(names, KEPT.get(kind, names)):
        [name] = one.values
        yield pytest.param(check, find(kind, name), id=f"{kind} {name}", marks=[*one.marks, *marks])


@pytest.mark.parametrize(
    ("check", "value"),
    [
        *own("game", check_short_game),
        *own("policy", check_policy),
        *own("node", check_node),
        *own("metric", check_metric),
        *own("figure", check_figure, pytest.mark.slow),
        *own("model", check_model),
        *own("catalogue", check_catalogue),
    ],
)
def test_every_value_keeps_its_promises(check, value):
    check(value)


@pytest.mark.parametrize(
    ("game", "show"), crossed(["second-price", "first-price", "english-private"], ["actions", "actions and values"])
)
def test_a_game_whose_values_are_given_keeps_them_private_until_it_shows_them(game, show, monkeypatch):
    value = next(one.value for one in everything("game") if one.name == game)
    prior = {"kind": "normal", "mean": 50, "deviation": 10}
    rules = {"runs": 1, "values": {"Ann": (61.37,), "Ben": (59.83,), "Cho": (57.29,)}, "distribution": prior}
    check_game(value, {**rules, "show": show})
    facts = PrivateValues.facts
    monkeypatch.setattr(PrivateValues, "facts", lambda one: {**facts(one), "fee": one.values["Ann"][0]})
    with pytest.raises(AssertionError, match="all are told what only 'Ann' should know"):
        check_game(value, {**rules, "show": show})


@pytest.mark.parametrize(
    "design",
    [TINY, ROOT / "examples" / "experiment.toml", pytest.param("beauty", marks=pytest.mark.slow)],
    ids=["tiny", "example", "beauty"],
)
def test_an_experiment_keeps_its_promises(design):
    check_experiment(design)
