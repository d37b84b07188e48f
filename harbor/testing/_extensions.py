"""The conformance suites for policies, catalogues and metrics: call them in a test of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from harbor._core.asking.asks import Answer, Ask
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import Event, ItemLabelled, SeriesOpened
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.players import Policy
from harbor._core.log.thoughts import Profiled
from harbor._core.plugins.finding import find, names
from harbor._games.game import Game, ScriptedPolicy, Table
from harbor._games.mechanism import require
from harbor._house.plain import never_waits
from harbor._runs.auction import Auction
from harbor._runs.inputs import RunInputs, finish
from harbor._runs.resolve import ResolvedBidder
from harbor._runs.run import Run, start
from harbor._runs.series import run_series
from harbor.evaluation._metrics.measurement import Measurement, Metric, measure
from harbor.personas._catalog.catalogue import Catalogue, sample
from harbor.testing._playing import (
    BIDDERS,
    ITEMS,
    cuts,
    equal,
    held,
    legal,
    names_of,
    played,
    promised,
    seated,
    sound,
    table,
    thinkers,
    unplayed,
    whole,
)


@dataclass(frozen=True)
class Watched(Policy):
    """A policy whose decisions are compared with those of a new one; it must not change its input."""

    policy: Policy
    make: Callable[[], Policy]
    broken: list[str] = field(default_factory=list)
    drawn: str = ""

    def decide(self, ask: Ask, seen: Sequence[Event]) -> Answer | str:
        """Decide three times: twice with the policy, and once with a new one."""
        shown = repr(list(seen))
        answer, again, fresh = (one.decide(ask, seen) for one in (self.policy, self.policy, self.make()))
        if answer != again:
            self.broken.append(f"decides twice otherwise: {answer!r} and {again!r} in answer to {ask!r}")
        elif answer != fresh:
            self.broken.append(f"hangs on more than the ask and what it has seen: {answer!r}, and made anew {fresh!r}")
        elif repr(list(seen)) != shown:
            self.broken.append(f"changes what it is given: {shown}"[:2_000])
        return answer


def check_policy(policy: ScriptedPolicy, games: Sequence[str] = ()) -> None:
    """Check that a scripted policy works.

    In each game in which it is tried, the policy has to play to the end. With the same bidder, seed and game, and after
    the same ask and the same events, it has to decide the same again, also if the policy was made anew. It must not
    change the ask or the events that it gets.

    Args:
        policy: the policy.
        games: names of the games in which the policy is tried; by default, the games that the policy names, or else all
            installed games that it can play.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    whole(policy, "policy")
    wanted = tuple(games) or policy.games
    tried = [name for name in wanted or names("game") if _plays(policy, name, insist=bool(wanted))]
    require(tried, f"the policy {policy.name!r} can play no installed game", policy.needs)


def _plays(policy: ScriptedPolicy, name: str, *, insist: bool) -> bool:
    """Try a policy in a game; return whether it can play it."""
    who = f"the policy {policy.name!r} in the game {name!r}"
    with promised(who):
        game: Game = find("game", name)
        auction = table(game, seated(names_of(game), {"rule": policy.name}), {})
        try:
            run = Run(auction, RunInputs())
        except ConfigError:
            if insist:
                raise
            return False
        watched = _watch(run, policy, game)
        log = finish(start(run), "check_policy() can't be used", "a test that is no coroutine").log
        for one in watched:
            require(not one.broken, f"{who} {''.join(one.broken[:1])}")
        sound(log)
        equal(log, auction.run().log)
        return True


def _watch(run: Run, policy: ScriptedPolicy, game: Game) -> list[Watched]:
    """Replace each policy that does nothing but decide by one that compares."""

    def watched(one: ResolvedBidder) -> ResolvedBidder:
        if one.policy is None or not never_waits(one.policy):
            return one
        make = partial(policy.make, Table(one.settings, run.config.seed, game))
        return replace(one, policy=Watched(one.policy, make, drawn=one.policy.drawn))

    bidders = tuple(map(watched, run.auction.bidders))
    run.auction = replace(run.auction, bidders=bidders)
    return [one.policy for one in bidders if isinstance(one.policy, Watched)]


MOST_ITEMS = 3
"""The greatest number of items of a sample and a sale."""
SEEDS = 10
"""Seeds with which samples are drawn."""


