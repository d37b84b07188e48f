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
from support.folders import ROOT, TINY

SHORT = {"runs": 2, "days": 3}
"""Settings that make games of days and runs short."""


def values(kind, slow=(), every=1):
    """Harbor's own values; CI runs one of `every` so many, and `make studies` all."""
    own = [one for one in everything(kind) if one.builtin]
    marks = {one.name: [pytest.mark.slow] if slow == "all" or one.name in slow else [] for one in own}
    return [
        pytest.param(one.value, id=one.name, marks=[*marks[one.name], *([pytest.mark.studies] if at % every else [])])
        for at, one in enumerate(own)
    ]


@pytest.mark.parametrize("game", values("game", ["english"]))
def test_every_game_keeps_its_promises(game):
    settings = {name: value for name, value in SHORT.items() if name in game.settings.model_fields}
    check_game(game, settings)


@pytest.mark.parametrize("show", ["actions", "actions and values"])
@pytest.mark.parametrize("game", ["second-price", "first-price", "english-private"])
def test_a_game_whose_values_are_given_keeps_them_private_until_it_shows_them(game, show, monkeypatch):
    value = next(one.value for one in everything("game") if one.name == game)
    prior = {"kind": "normal", "mean": 50, "deviation": 10}
    rules = {"runs": 1, "values": {"Ann": (61.37,), "Ben": (59.83,), "Cho": (57.29,)}, "distribution": prior}
    check_game(value, {**rules, "show": show})
    facts = PrivateValues.facts
    monkeypatch.setattr(PrivateValues, "facts", lambda one: {**facts(one), "fee": one.values["Ann"][0]})
    with pytest.raises(AssertionError, match="all are told what only 'Ann' should know"):
        check_game(value, {**rules, "show": show})


@pytest.mark.parametrize("policy", values("policy"))
def test_every_policy_keeps_its_promises(policy):
    check_policy(policy)


@pytest.mark.parametrize("node", values("node"))
def test_every_node_keeps_its_promises(node):
    check_node(node)


@pytest.mark.parametrize("metric", values("metric", every=5))
def test_every_metric_keeps_its_promises(metric):
    check_metric(metric)


@pytest.mark.parametrize("figure", values("figure", "all", every=5))
def test_every_figure_keeps_its_promises(figure):
    check_figure(figure)


@pytest.mark.parametrize("model", values("model"))
def test_every_model_keeps_its_promises(model):
    check_model(model)


@pytest.mark.parametrize("catalogue", values("catalogue"))
def test_every_catalogue_keeps_its_promises(catalogue):
    check_catalogue(catalogue)


@pytest.mark.parametrize(
    "design",
    [TINY, ROOT / "examples" / "experiment.toml", pytest.param("beauty", marks=pytest.mark.slow)],
    ids=["tiny", "example", "beauty"],
)
def test_an_experiment_keeps_its_promises(design):
    check_experiment(design)
