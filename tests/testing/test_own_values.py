"""Every value of Harbor's own passes the suite of its kind, as a stranger's must."""

from __future__ import annotations

import pytest

from harbor._core.plugins.finding import everything
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
from support.cases import crossed
from support.folders import ROOT, TINY

SHORT = {"runs": 2, "days": 3}
"""Settings that make games of days and runs short."""


def check_short_game(game):
    check_game(game, {name: value for name, value in SHORT.items() if name in game.settings.model_fields})


GAMES = ("english-private", "second-price", "water")
"""The games that CI checks; `make studies` checks all."""


def own(kind, check, slow="", every=1, kept=()):
    """Harbor's own values with their suite; CI runs those that are kept, or every n-th, and `make studies` all."""
    for at, one in enumerate(one for one in everything(kind) if one.builtin):
        marks = [pytest.mark.slow] if slow in ("all", one.name) else []
        is_left_out = one.name not in kept if kept else at % every
        marks += [pytest.mark.studies] if is_left_out else []
        yield pytest.param(check, one.value, id=f"{kind} {one.name}", marks=marks)


@pytest.mark.parametrize(
    ("check", "value"),
    [
        *own("game", check_short_game, slow="english", kept=GAMES),
        *own("policy", check_policy),
        *own("node", check_node, every=3),
        *own("metric", check_metric, every=8),
        *own("figure", check_figure, slow="all", every=8),
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
