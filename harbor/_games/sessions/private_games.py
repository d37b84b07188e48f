"""What games of auctions with private values share: how rules are built, events, forecasts, measures."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from importlib.resources import files
from random import Random
from statistics import fmean, stdev
from typing import Any

from harbor._config.auction import AuctionConfig, Simulated
from harbor._core.asks import Ask
from harbor._core.decisions import BidReply
from harbor._core.errors import ConfigError, unknown
from harbor._core.money import to_cents
from harbor._core.outcomes import Allocated, AllocatedSealed, Paid, PaidSealed, Signal
from harbor._core.seeding import stream
from harbor._games.game import Facts, Measures, Play, Seen, Values
from harbor._games.sessions import facts, measures
from harbor._games.sessions.private_values import ItemAllotted, PrivateValues, draw_values
from harbor._games.sessions.session import RunLabelled, RunOpened, SessionOpened
from harbor._games.sessions.settings import ValueRules

NOTHING = Decimal(0)
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
        yardstick=worth_to,
        forecast=forecast,
        reply=BidReply,
        stays=facts.STAYS,
        heeds_personas=False,
    )


def forecast(rival: str, known: Facts, settings: Simulated) -> float:  # noqa: ARG001
    """Expect that a rival bids what it did before, in the mean, or half of the assets."""
    past = [run["actions"].get(rival) for run in known["past"] if run["actions"].get(rival) is not None]
    return fmean(map(float, past)) if past else float(known["assets"]) / 2


def worth_to(name: str, seen: Seen, item: str, bidder: str) -> Facts:  # noqa: ARG001
    """Tell what the item of a run is worth to a bidder: its value where that was shown, else what values are like.

    `error` is how far that may be off in all runs alike. Without a prior, one's own values are a sample of it.
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
    if opened.drawn_once:  # whatever a value differs from the mean by, it differs in all runs
        deviation, error = NOTHING, to_cents((deviation**2 + error**2).sqrt())
    return {**told, "mean": mean, "scatter": deviation, "error": error}


def value_of(ask: Ask, seen: Seen) -> Decimal:
    """Give what the item of the ask is worth to its bidder."""
    return next(event.values[ask.item] for event in reversed(seen) if isinstance(event, Signal))