def check_catalogue(catalogue: Catalogue) -> None:
    """Check that a catalogue works.

    No two of its personas may have the same text, and no two of its items the same name or listing. An item may suit
    only personas of the catalogue, named by their ids, or no persona; and each persona needs an item that suits it. No
    item may have a starting price above its true value. Samples of items that are drawn with the same seed have to be
    the same. Some items are also sold in an auction: the bidders get personas of the catalogue, and the built-in model
    profiles rivals, with a share for each persona.

    Args:
        catalogue: the catalogue.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    whole(catalogue, "catalogue")
    what = f"the catalogue {catalogue.name!r}"
    with promised(what):
        _consistent(catalogue, what)
        _sampled(catalogue, what)
        _sold(catalogue, what)


def _consistent(catalogue: Catalogue, what: str) -> None:
    listings: dict[str, str] = {}
    for key, item in catalogue.items.items():
        known = all(persona in catalogue.personas for persona in item.suits)
        require(known, f"{what}: item {key!r} suits a persona that it does not have", item.persona)
        require(item.start <= item.true_value, f"{what}: item {key!r} starts above its true value", item)
        other = listings.setdefault(item.listing, key)
        require(other == key, f"{what}: items {other!r} and {key!r} have the same listing", item.listing)
    for persona in catalogue.personas:
        require(catalogue.suiting(persona), f"{what}: no item suits the persona {persona!r}")


def _sampled(catalogue: Catalogue, what: str) -> None:
    count = min(MOST_ITEMS, len(catalogue.items))
    for seed in range(SEEDS):
        drawn = sample(catalogue, count, seed)
        require(drawn == sample(catalogue, count, seed), f"{what}: equal seeds give two samples", drawn)


def _sold(catalogue: Catalogue, what: str) -> None:
    """Sell some items to bidders with its personas, who profile each other."""
    mind = {"theory_of_mind": "inferred"} if len(catalogue.personas) > 1 else {}
    seats = [{"name": name, "persona": key, **mind} for name, key in zip(BIDDERS, catalogue.personas, strict=False)]
    count = min(MOST_ITEMS, len(catalogue.items))
    log = played(Auction(catalogue=catalogue.name, items={"count": count}, bidders=seats)).log
    legal(log, "the built-in model")
    require(len(of_type(log, ItemLabelled)) == count, f"{what}: not all of its items are for sale")
    require(not mind or of_type(log, Profiled), f"{what}: nobody is profiled over its personas")


FAILED = "the metric failed"
"""Prefix of the reason for a missing value of a metric that raised an error."""


def check_metric(metric: Metric, log: Sequence[Entry] = ()) -> None:
    """Check that a metric works.

    The metric measures whole logs, and logs that broke off at some point. It must not raise an error, and has to give
    the same result if it measures a log twice. Its values have to lie within its bounds. It has to give a value for at
    least one whole log. A missing value needs a reason, also for a game that the metric can't measure. The metric's
    function needs a docstring, which tells the formula.

    Args:
        metric: the metric.
        log: the log of a game that the metric can measure; by default, installed games are played, and the logs with an
            event of the metric's kind are measured.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    whole(metric, "metric")
    what = f"the metric {metric.name!r}"
    require((metric.measure.__doc__ or "").strip(), f"{what} has no docstring that gives its formula")
    with promised(what):
        valued = [_measured(metric, one, what) for one in ([log] if log else (one for _, one in fitting(metric)))]
        nowhere = unplayed(metric.kinds) or f"no installed game opens with {metric.wanted}"
        require(valued, f"{nowhere}; give check_metric a log of one that does")
        require(any(valued), f"{what} has no value in a whole game")
        other = measure([metric.name], ())
        require(all(one.value is None and one.missing for one in other), f"{what} of another game does not say so")


def fitting(metric: Metric) -> Iterator[tuple[Auction, Sequence[Entry]]]:
    """Yield the installed games that open with the event of a metric, each with its log; also a series if it is one."""
    if metric.of is SeriesOpened:
        yield _series()
    for auction, log in (*held(), _in_own_form()):
        if any(isinstance(entry.event, metric.of) for entry in log):
            yield auction, log


@cache
def _series() -> tuple[Auction, Sequence[Entry]]:
    """Run a series of auctions in which bidders learn; return it with its log."""
    seats = thinkers(find("game", "english"), memory="list", learning=True)
    auction = Auction(items=ITEMS, bidders=seats, series={"auctions": 2})
    return auction, run_series(auction).log


@cache
def _in_own_form() -> tuple[Auction, Sequence[Entry]]:
    """Run a game whose bidders answer in a protocol's own form; return it with its log."""
    seats = thinkers(find("game", "second-price"), protocol="econarena")
    auction = Auction(bidders=seats, rules={"game": "second-price", "runs": 2})
    return auction, auction.run().log


def _measured(metric: Metric, log: Sequence[Entry], what: str) -> bool:
    """Measure several beginnings of a log; return whether the whole log has a value."""
    found: list[Measurement] = []
    for cut in cuts(log):
        found = measure([metric.name], cut)
        require(found == measure([metric.name], cut), f"{what} measures twice otherwise", found)
        broken = [one.missing for one in found if one.missing.startswith(FAILED)]
        require(not broken, f"{what} fails where the log breaks off after {type(cut[-1].event).__name__}", broken)
    return any(one.value is not None for one in found)
