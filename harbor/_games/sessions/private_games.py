"""Shared code of auctions with private values: rules and their builders, events, forecasts, measures.

Only its own bidder sees a value, assets cap bids, and breaking a rule costs a fee. A bidder's assets after a run are
its cash, plus the value of the item if it won. Every run begins with equal assets.
Source: EconArena, sec. 4.2 and A.2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

from harbor._config.auction import AuctionConfig, Simulated
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Action, Ask
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.basics.numbers import Money, dollars, stream, to_cents
from harbor._core.log.acts import HOUSE, Allocated, AllocatedSealed, Paid, PaidSealed, Signal
from harbor._core.log.events import Event
from harbor._games.game import Facts, Measures, Play, Seen, Values
from harbor._games.sessions import facts, measures
from harbor._games.sessions.session import (
    RunClosed,
    RunLabelled,
    RunOpened,
    RunState,
    Session,
    SessionOpened,
    amount_of,
    broke_a_rule,
    disclosed,
    name_of,
)
from harbor._games.sessions.settings import Distribution, ValueRules

MOST_VALUES = 1_000_000
"""Greatest number of values, bidders times runs; all are drawn before the first run."""
Bids = Mapping[str, Decimal | None]
"""Bids in seat order; None: no bid."""


@dataclass(frozen=True, slots=True)
class ItemAllotted(RunClosed):
    """The item of a run is sold or stays unsold; `values` is empty unless the session shows the bidders' values."""

    values: dict[str, Money]
    price: Money | None

    @property
    def discloses(self) -> bool:
        """True if the event shows the values."""
        return bool(self.values)

    def details(self) -> Mapping[str, object]:
        """Return price and values."""
        return {"price": self.price, "values": self.values}

    @property
    def words(self) -> str:
        """The public outcome."""
        return " ".join(self.sentences())

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """The public outcome, sentence by sentence."""
        values = [f"It was worth {dollars(value)} to {name}." for name, value in self.values.items()]
        won = [f"{name} wins and pays {dollars(self.price or Decimal(0))}." for name in self.winners]
        return (f"{self.item} is over.".capitalize(), *won, *values)


class Outcome(NamedTuple):
    """The winner of the item (None: nobody won it), and the price in dollars."""

    winner: str | None
    price: Decimal


@dataclass(frozen=True)
class PrivateValues(Session):
    """The rules of a session of auctions, one item per run.

    Args:
        bidders: the names of the bidders in seat order, which decides between equal bids.
        options: the settings of the session.
        values: the values of each bidder in dollars, one per run.
        assets: the dollars that each bidder can spend in a run.
        prior: the distribution of values that bidders are told (None: values are given without a distribution).
    """

    options: ValueRules
    values: Mapping[str, Sequence[Decimal]]
    assets: Decimal
    prior: Distribution | None = None

    @property
    def stakes(self) -> tuple[Money, Money]:
        """Everyone's assets at the start of a run, and the entrance fee, in dollars."""
        return self.assets, to_cents(self.assets * self.options.entrance_fee_share)

    def facts(self) -> dict[str, Any]:
        """Return the shared fields of all openings, and whether values stay the same."""
        return {**super().facts(), "drawn_once": self.options.draw == "once"}

    @abstractmethod
    def outcome(self, bids: Bids) -> Outcome:
        """Return the winner and the price."""

    def equilibrium(self, values: Mapping[str, Decimal]) -> Mapping[str, Decimal] | None:
        """Return the bids in equilibrium: each bidder's value, or its assets if they are less.

        A game without a known equilibrium returns None.
        """
        return {name: min(value, self.assets) for name, value in values.items()}

    def tell(self, run: int) -> list[Event]:
        """Tell each bidder its value."""
        item = name_of(run)
        return [Signal(name, {item: self.values[name][run - 1]}) for name in self.bidders]

    def ask(self, bidder: str, state: RunState) -> Ask:
        """Ask for a sealed bid."""
        return Ask(bidder, name_of(state.run), 1, Amount(Decimal(0), self.assets), note=self.worth(bidder, state.run))

    def worth(self, bidder: str, run: int) -> str:
        """Return a sentence that tells a bidder its value."""
        value = self.values[bidder][run - 1]
        capped = ", more than your assets, which cap your bid" if value > self.assets else ""
        return f"it is worth {dollars(value)} to you{capped}"

    def close_run(self, state: RunState, actions: Mapping[str, Action]) -> list[Event]:
        """Show the actions if the settings say so, and allocate the item."""
        bids = {name: amount_of(actions[name]) for name in self.bidders}
        broke = [name for name in self.bidders if broke_a_rule(actions[name])]
        acts = {name: actions[name] for name in self.bidders}
        shown = [] if self.options.shown == "nothing" else disclosed(name_of(state.run), acts)
        return [*shown, *self.allot(state.run, bids, broke, self.options.shown)]

    def allot(self, run: int, bids: Bids, broke: Collection[str], show: str) -> list[Event]:
        """Return the events that end a run: allocation, payments, the equilibrium for the analyst, and the outcome."""
        item, outcome = name_of(run), self.outcome(bids)
        values = {name: self.values[name][run - 1] for name in self.bidders}
        events: list[Event] = []
        if (winner := outcome.winner) is not None:
            traded = (winner, item), (winner, HOUSE, item, outcome.price)
            if show == "nothing":
                events += [AllocatedSealed((winner,), *traded[0]), PaidSealed((winner,), *traded[1])]
            else:
                events += [Allocated(*traded[0]), Paid(*traded[1])]
        _, fee = self.stakes
        events += [PaidSealed((name,), name, HOUSE, item, fee, fee=True) for name in broke if fee]
        best = self.equilibrium(values)
        if best is not None:
            ideal = self.outcome(best)
            left_then = {name: self.left(ideal, name, value) for name, value in values.items()}
            events.append(RunLabelled(item, dict(best), left_then))
        return [*events, _shown(item, values, outcome, show)]

    def left(self, outcome: Outcome, name: str, value: Decimal) -> Decimal:
        """Return a bidder's assets after a run in dollars."""
        return self.assets - outcome.price + value if name == outcome.winner else self.assets


