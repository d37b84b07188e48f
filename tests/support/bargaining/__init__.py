"""A game for exactly two: both demand a part of $10 at the same time, and get it if both demands can be met."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from harbor._core.basics.errors import ConfigError
from harbor.evaluation import by_bidder, figure, metric
from harbor.events import BidderLabelled, LotClosed, PublicEvent
from harbor.games import Amount, Ask, Bid, Claim, Game, Measures, Play, Policy, RuleSettings, ScriptedPolicy, of_type

PIE = Decimal(10)
HERE = Path(__file__).parent


class BargainRules(RuleSettings):
    game: str = "bargaining"


@dataclass(frozen=True, slots=True)
class BargainOpened(PublicEvent):
    bidders: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"Welcome, {' and '.join(self.bidders)}. Demand a part of ${PIE}."


@dataclass(frozen=True, slots=True)
class BargainClosed(LotClosed):
    shares: dict[str, Claim]

    @property
    def words(self) -> str:
        return ", ".join(f"{name} gets ${share}" for name, share in self.shares.items()) or "Nobody gets anything."


@dataclass(frozen=True)
class Bargain:
    """The rules. Their state is True while demands are open."""

    bidders: tuple[str, ...]

    def start(self):
        return False

    def asks(self, wanted):
        return [Ask(name, "the pie", 1, Amount(Decimal(0), PIE)) for name in self.bidders if wanted]

    def settle(self, wanted, actions, rng):
        if not wanted:
            return [BargainOpened(self.bidders)]
        demands = {name: bid.amount for name in self.bidders if isinstance(bid := actions[name], Bid)}
        return [BargainClosed("the pie", demands if sum(demands.values()) <= PIE else {})]

    def apply(self, wanted, event):
        return isinstance(event, BargainOpened) or (wanted and not isinstance(event, BargainClosed))


def build(rules, config):
    names = tuple(bidder.name for bidder in config.bidders)
    if len(names) != 2:
        raise ConfigError(f"bargaining is for two, not {len(names)}; name two bidders")
    return Bargain(names)


@dataclass(frozen=True, slots=True)
class Standing:
    bidder: str
    share: Decimal


def standings(entries):
    shares = {name: share for closed in of_type(entries, BargainClosed) for name, share in closed.shares.items()}
    return [Standing(one.bidder, shares.get(one.bidder, Decimal(0))) for one in of_type(entries, BidderLabelled)]


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    divided: bool


def outcomes(entries):
    return [Outcome(closed.item, bool(closed.shares)) for closed in of_type(entries, BargainClosed)]


BARGAINING = Game(
    api=1,
    name="bargaining",
    description="two demand parts of a pie at once",
    settings=BargainRules,
    build=build,
    opening=BargainOpened,
    events=(BargainOpened, BargainClosed),
    rational=lambda *_: Bid(PIE / 2),
    measures=Measures("pies", standings, outcomes),
    play=Play(
        facts=lambda _, seen: {"both": list(next(one for one in seen if isinstance(one, BargainOpened)).bidders)},
        system=HERE / "system.md",
        prompt=HERE / "bid.md",
        policy=lambda *_: {"reasons": "", "action": "bid", "amount": float(PIE / 2)},
        plan="Demand half.",
    ),
)


class Halving(Policy):
    def decide(self, ask, seen):
        return Bid(ask.maximum / 2)


HALVES = ScriptedPolicy(
    api=1, name="halves", description="demands half", make=lambda _: Halving(), games=("bargaining",)
)


@metric("the part of the pie that a bidder gets", "share", of=BargainOpened, no_data="nothing was demanded", api=1)
def part_of_the_pie(name, entries):
    """Measure the dollars that a bidder gets, divided by the available dollars."""
    return by_bidder(name, {one.bidder: float(one.share / PIE) for one in standings(entries)}, missing="")


@figure("Who gets what", "Part of the pie; one dot per game.", needs="part_of_the_pie", api=1)
def parts_of_pies(axes, values):
    """Draw a row of dots per bidder."""
    axes.plot(values["value"], values["bidder"], "o")
    return ", ".join(f"{one.bidder} gets {one.value:.2f}" for one in values.itertuples())
