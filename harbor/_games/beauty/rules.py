"""The beauty contest: everyone picks a number, and the number closest to a fraction of the mean wins a prize.

For a fraction below 1 the only equilibrium is that all pick 0. For the fraction 1, any number that all pick is an
equilibrium. The label then has no actions, only the even split that follows in all equilibria. The built-in model
plays from the facts of a prompt alone. It reasons `level` steps ahead of the others, and so do the level-k policies.
Source: EconArena, sec. A.1 (Moulin 1986, Nagel 1995).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import dropwhile, takewhile
from random import Random
from statistics import fmean

from harbor._config.auction import Simulated
from harbor._core.asking.amounts import NUMBER_STEP, Number
from harbor._core.asking.asks import Action, Ask, Bid
from harbor._core.basics.numbers import CENT, Claim, Money, dollars
from harbor._core.log.acts import HOUSE, Acted, Paid, PaidSealed
from harbor._core.log.events import Event
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games.beauty.settings import BeautyRules, Ratio
from harbor._games.game import Facts, Seen, Values, bid_of
from harbor._games.sessions import facts as session
from harbor._games.sessions.measures import Played, Result, RunResult, winners_of
from harbor._games.sessions.session import (
    RunClosed,
    RunLabelled,
    RunOpened,
    RunState,
    Session,
    SessionOpened,
    amount_of,
    disclosed,
    name_of,
)
from harbor._games.types_of_play import expected_bids, own_multiple

GROUPS = {"L": (10, 100), "M": (100, 1_000), "H": (1_000, 10_000)}
"""The range from which the bound is drawn, without its upper end."""


@dataclass(frozen=True, slots=True)
class BeautyOpened(SessionOpened):
    """A session of beauty contests begins: numbers from 0 to `bound`, the fraction of their mean, the prize."""

    bound: Claim
    fraction: Ratio
    prize: Money

    @property
    def rules(self) -> str:
        """The rules of one run in words."""
        return (
            f"Each player picks a number from 0 to {self.bound:f}. The player whose number is closest to "
            f"{self.fraction} of the mean of all numbers wins {dollars(self.prize)}; players that are equally close "
            "split it. A player that withdraws picks no number and wins nothing."
        )

    @property
    def has_distances(self) -> bool:
        """True if the equilibrium is unique; with the fraction 1, any number that all pick is one."""
        return self.fraction < 1

    def payoff(self, assets: Money, ideal: Money) -> float:
        """Return the payoff of a run: the share of the prize."""
        return float(assets / self.prize)

    def distance(self, action: Claim | None, assets: Money, ideal: Money) -> float | None:
        """Return the distance of a number from 0, the equilibrium, over the highest number (None: no number)."""
        return None if action is None else float(action / self.bound)


@dataclass(frozen=True, slots=True)
class PrizeAwarded(RunClosed):
    """A contest is over; `target` is the fraction of the mean, rounded (None: not shown, or nobody picked a number)."""

    target: Claim | None

    def details(self) -> Mapping[str, object]:
        """Return the target."""
        return {"target": self.target}

    @property
    def words(self) -> str:
        """The public outcome."""
        return " ".join(self.sentences())

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """The public outcome, sentence by sentence."""
        target = [] if self.target is None else [f"The target was {self.target:f}: {' and '.join(self.winners)} won."]
        return (f"{self.item} is over.".capitalize(), *target)


@dataclass(frozen=True)
class Beauty(Session):
    """The rules of a session of beauty contests.

    Args:
        bidders: in seat order.
        options: the settings: runs, public facts, the fraction, the prize.
        bound: the highest number that may be picked.
    """

    options: BeautyRules
    bound: Decimal

    def opened(self) -> BeautyOpened:
        """Return the opening of the session."""
        options = self.options
        return BeautyOpened(**self.facts(), bound=self.bound, fraction=options.fraction, prize=options.prize)

    def tell(self, run: int) -> list[Event]:
        """Return no private facts, as everything is public."""
        return []

    def ask(self, bidder: str, state: RunState) -> Ask:
        """Ask for a number."""
        return Ask(bidder, name_of(state.run), 1, Number(Decimal(0), self.bound))

    def close_run(self, state: RunState, actions: Mapping[str, Action]) -> list[Event]:
        """Award the prize."""
        item = name_of(state.run)
        picks = {name: amount_of(actions[name]) for name in self.bidders}
        picked = {name: number for name, number in picks.items() if number is not None}
        prizes = award(picked, self.options.fraction, self.options.prize)
        is_shown = self.options.shown != "nothing"
        awarded: list[Event] = [
            Paid(HOUSE, name, item, prize) if is_shown else PaidSealed((name,), HOUSE, name, item, prize)
            for name, prize in prizes.items()
        ]
        zeros = dict.fromkeys(self.bidders, Decimal(0))
        best = zeros if self.options.fraction < 1 else {}
        labelled = RunLabelled(item, best, award(zeros, self.options.fraction, self.options.prize))
        if not is_shown:
            return [*awarded, labelled, PrizeAwarded(item, (), None)]
        aim = round(target(list(picked.values()), self.options.fraction), 6) if picked else None
        shown = None if aim is None else Decimal(aim.numerator) / Decimal(aim.denominator)
        acts = disclosed(item, {name: actions[name] for name in self.bidders}, unit="number")
        return [*acts, *awarded, labelled, PrizeAwarded(item, tuple(prizes), shown)]


def target(numbers: Sequence[Decimal], fraction: Fraction) -> Fraction:
    """Return the exact fraction of the mean."""
    return fraction * sum(map(Fraction, numbers), Fraction(0)) / len(numbers)


def award(picked: Mapping[str, Decimal], fraction: Fraction, prize: Decimal) -> dict[str, Decimal]:
    """Return the winners and their shares of the prize in dollars.

    Ties split the prize evenly. Cents that can't be split go to the first winners, one each, so that none is lost.
    """
    if not picked:
        return {}
    aim = target(list(picked.values()), fraction)
    distance = {name: abs(Fraction(number) - aim) for name, number in picked.items()}
    winners = [name for name in picked if distance[name] == min(distance.values())]
    each, left = divmod(int(prize / CENT), len(winners))
    return {name: (each + (place < left)) * CENT for place, name in enumerate(winners)}


PLAN = "Think one step further than the others seem to."


def standing(name: str, seen: Seen) -> Facts:
    """Return the state of the session, with the greatest number and the fraction of the mean."""
    opened = next(event for event in seen if isinstance(event, BeautyOpened))
    return {**session.standing(name, seen), "bound": opened.bound, "fraction": str(opened.fraction)}


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Return the best response to the expected numbers, or reason some steps from the middle of the range."""
    fraction = float(Fraction(facts["fraction"]))
    if facts.get("rivals_are_rational") and fraction < 1:
        return bid_of(0.0, "Rational players all pick 0, so 0 is best")
    count = len(facts["players"])
    if (times := own_multiple(facts)) is not None:
        return bid_of(times * reference_in(facts), f"{times:.4f} times where the contest stands is my number")
    if expected := expected_bids(facts):
        number, steps = fmean(expected.values()), 1
    else:
        number, steps = float(facts["bound"]) / 2, settings.level
    for _ in range(steps):
        number = answer_best(number, count, fraction)
    steps_said = "1 step" if steps == 1 else f"{steps} steps"
    reasons = f"Thinking {steps_said} ahead of what the others will pick, {number:.4f} is my best answer."
    return {"reasons": reasons, "action": "bid", "amount": round(number, 4)}