def ranked(bids: Bids) -> list[tuple[str, Decimal]]:
    """Return the bids, the highest first; equal bids are in seat order."""
    return sorted(((name, bid) for name, bid in bids.items() if bid is not None), key=lambda pair: -pair[1])


def draw_values(rules: ValueRules, bidders: Sequence[str], rng: Random) -> dict[str, tuple[Decimal, ...]]:
    """Return, for each bidder, a value in dollars for every run: as given, else drawn.

    Raises:
        ValueError: values are given, but not for every bidder and run, or one lies outside the distribution; or there
            would be too many.
    """
    if (count := len(bidders) * rules.runs) > MOST_VALUES:
        raise ValueError(
            f"rules.runs {rules.runs:,}: {len(bidders):,} bidders have {count:,} values in them, and at most"
            f" {MOST_VALUES:,} are drawn; take fewer runs or bidders"
        )
    if rules.values:
        return {name: _given(rules, name) for name in bidders}
    if rules.draw == "once":
        return {name: (rules.source.draw(rng),) * rules.runs for name in bidders}
    return {name: tuple(rules.source.draw(rng) for _ in range(rules.runs)) for name in bidders}


def _given(rules: ValueRules, name: str) -> tuple[Decimal, ...]:
    given, source = rules.values.get(name, ()), rules.distribution
    if len(given) != rules.runs and (len(given) != 1 or source):  # independent draws would not repeat one value
        one = "" if source else "1, or "
        raise ValueError(
            f"rules.values has {len(given)} values for {name!r}; give {one}one for each of the {rules.runs} runs"
        )
    for value in given:
        if source and not source.lowest <= value <= source.highest:
            raise ValueError(
                f"rules.values: {dollars(value)} of {name!r} is no value of {source.words}, which gives "
                f"${source.lowest:,.2f} to ${source.highest:,.2f}; change one of them"
            )
    return given if len(given) == rules.runs else given * rules.runs


def _shown(item: str, values: Mapping[str, Decimal], outcome: Outcome, show: str) -> ItemAllotted:
    if show == "nothing":
        return ItemAllotted(item, (), {}, None)
    winners = () if outcome.winner is None else (outcome.winner,)
    price = outcome.price if winners else None
    return ItemAllotted(item, winners, dict(values) if show == "actions and values" else {}, price)


def opening_of(events: Sequence[Event]) -> SessionOpened:
    """Return the opening of a session."""
    return next(event for event in events if isinstance(event, SessionOpened))


