"""Every value of Harbor's own passes the suite of its kind, as a stranger's must."""

from __future__ import annotations

import pytest

from harbor import testing
from harbor._core.plugins.finding import everything, find
from harbor._games.sessions.private_games import PrivateValues
from harbor.testing import check_game
from support.cases import crossed, some
from support.folders import ROOT, TINY

SHORT = {"runs": 2, "days": 3}
"""Settings that make games of days and runs short."""


def check_short_game(game):
    check_game(game, {name: value for name, value in SHORT.items() if name in game.settings.model_fields})


def check_short_figure(figure):
    """Check a figure, one of the water game in a game of few days."""
    rules, names = {"game": "water", "days": SHORT["days"]}, ("Alex", "Bob")
    water = {"rules": rules, "bidders": [{"name": name, "rule": "rational"} for name in names]}
    testing.check_figure(figure, water if figure.name == "health" else None)


SHORTENED = {"game": check_short_game, "figure": check_short_figure}
KEPT = {
    "game": ("second-price", "water"),
    "node": ("believe", "fused", "mirror", "profile", "replan"),
    "metric": (
        "profit", "winning_bid", "legality", "bid_increase", "final_profile_brier", "priority_current", "survivors",
        "earned_by_run", "forecast_error", "input_tokens",
    ),
    "figure": ("priorities-by-match", "profit-by-item", "health"),
}  # fmt: skip
"""The values that CI checks of kinds with many; `make studies` checks all."""


def own(kind, *marks):
    """Return Harbor's own values of a kind with their suite."""
    check = SHORTENED.get(kind) or getattr(testing, f"check_{kind}")
    names = [one.name for one in everything(kind) if one.builtin]
    for one in some(names, KEPT.get(kind, names)):
        [name] = one.values
        yield pytest.param(check, find(kind, name), id=f"{kind} {name}", marks=[*one.marks, *marks])


ALL = [case for kind in ("game", "policy", "node", "metric", "model", "catalogue") for case in own(kind)]


@pytest.mark.parametrize(("check", "value"), [*ALL, *own("figure", pytest.mark.slow)])
def test_every_value_keeps_its_promises(check, value):
    check(value)


@pytest.mark.parametrize(
    ("game", "show"), crossed(["second-price", "first-price", "english-private"], ["actions", "actions and values"])
)
def test_a_game_whose_values_are_given_keeps_them_private_until_it_shows_them(game, show, monkeypatch):
    value = find("game", game)
    prior = {"kind": "normal", "mean": 50, "deviation": 10}
    rules = {"runs": 1, "values": {"Ann": (61.37,), "Ben": (59.83,), "Cho": (57.29,)}, "distribution": prior}
    check_game(value, {**rules, "show": show})
    facts = PrivateValues.facts
    monkeypatch.setattr(PrivateValues, "facts", lambda one: {**facts(one), "fee": one.values["Ann"][0]})
    with pytest.raises(AssertionError, match="all are told what only 'Ann' should know"):
        check_game(value, {**rules, "show": show})


OWN_DESIGNS = [TINY, ROOT / "examples" / "experiment.toml", pytest.param("beauty", marks=pytest.mark.slow)]


@pytest.mark.parametrize("design", OWN_DESIGNS, ids=["tiny", "example", "beauty"])
def test_an_experiment_keeps_its_promises(design):
    testing.check_experiment(design)
