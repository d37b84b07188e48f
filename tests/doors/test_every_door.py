"""The same policy behind every door keeps the promises of the protocol, and plays the same game."""

from __future__ import annotations

import pytest

from harbor.testing import check_seat
from support.every_door import DOORS
from support.steady import decide

SLOW = {"an MCP client"}
"""Those that take longer to start again."""


@pytest.mark.parametrize("door", [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in DOORS])
def test_the_same_policy_behind_any_door_plays_the_game_that_it_plays_as_a_function(door):
    with DOORS[door]() as agent:
        check_seat(agent, like=decide)