def reference_in(facts: Facts) -> float:
    """Return where reasoning starts, from facts: the mean of the last shown run, or the middle of the range."""
    shown = [picked for run in facts["past"][-1:] for picked in run["actions"].values() if picked is not None]
    return fmean(map(float, shown)) if shown else float(facts["bound"]) / 2


def answer_best(others: float, count: int, fraction: float) -> float:
    """Return the number that hits the target among `count` players if the others pick `others` on average."""
    return fraction * (count - 1) * others / (count - fraction) if count > fraction else 0.0


def forecast(rival: str, facts: Facts, settings: Simulated) -> float:
    """Return a rival's expected number: `level` - 1 steps ahead of its last number, or of the middle of the range.

    A rational rival picks 0.
    """
    if facts.get("rivals_are_rational") and Fraction(facts["fraction"]) < 1:
        return 0.0
    past = [run["actions"].get(rival) for run in facts["past"] if run["actions"].get(rival) is not None]
    last = float(past[-1]) if past else float(facts["bound"]) / 2
    return float(last * float(Fraction(facts["fraction"])) ** (settings.level - 1))


def reference(name: str, seen: Seen, item: str, bidder: str) -> Facts:  # noqa: ARG001
    """Return the number from which players reason: the mean of the last shown run, else the middle of the range."""
    opened = next(event for event in seen if isinstance(event, BeautyOpened))
    before = list(takewhile(lambda event: getattr(event, "item", "") != item, seen))
    mean = _reference(before, opened)
    return {"mean": round(mean, 4), "scatter": round(mean / 5, 4)}


def rational(ask: Ask, seen: Seen) -> Bid:  # noqa: ARG001
    """Pick 0, the equilibrium."""
    return Bid(ask.minimum)


def level(steps: int, ask: Ask, seen: Seen, chance: Random) -> Bid:
    """Pick at random around the reference number (level 0), or answer best to players one level below.

    The reference is the mean of the last run that was shown, and the middle of the range before any.
    Source: Nagel 1995 (steps from the mean of the period before); Stahl & Wilson 1995 (level 0 is uniform).
    """
    opened = next(event for event in seen if isinstance(event, BeautyOpened))
    number, bound = _reference(seen, opened), float(opened.bound)
    if not steps:
        reach = min(number, bound - number)
        number = chance.uniform(number - reach, number + reach)
    for _ in range(steps):
        number = answer_best(number, len(opened.bidders), float(opened.fraction))
    return Bid(min(Decimal(number).quantize(CENT if bound >= 1 else NUMBER_STEP), ask.maximum))


def _reference(seen: Seen, opened: BeautyOpened) -> float:
    """Return the number from which players think ahead."""
    shown = dropwhile(lambda event: not isinstance(event, PrizeAwarded), reversed(seen))
    acts = takewhile(lambda event: not isinstance(event, RunOpened), shown)
    picked = [float(event.act.amount) for event in acts if isinstance(event, Acted) and isinstance(event.act, Bid)]
    return fmean(picked) if picked else float(opened.bound) / 2


def contests(entries: Sequence[Entry]) -> list[RunResult]:
    """List the contests that are over, whether or not players were told their results."""
    return [
        RunResult(item, winners_of(events), None, _target(opened, events))
        for opened in of_type(entries, BeautyOpened)
        for item, events in Played.of(entries).by_run().items()
    ]


def _target(opened: BeautyOpened, settled: Sequence[Result]) -> float | None:
    numbers = [event.action for event in settled if event.action is not None]
    return float(target(numbers, opened.fraction)) if numbers else None
