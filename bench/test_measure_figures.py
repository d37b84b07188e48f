"""The time to measure a log of many bidders: all metrics of a sealed auction, and its standings."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from time import process_time

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.asking.asks import Bid
from harbor._core.log.events import SCHEMA_VERSION, BidderLabelled, BidderSeated, LogOpened, SaleClosed
from harbor._core.log.log import Log
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import find, found
from harbor._games.second_price.game import SecondPrice
from harbor._house.auctioneer import Sale
from harbor.evaluation._metrics.summary import score, summarise
from support.turns import take_turn

FEW, MANY = 10_000, 20_000
MOST_SECONDS, MOST_GROWTH = 5, 2.3


def sealed_log(bidders: int) -> list[Entry]:
    """Hold a second-price auction of more bidders than settings allow. Half are rational, and half bid anything."""
    rng, names = Random(0), tuple(f"Bidder {number}" for number in range(bidders))
    settings = find("game", "second-price").settings(runs=1)
    values = {name: (Decimal(rng.randint(0, 8_000)) / 100,) for name in names}
    sale = Sale(SecondPrice(names, settings, values, Decimal(200)), names, Log(), rng)
    sale.record(LogOpened(SCHEMA_VERSION, "", "many", 0, parts=(found("game", "second-price").part,)))
    for name in names:
        sale.record(BidderLabelled(name, {}, "rule"))
        sale.record(BidderSeated(name, Decimal(0), {}, "profit"))
    sale.settle({})
    take_turn(sale, {name: Bid(rng.choice((own, Decimal(rng.randint(0, 200))))) for name, (own,) in values.items()})
    sale.record(SaleClosed())
    return sale.log.entries


def seconds(log: list[Entry]) -> float:
    """Measure a log by all metrics of its game and compute its standings. Return the processor time in seconds."""
    began = process_time()
    score(log)
    summarise(log)
    return process_time() - began


def test_measuring_twice_as_many_bidders_takes_twice_as_long(figure):
    AuctionConfig(bidders=[Bidder("Ann")])  # imports and compiles before the measurement
    seconds(sealed_log(10))
    few, many = (min(seconds(log) for _ in range(3)) for log in map(sealed_log, (FEW, MANY)))
    figure(f"all metrics and standings of {FEW:,} sealed bidders, seconds", f"{MOST_SECONDS}", f"{few:.2f}")
    figure(f"that of {MANY:,} over it", f"{MOST_GROWTH}", f"{many / few:.2f}")