def of_values(kind: type[PrivateValues]) -> Callable[[Any, Sequence[Event]], PrivateValues]:
    """Return a function that makes rules of this kind from a log; unknown values are 0."""

    def from_public(rules: ValueRules, events: Sequence[Event]) -> PrivateValues:
        opened = opening_of(events)
        told = _values(events, opened.bidders)
        values = {name: [*own, *[Decimal(0)] * (rules.runs - len(own))] for name, own in told.items()}
        return kind(opened.bidders, rules, values, opened.assets, opened.prior)

    return from_public


def _values(events: Sequence[Event], bidders: Sequence[str]) -> Mapping[str, list[Decimal]]:
    """Return each bidder's values in the runs so far, from signals, or else from public outcomes."""
    told: dict[str, list[Decimal]] = {name: [] for name in bidders}
    for event in events:
        if isinstance(event, Signal):
            told[event.bidder] += event.values.values()
    if any(told.values()):
        return told
    for event in events:
        for name, value in event.values.items() if isinstance(event, ItemAllotted) else ():
            told[name].append(value)
    return told


NOTHING = Decimal(0)
Policy = Callable[[Facts, Simulated, Random], Values]
EVENTS = (RunOpened, Signal, Allocated, AllocatedSealed, Paid, PaidSealed, ItemAllotted, RunLabelled)
MEASURES = Measures("runs", measures.standings, measures.runs)


def building(kind: type[PrivateValues]) -> Callable[[ValueRules, AuctionConfig], PrivateValues]:
    """Return a function that builds rules of this kind, with a value for each bidder and run.

    Raises:
        ConfigError: values are given for an unknown bidder, or not for every run.
    """

    def build(rules: ValueRules, config: AuctionConfig) -> PrivateValues:
        names = tuple(bidder.name for bidder in config.bidders)
        for name in rules.values:
            if name not in names:
                raise ConfigError(f"rules.values: {unknown('bidder', name, names)}")
        try:
            values = draw_values(rules, names, stream(config.seed, "values"))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        return kind(names, rules, values, rules.money, rules.prior)

    return build


def play(package: str, policy: Policy, plan: str) -> Play:
    """Return the `Play` of a private-value game; `package` has its prompt for a bid."""
    return Play(
        facts=facts.standing,
        outlook=facts.outlook,
        system=files("harbor._games.sessions") / "system.md",
        prompt=files(package) / "bid.md",
        policy=policy,
        plan=plan,
        yardstick=worth_to,
        forecast=forecast,
        reply=BidReply,
        stays=facts.STAYS,
        heeds_personas=False,
    )


def forecast(rival: str, known: Facts, settings: Simulated) -> float:  # noqa: ARG001
    """Return a rival's expected bid in dollars: the mean of its shown bids, or half of the assets if none is shown."""
    past = [run["actions"].get(rival) for run in known["past"] if run["actions"].get(rival) is not None]
    return fmean(map(float, past)) if past else float(known["assets"]) / 2


def worth_to(name: str, seen: Seen, item: str, bidder: str) -> Facts:  # noqa: ARG001
    """Return the worth of a run's item to a bidder: its value if that was shown, else `mean` and `scatter` of values.

    `error` is the standard deviation of the error of `mean`, which is the same in all runs. If the player was told no
    distribution, its own values serve as a sample.
    """
    opened = next(event for event in seen if isinstance(event, SessionOpened))
    told: dict[str, Any] = {"most": opened.assets, "scatter": NOTHING, "error": NOTHING}
    shown = [one for one in seen if isinstance(one, ItemAllotted) and bidder in one.values]
    if found := [one.values[bidder] for one in shown if opened.drawn_once or one.item == item]:
        return {**told, "mean": found[-1]}
    own = [value for one in seen if isinstance(one, Signal) for value in one.values.values()]
    own = own[:1] if opened.drawn_once else own
    if opened.prior:
        mean, deviation, error = opened.prior.mean, opened.prior.deviation, NOTHING
    elif own:
        mean = to_cents(sum(own, NOTHING) / len(own))
        deviation = to_cents(stdev(own) if len(own) > 2 else mean / 5)
        error = to_cents(deviation / Decimal(len(own)).sqrt())
    else:
        return {}
    if opened.drawn_once:  # a value differs from the mean by the same amount in all runs
        deviation, error = NOTHING, to_cents((deviation**2 + error**2).sqrt())
    return {**told, "mean": mean, "scatter": deviation, "error": error}


def value_of(ask: Ask, seen: Seen) -> Decimal:
    """Return the value of the item of an ask to its bidder in dollars."""
    return next(event.values[ask.item] for event in reversed(seen) if isinstance(event, Signal))
