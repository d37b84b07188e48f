"""The first-price sealed-bid auction: the highest bid wins and pays its own bid; also its equilibrium and best replies.

The auction has no dominant bid. Its equilibrium follows from the distribution of values that the opening announces.
None is computed if the opening has no distribution, if assets cap the bids, or if values become known from run to run.
In equilibrium each bids b(v) = E[Y | Y < v] = v - (integral of F(x)^m dx from the lowest value to v) / F(v)^m, where Y
is the highest value of its m rivals, and F the distribution. The formula is for continuous values and bids; rounding
costs a bidder less than one cent. Level-k players bid otherwise: level 0 bids uniformly from 0 to its assets, and each
level above answers best to rivals of the level below, whose values come from the announced distribution.
Source: Krishna, Auction Theory, prop. 2.2 (Vickrey 1961 for uniform values); Crawford & Iriberri 2007 (random level
0).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import log, prod
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from harbor._config.auction import AuctionConfig
from harbor._core.asking.asks import Answer, Ask, Bid
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import Money, dollars, to_cents
from harbor._games.game import Seen
from harbor._games.policies import highest
from harbor._games.sessions import private_games
from harbor._games.sessions.private_games import Bids, Outcome, PrivateValues, ranked
from harbor._games.sessions.session import SessionOpened
from harbor._games.sessions.settings import Distribution, ValueRules

NEGLIGIBLE = 1e-18
"""The ratio F(x)^m / F(v)^m below which the integral omits values x; the relative precision of a double is 1e-16."""


@lru_cache(maxsize=4096)  # the label of a run and its rational bidders ask for the same bids
def equilibrium_bid(value: float, rivals: int, prior: Distribution) -> float:
    """Return the bid of a bidder in equilibrium, in dollars; without a rival it is 0.

    Args:
        value: the bidder's value in dollars, which has to be in the support of the distribution.
        rivals: the number of other bidders.
        prior: the distribution from which every bidder's value is drawn.
    """
    from scipy.integrate import quad  # the import takes 0.5 s, and few games need it

    below = prior.cdf(value)
    if not rivals or not below:  # no rival, or no lower value
        return float(value) if rivals else 0.0
    start = prior.quantile(below * NEGLIGIBLE ** (1 / rivals))
    shade, _ = quad(lambda x: (prior.cdf(x) / below) ** rivals, start, value)
    return float(value - shade)  # not numpy's, as the cache keeps it for all callers


def highest_bid(rivals: int, prior: Distribution) -> float:
    """Return the bid for the highest value in dollars: the mean of the highest value among the rivals."""
    return equilibrium_bid(prior.highest, rivals, prior)


@dataclass(frozen=True, slots=True)
class FirstPriceOpened(SessionOpened):
    """A session of first-price auctions begins."""

    @property
    def rules(self) -> str:
        """The rules of one run in words."""
        return (
            "Each player seals one bid. The highest bid wins the item, and the winner pays its own bid. Of equal bids, "
            "that of the player named first wins."
        )

    @property
    def unsolved(self) -> str:
        """The reason why no equilibrium is known; empty if `equilibrium_bids` returns one.

        Assets that cap bids change all bids (Che and Gale 1998). Values that are drawn once become known: the loser of
        a run knows that another's bid was higher, so the same bid is no best response.
        """
        if self.prior is None:
            return "bidders are told no distribution of values (rules.distribution)"
        if self.drawn_once and self.runs > 1:
            return "values that stay the same become known from run to run (rules.draw)"
        highest = to_cents(Decimal(repr(highest_bid(len(self.bidders) - 1, self.prior))))
        if self.assets < highest:
            return f"assets of {dollars(self.assets)} cap bids, which go up to {dollars(highest)} (rules.assets)"
        return ""

    def theory(self, value: Money) -> Money | None:
        """Return the equilibrium bid for a value in dollars; None if no equilibrium is known."""
        bids = self.equilibrium_bids({"": value})
        return None if bids is None else bids[""]

    def equilibrium_bids(self, values: Mapping[str, Decimal]) -> Mapping[str, Decimal] | None:
        """Return the equilibrium bids for these values in dollars, in whole cents (None: none is known)."""
        if self.prior is None or self.unsolved:
            return None
        rivals = len(self.bidders) - 1
        bids = {name: equilibrium_bid(float(value), rivals, self.prior) for name, value in values.items()}
        return {name: to_cents(Decimal(repr(bid))) for name, bid in bids.items()}


class FirstPrice(PrivateValues):
    """The rules of a session of first-price auctions."""

    def opened(self) -> FirstPriceOpened:
        """Return the opening of the session."""
        return FirstPriceOpened(**self.facts(), prior=self.prior)

    def outcome(self, bids: Bids) -> Outcome:
        """Return the winner and the price."""
        order = ranked(bids)
        return Outcome(*order[0]) if order else Outcome(None, Decimal(0))

    def equilibrium(self, values: Mapping[str, Decimal]) -> Mapping[str, Decimal] | None:
        """Return the equilibrium bids for the distribution in the opening (None: none is known)."""
        return self.opened().equilibrium_bids(values)


class FirstPriceRules(ValueRules):
    """A first-price sealed-bid auction: the highest bid wins and pays its own bid."""

    game: str = "first-price"


POINTS = 1_000  # number of values at which a level's bids are computed: error about a cent per $100 with 5 bidders


STEPS = 200  # number of bids compared for a best reply: error half a percent of the value
UNSURE = 0.15  # standard deviation of a rival's bid, as a share of its expected bid


def best_reply(value: float, most: float, expected: Iterable[float]) -> float:
    """Return the bid b in dollars with the greatest (v - b) P(all rivals bid less).

    The bids of the rivals are taken as normally distributed around the `expected` ones.
    """
    rivals = [NormalDist(bid, max(UNSURE * bid, 0.01)) for bid in expected]
    bids = [most * step / STEPS for step in range(1, STEPS + 1)]
    return max(bids, key=lambda bid: (value - bid) * prod(rival.cdf(bid) for rival in rivals))


class Rivals(NamedTuple):
    """The rivals of a bidder: their number, the distribution of their values, and the assets of each in dollars."""

    others: int
    prior: Distribution | None
    assets: float


class Offer(NamedTuple):
    """A bid in dollars by rivals of a level, and the natural logarithm of the share of them that bid no more."""

    bid: float
    log_share: float


def level(steps: int, ask: Ask, seen: Seen, chance: Random) -> Answer:
    """Bid at random (level 0), or answer best to rivals one level below."""
    if not steps:
        return ask.space.draw(chance)
    opened = next(event for event in seen if isinstance(event, FirstPriceOpened))
    rivals = Rivals(len(opened.bidders) - 1, opened.prior, float(opened.assets))
    value = private_games.value_of(ask, seen)
    return Bid(min(to_cents(Decimal(best_bid(steps, float(value), rivals))), value, ask.maximum))


def best_bid(steps: int, value: float, rivals: Rivals) -> float:
    """Return the best bid in dollars against rivals one level below, for levels from 1 on.

    Against level 0 the expected profit (v - b)(b / assets)^(n - 1) is greatest at b = v(n - 1)/n. Against higher levels
    it is (v - b)F(b)^(n - 1), where F is the distribution of the bids of the level below.
    """
    linear = min(value * rivals.others / (rivals.others + 1), rivals.assets)
    if steps == 1 or not rivals.others:
        return linear
    offers = _offers(steps - 1, rivals)
    logs = [log(value - one.bid) + rivals.others * one.log_share for one in offers if one.bid < value]
    if not logs:  # the value is below nearly all rivals' bids
        return linear
    at = max(range(len(logs)), key=logs.__getitem__)
    if not 0 < at < len(logs) - 1:
        return offers[at].bid
    return _vertex([one.bid for one in offers[at - 1 : at + 2]], logs[at - 1 : at + 2])


@lru_cache(maxsize=64)
def _offers(steps: int, rivals: Rivals) -> tuple[Offer, ...]:
    """Return the bids of rivals of a level at `POINTS` values, in order of value."""
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
    """Refuse bidders of level 2 and above if the distribution of values is not announced.

    Raises:
        ConfigError: there is such a bidder.
    """
    for bidder in config.bidders:
        if highest(bidder) > 1 and rules.prior is None:
            raise ConfigError(
                f"bidder {bidder.name!r} of the game 'first-price' can't be played by the rule {bidder.rule!r}: from"
                " level 2 on it needs the distribution of values; give rules.distribution, or levels 0 and 1"
            )
