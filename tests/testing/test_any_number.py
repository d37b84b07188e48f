"""Every suite takes a game for as many bidders as it is for, and says why it can't play one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harbor import Agent, use
from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.finding import find
from harbor.testing import (
    check_agent,
    check_figure,
    check_game,
    check_metric,
    check_model,
    check_node,
    check_policy,
    check_seat,
)
from harbor.testing._playing import names_of
from support.bargaining import BARGAINING, HALVES, Bargain, part_of_the_pie, parts_of_pies
from support.plugins import remembering


def half(_):
    return {"action": "bid", "amount": 5}


def for_so_many(number):
    """Build rules for this number of bidders and for no other."""

    def build(_, config):
        if len(config.bidders) != number:
            raise ConfigError(f"bargaining is for {number}; name as many bidders")
        return Bargain(tuple(bidder.name for bidder in config.bidders))

    return build


@pytest.fixture(autouse=True)
def bargaining(monkeypatch):
    with remembering(monkeypatch):
        use(BARGAINING)
        use(part_of_the_pie)
        yield


@pytest.mark.parametrize(
    ("check", "given"),
    [
        (check_game, (BARGAINING,)),
        (check_policy, (HALVES,)),
        (check_metric, (part_of_the_pie,)),
        (check_figure, (parts_of_pies,)),
        (check_seat, (half, "bargaining")),
        (check_agent, (Agent(name="half", description="demands half", make=lambda _: half), "bargaining")),
        (check_model, (find("model", "simulated"), "bargaining")),
        (check_node, (find("node", "plan"), "bargaining")),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_game_for_two_passes(check, given):
    check(*given)


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_as_many_bidders_are_seated_as_a_game_takes(number):
    use(replace(BARGAINING, build=for_so_many(number)))
    assert len(names_of(find("game", "bargaining"))) == number


def test_residents_are_named_as_the_settings_name_them():
    assert names_of(find("game", "water")) == ("Alex", "Bob", "Cindy", "David", "Eric")


def test_of_a_metric_whose_game_no_suite_can_play_it_is_said_why():
    use(replace(BARGAINING, build=for_so_many(7)))
    with pytest.raises(AssertionError, match=r"'bargaining' can't be played here \(.*bargaining is for 7; .*\); give"):
        check_metric(part_of_the_pie)
