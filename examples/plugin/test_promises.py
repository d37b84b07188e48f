"""Tests that the package's parts keep the promises of their kinds. Install the package first."""

from pathlib import Path

import pytest
from clock_auction.catalogue import FLOWERS
from clock_auction.figure import falling_prices
from clock_auction.game import DUTCH
from clock_auction.metric import patience
from clock_auction.node import REFLECT
from clock_auction.policy import HALF_VALUE

from harbor import testing


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (testing.check_game, DUTCH),
        (testing.check_node, REFLECT),
        (testing.check_metric, patience),
        (testing.check_figure, falling_prices),
        (testing.check_policy, HALF_VALUE),
        (testing.check_catalogue, FLOWERS),
        (testing.check_experiment, Path(__file__).parent / "experiment.toml"),
    ],
)
def test_it_keeps_the_promises_of_its_kind(check, value):
    check(value)
