"""What games of auctions with private values share: how rules are built, events, forecasts, measures."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from importlib.resources import files
from random import Random
from statistics import fmean

from harbor._config.auction import AuctionConfig, Simulated
from harbor._core.asks import Ask
from harbor._core.errors import ConfigError, unknown
from harbor._core.outcomes import Allocated, AllocatedSealed, Paid, PaidSealed, Signal
from harbor._core.seeding import stream
from harbor._games.game import Facts, Measures, Play, Seen, Values
from harbor._games.sessions import facts, measures
from harbor._games.sessions.private_values import ItemAllotted, PrivateValues, draw_values
from harbor._games.sessions.session import RunLabelled, RunOpened
from harbor._games.sessions.settings import ValueRules

Policy = Callable[[Facts, Simulated, Random], Values]
EVENTS = (RunOpened, Signal, Allocated, AllocatedSealed, Paid, PaidSealed, ItemAllotted, RunLabelled)
MEASURES = Measures("runs", measures.standings, measures.runs)


def building(kind: type[PrivateValues]) -> Callable[[ValueRules, AuctionConfig], PrivateValues]:
    """Give what builds rules of this kind, with a value for each bidder and run.

    Raises:
        ConfigError: values are given for nobody who bids, or not for every run.
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
    """Give how bidders see and play such a game; its prompt for a bid stands in its own package."""
    return Play(
        facts=facts.standing,
        outlook=facts.outlook,
        system=files("harbor._games.sessions") / "system.md",
        prompt=files(package) / "bid.md",
        policy=policy,
        plan=plan,
        forecast=forecast,
        heeds_personas=False,
    )


def forecast(rival: str, known: Facts, settings: Simulated) -> float:  # noqa: ARG001
    """Expect that a rival bids what it did before, in the mean, or half of the assets."""
    past = [run["actions"].get(rival) for run in known["past"] if run["actions"].get(rival) is not None]
    return fmean(map(float, past)) if past else float(known["assets"]) / 2


def value_of(ask: Ask, seen: Seen) -> Decimal:
    """Give what the item of the ask is worth to its bidder."""
    return next(event.values[ask.item] for event in reversed(seen) if isinstance(event, Signal))
