"""A table of `make studies`: equilibrium of rational bidders in first-price auctions, and their payments."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest

from harbor import Auction
from harbor._config.auction import Bidder
from harbor._core.log.acts import Paid
from harbor._core.log.log import of_type
from harbor._games.first_price.rules import equilibrium_bid
from harbor._games.sessions.settings import Normal, Uniform
from support.best_response import gain_share

RUNS = 10_000
PRIORS = {"N(50, 10)": Normal(mean=50, deviation=10), "U[0, 100]": Uniform(low=0, high=100)}
BIDS = {  # for the values 40, 50, 60: the mean highest value of the rivals below the own value
    ("N(50, 10)", 2): "34.7487 42.0212 47.1240",
    ("N(50, 10)", 3): "37.1257 45.3261 51.5915",
    ("N(50, 10)", 5): "38.4773 47.3792 54.7401",
    ("U[0, 100]", 2): "20.0000 25.0000 30.0000",
    ("U[0, 100]", 3): "26.6667 33.3333 40.0000",
    ("U[0, 100]", 5): "32.0000 40.0000 48.0000",
}
SECOND_VALUE = {  # the mean second-highest value, which equals revenue in equilibrium
    ("N(50, 10)", 2): 44.358,
    ("N(50, 10)", 3): 50.0,
    ("N(50, 10)", 5): 54.950,
    ("U[0, 100]", 2): 100 / 3,
    ("U[0, 100]", 3): 50.0,
    ("U[0, 100]", 5): 200 / 3,
}


@pytest.mark.parametrize(("prior", "players"), BIDS)
def test_equilibrium_of_first_price(benchmark, figure, prior, players):
    gain = benchmark.pedantic(lambda: gain_share(players, PRIORS[prior]), rounds=1)
    bids = " ".join(f"{equilibrium_bid(value, players - 1, PRIORS[prior]):.4f}" for value in (40, 50, 60))
    figure(f"first price, {prior}, {players} bidders: bids of 40, 50, 60", BIDS[prior, players], bids)
    figure(f"first price, {prior}, {players} bidders: gain of best responses", "< 0.1 % of profit", f"{gain:.5%}")


@pytest.mark.parametrize(("prior", "players"), SECOND_VALUE)
def test_revenue_of_first_price(benchmark, figure, prior, players):
    bidders = [Bidder(f"Bidder {number}", rule="rational") for number in range(players)]
    rules = {"game": "first-price", "runs": RUNS, "distribution": PRIORS[prior]}
    log = benchmark.pedantic(lambda: Auction(seed=players, bidders=bidders, rules=rules).run().log, rounds=1)
    prices = [float(event.amount) for event in of_type(log, Paid)]
    mean, error = fmean(prices), stdev(prices) / len(prices) ** 0.5
    aim = SECOND_VALUE[prior, players]
    off = (mean - aim) / error
    figure(
        f"first price, {prior}, {players} bidders: revenue", f"{aim:.3f} +- 3 errors", f"{mean:.3f}, {off:+.1f} errors"
    )
