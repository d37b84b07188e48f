"""In games of every kind, winners pay what the rules say, money is neither made nor lost, and every game ends."""

from __future__ import annotations

import pytest

from support.settlements import CHECKS, settle_games


@pytest.mark.parametrize("game", sorted(CHECKS))
def test_a_settlement_follows_from_the_rules_of_its_game(game):
    settle_games(game, 600, seed=0)
