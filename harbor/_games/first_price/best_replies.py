"""How players of some level of thought bid in a first-price auction.

Level 0 bids uniformly from 0 to its assets. Each level above answers best to rivals of the level below, whose values
come from the distribution that everybody is told.
Source: Crawford & Iriberri 2007 (random level 0).
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from math import log, prod
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from harbor._config.auction import AuctionConfig
from harbor._core.asks import Answer, Ask, Bid
from harbor._core.errors import ConfigError
from harbor._core.money import to_cents
from harbor._games.first_price.rules import FirstPriceOpened
from harbor._games.game import Seen
from harbor._games.levels_of_thought import highest
from harbor._games.sessions import private_games
from harbor._games.sessions.priors import Distribution
from harbor._games.sessions.settings import ValueRules

POINTS = 1_000  # values for which the bids of a level are computed: right to about a cent per $100 among 5 bidders


STEPS = 200  # bids that are compared to answer expected bids: right to half a percent of the value
UNSURE = 0.15  # how far a rival's bid is thought to scatter around the one that is expected, as a share of it


def best_reply(value: float, most: float, expected: Iterable[float]) -> float:
    """Return the bid in dollars with the greatest (v - b) P(all bid less), where each rival bids about as expected."""
    rivals = [NormalDist(bid, max(UNSURE * bid, 0.01)) for bid in expected]
    bids = [most * step / STEPS for step in range(1, STEPS + 1)]
    return max(bids, key=lambda bid: (value - bid) * prod(rival.cdf(bid) for rival in rivals))


class Rivals(NamedTuple):
    """The rivals of a bidder: how many, the distribution of their values, and what each can spend in dollars."""

    others: int
    prior: Distribution | None
    assets: float


class Offer(NamedTuple):
    """A bid of rivals of a level, and the logarithm of the share of them that bid no more."""

    bid: float
    log_share: float


def level(steps: int, ask: Ask, seen: Seen, chance: Random) -> Answer:
    """Bid at random, or answer best to rivals who think one step less."""
    if not steps:
        return ask.space.draw(chance)
    opened = next(event for event in seen if isinstance(event, FirstPriceOpened))
    rivals = Rivals(len(opened.bidders) - 1, opened.prior, float(opened.assets))
    value = private_games.value_of(ask, seen)
    return Bid(min(to_cents(Decimal(best_bid(steps, float(value), rivals))), value, ask.maximum))


def best_bid(steps: int, value: float, rivals: Rivals) -> float:
    """Return the best bid in dollars against rivals who think one step less, from one step on.

    Against level 0 the expected profit (v - b)(b / assets)^(n - 1) is greatest at b = v(n - 1)/n. Above, it is
    (v - b)F(b)^(n - 1), with F the distribution of the bids of the level below.
    """
    linear = min(value * rivals.others / (rivals.others + 1), rivals.assets)
    if steps == 1 or not rivals.others:
        return linear
    offers = _offers(steps - 1, rivals)
    logs = [log(value - one.bid) + rivals.others * one.log_share for one in offers if one.bid < value]
    if not logs:  # the value is below nearly all that rivals bid
        return linear
    at = max(range(len(logs)), key=logs.__getitem__)
    if not 0 < at < len(logs) - 1:
        return offers[at].bid
    return _vertex([one.bid for one in offers[at - 1 : at + 2]], logs[at - 1 : at + 2])


@lru_cache(maxsize=64)
def _offers(steps: int, rivals: Rivals) -> tuple[Offer, ...]:
    """Return the bids of rivals of a level, in the order of their values."""
    if rivals.prior is None:
        raise ValueError("no distribution of values is told")
    least, width = rivals.prior.lowest, rivals.prior.highest - rivals.prior.lowest
    values = [least + width * place / POINTS for place in range(1, POINTS + 1)]
    shares = ((value, rivals.prior.cdf(value)) for value in values)
    return tuple(Offer(best_bid(steps, value, rivals), log(share)) for value, share in shares if share)


def _vertex(bids: list[float], logs: list[float]) -> float:
    """Return the bid at the vertex of the parabola through three points, of which the middle one is the highest."""
    bend = logs[0] - 2 * logs[1] + logs[2]
    shift = (logs[0] - logs[2]) / (2 * bend) if bend else 0.0
    return bids[1] + shift * (bids[2] - bids[0]) / 2


def check_levels(rules: ValueRules, config: AuctionConfig) -> None:
    """Refuse bidders who would answer best to bids that depend on values of which nobody is told anything.

    Raises:
        ConfigError: it names the bidder.
    """
    for bidder in config.bidders:
        if highest(bidder) > 1 and rules.prior is None:
            raise ConfigError(
                f"bidder {bidder.name!r} of the game 'first-price' can't be played by the rule {bidder.rule!r}: from"
                " level 2 on it needs the distribution of values; give rules.distribution, or levels 0 and 1"
            )
