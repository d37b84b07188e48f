"""A game is built anew with one draw that comes out otherwise, and all others as they were."""

from dataclasses import replace
from random import Random

import pytest

from harbor._audit.auditing import METHODS, draw_changes
from harbor._core.plugins.finding import use
from harbor._runs.inputs import RunInputs
from harbor._runs.resolve import resolve
from harbor.testing._playing import seated, table
from support.plugins import remembering
from support.third_price import THIRD, Third

DRAWN = {
    "randint": lambda rng: rng.randint(1, 3),
    "random": lambda rng: rng.random(),
    "gauss": lambda rng: rng.gauss(0, 1),
    "choice": lambda rng: rng.choice("abc"),
    "sample": lambda rng: rng.sample(range(9), 3),
    "shuffle": lambda rng: rng.shuffle(cards := list(range(9))) or cards,
}


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch):
    with remembering(monkeypatch):
        yield


def values_of_each_change(draw):
    """The values as they are, and those of each change with its owner."""

    def build(_, config):
        rng = Random(config.seed)
        return Third({one.name: [draw(rng)] for one in config.bidders})

    use(replace(THIRD, build=build))
    auction = resolve(table(THIRD, seated(("Ann", "Ben", "Cho"), {"rule": "random"}), {}), RunInputs())
    changes = [(one.owner, one.resolved(auction).rules.values) for one in draw_changes(auction.config)]
    return auction.rules.values, changes


@pytest.mark.parametrize("method", DRAWN)
def test_each_draw_is_changed_alone_and_belongs_to_the_bidder_that_its_result_is_kept_for(method):
    values, changes = values_of_each_change(DRAWN[method])
    assert [owner for owner, _ in changes] == ["Ann", "Ben", "Cho"]
    for owner, other in changes:
        assert {name for name in values if other[name] != values[name]} == {owner}


def test_what_can_come_out_in_one_way_alone_changes_nothing_and_streams_are_left_as_they_were():
    before = {name: getattr(Random, name) for name in METHODS}
    values, changes = values_of_each_change(lambda rng: rng.choice("a"))
    assert changes == [("", values)] * 3
    assert {name: getattr(Random, name) for name in METHODS} == before
    assert "random" not in vars(Random)
