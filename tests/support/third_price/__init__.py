"""A sealed auction that keeps its promises, to break one at a time: the highest bid wins and pays the third highest."""

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
    """What the item of a run is worth to its bidder."""

    item: str
    value: Money


@dataclass(frozen=True, slots=True)
class ThirdClosed(LotClosed):
    """A run is over (no winner: nobody bid)."""

    winner: str | None
    price: Money

    @property
    def words(self) -> str:
        return f"{self.item}: {self.winner or 'nobody'} wins and pays ${self.price}."


@dataclass(frozen=True)
class Third:
    """The rules; their state is the number of the run."""

    values: Mapping[str, Sequence[Decimal]]
    most: int = MOST

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

    @property
    def runs(self):
        return len(next(iter(self.values.values())))


def drawn(rules, config):
    rng = stream(config.seed, "values")
    return {one.name: [Decimal(rng.randint(1, MOST)) for _ in range(rules.runs)] for one in config.bidders}


def facts(name, seen):
    values = [event.value for event in seen if isinstance(event, ThirdValue)]
    return {"bidders": list(next(event for event in seen if isinstance(event, ThirdOpened)).bidders), "value": values[-1]}


def rational(ask, seen):
    return Bid([event.value for event in seen if isinstance(event, ThirdValue)][-1])


@dataclass(frozen=True, slots=True)
class Standing:
    bidder: str
    profit: Decimal


def standings(entries):
    values = {(one.bidder, one.item): one.value for one in of_type(entries, ThirdValue)}
    closed = of_type(entries, ThirdClosed)
    names = [one.bidder for one in of_type(entries, BidderLabelled)] or [
        name for opened in of_type(entries, ThirdOpened) for name in opened.bidders
    ]
    return [
        Standing(name, sum((values.get((name, one.item), 0) - one.price for one in closed if one.winner == name), Decimal(0)))
        for name in names
    ]


THIRD = Game(
    api=1,
    name="third-price",
    description="the highest bid wins and pays the third highest",
    settings=ThirdRules,
    build=lambda rules, config: Third(drawn(rules, config)),
    opening=ThirdOpened,
    events=(ThirdOpened, ThirdValue, ThirdClosed),
    rational=rational,
    measures=Measures("runs", standings, lambda entries: of_type(entries, ThirdClosed)),
    play=Play(
        facts=facts,
        system=HERE / "system.md",
        prompt=HERE / "bid.md",
        policy=lambda facts, settings, chance: {"reasons": "", "action": "bid", "amount": float(facts["value"])},
        plan="Bid my value.",
    ),
)
