"""The speed of the games' bare rules: no room, the log in memory, one core. Nothing here fails for being slow."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.asking.asks import Bid
from harbor._core.log.log import Log
from harbor._core.plugins.finding import find
from harbor._games.game import build
from harbor._games.mechanism import Mechanism, Shown
from harbor._house.auctioneer import Sale
from support.turns import take_turn

NAMES = ("Alex", "Bob", "Cindy", "David", "Eric")
GAMES = {  # parts of a game, their name, and the target number of them per second
    "water": (20, "games of 20 days", 1, "500"),
    "second-price": (6, "auctions", 6, "10,000"),
    "first-price": (6, "auctions", 6, ""),
    "english-private": (6, "auctions", 6, ""),
    "beauty": (6, "contests", 6, ""),
}


def bare_game(rules: Mechanism[Any], acts: Shown, seed: int) -> int:
    """Hold a game with bids that are cheap to compute: any legal whole number of dollars."""
    sale, rng = Sale(rules, NAMES, Log(), Random(seed), acts), Random(seed)
    sale.settle({})
    while asks := sale.asks():
        least, most = int(asks[0].minimum), int(min(ask.maximum for ask in asks))
        take_turn(sale, {ask.bidder: Bid(Decimal(rng.randint(least, most))) for ask in asks})
    return len(sale.log.entries)


@pytest.mark.parametrize("game", GAMES)
def test_bare_rules_of_a_game(benchmark: Any, figure: Callable[[str, str, str], None], game: str):
    parts, called, per_game, aim = GAMES[game]
    settings = {"days": parts} if game == "water" else {"runs": parts}
    config = AuctionConfig(bidders=[Bidder(name) for name in NAMES], rules={"game": game, **settings})
    rules, acts = build(config), find("game", game).acts
    seeds = iter(range(10**9))
    benchmark.pedantic(lambda: bare_game(rules, acts, next(seeds)), rounds=400, warmup_rounds=50)
    rate = per_game / benchmark.stats.stats.median
    figure(f"bare rules of {game}, {called} a second", aim, f"{rate:,.0f}")
