"""A valid sealed auction whose promises tests break one at a time: the highest bid wins and pays the third highest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random

from pydantic import Field

from harbor.events import BidderLabelled, LotClosed, PrivateEvent, PublicEvent
from harbor.games import Amount, Ask, Bid, Game, Measures, Money, Play, RuleSettings, of_type, stream

MOST = 100
HERE = Path(__file__).parent


class ThirdRules(RuleSettings):
    """One item in each of `runs`; values are whole dollars, drawn uniformly."""

    game: str = "third-price"
    runs: int = Field(2, ge=1)


@dataclass(frozen=True, slots=True)
class ThirdOpened(PublicEvent):
    """The auction begins."""

    bidders: tuple[str, ...]
    most: int = MOST

    @property
    def words(self) -> str:
        return f"Welcome, {', '.join(self.bidders)}. Values are at most ${self.most}; the third highest bid is paid."


@dataclass(frozen=True, slots=True)
class ThirdValue(PrivateEvent):
    """The value of a run's item to its bidder."""

    item: str
    value: Money


@dataclass(frozen=True, slots=True)
class ThirdClosed(LotClosed):
    """A run is over (no winner: there was no bid)."""

    winner: str | None
    price: Money

    @property
    def words(self) -> str:
        return f"{self.item}: {self.winner or 'nobody'} wins and pays ${self.price}."


@dataclass(frozen=True)
class Third:
    """The rules. Their state is the number of the run."""

    values: Mapping[str, Sequence[Decimal]]
    most: int = MOST

    @property
    def runs(self):
        return len(next(iter(self.values.values())))

    def start(self):
        return 0

    def asks(self, run):
        return [self.ask(name, run) for name in self.values if 0 < run <= self.runs]

    def ask(self, name, run):
        return Ask(name, f"run {run}", 1, Amount(Decimal(0), Decimal(MOST)))

    def settle(self, run, actions, rng: Random):
        if not run:
            return [self.opened(), *self.tell(1)]
        bids = {name: bid.amount for name in self.values if isinstance(bid := actions.get(name), Bid)}
        winner = max(bids, key=lambda name: bids[name], default=None)
        price = sorted([Decimal(0), Decimal(0), *bids.values()])[-3] if bids else Decimal(0)
        return [self.closed(run, winner, price), *self.tell(run + 1)]

    def opened(self):
        return ThirdOpened(tuple(self.values), self.most)

    def tell(self, run):
        return [ThirdValue(name, f"run {run}", own[run - 1]) for name, own in self.values.items() if run <= self.runs]

    def closed(self, run, winner, price):
        return ThirdClosed(f"run {run}", winner, price)

    def apply(self, run, event):
        return run + isinstance(event, ThirdOpened | ThirdClosed)


def drawn(rules, config):
    rng = stream(config.seed, "values")
    return {one.name: [Decimal(rng.randint(1, MOST)) for _ in range(rules.runs)] for one in config.bidders}


def worth(seen):
    """Return the last value that a bidder was told."""
    return [event.value for event in seen if isinstance(event, ThirdValue)][-1]


def facts(name, seen):
    opened = next(event for event in seen if isinstance(event, ThirdOpened))
    return {"bidders": list(opened.bidders), "value": worth(seen)}


@dataclass(frozen=True, slots=True)
class Standing:
    bidder: str
    profit: Decimal


def standings(entries):
    names = [label.bidder for label in of_type(entries, BidderLabelled)]
    values = {(one.bidder, one.item): one.value for one in of_type(entries, ThirdValue)}
    profits = dict.fromkeys(names or next((one.bidders for one in of_type(entries, ThirdOpened)), ()), Decimal(0))
    for closed in of_type(entries, ThirdClosed):
        if closed.winner in profits:
            profits[closed.winner] += values.get((closed.winner, closed.item), Decimal(0)) - closed.price
    return [Standing(name, profit) for name, profit in profits.items()]


THIRD = Game(
    api=1,
    name="third-price",
    description="the highest bid wins and pays the third highest",
    settings=ThirdRules,
    build=lambda rules, config: Third(drawn(rules, config)),
    opening=ThirdOpened,
    events=(ThirdOpened, ThirdValue, ThirdClosed),
    rational=lambda _, seen: Bid(worth(seen)),
    measures=Measures("runs", standings, lambda entries: of_type(entries, ThirdClosed)),
    play=Play(
        facts=facts,
        system=HERE / "system.md",
        prompt=HERE / "bid.md",
        policy=lambda facts, *_: {"reasons": "", "action": "bid", "amount": float(facts["value"])},
        plan="Bid my value.",
    ),
)


class Abrupt(Third):
    """Rules that assert, without a text, that a bidder never withdraws."""

    def settle(self, run, actions, rng):
        assert all(isinstance(action, Bid) for action in actions.values())
        return super().settle(run, actions, rng)
