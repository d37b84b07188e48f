"""The beauty contest: everyone picks a number, and the number closest to a fraction of the mean wins a prize.

For a fraction below 1 the only equilibrium is that all pick 0. For the fraction 1 it is an equilibrium that all pick
the same number, whichever it is: the label then has no actions, only the even split that follows in all equilibria.
Source: EconArena, sec. A.1 (Moulin 1986, Nagel 1995).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from harbor._core.amounts import Number
from harbor._core.asks import Action, Ask
from harbor._core.events import Event
from harbor._core.money import CENT, Claim, Money, dollars
from harbor._core.outcomes import HOUSE, Paid, PaidSealed
from harbor._games.beauty.settings import BeautyRules, Ratio
from harbor._games.sessions.session import (
    RunClosed,
    RunLabelled,
    RunState,
    Session,
    SessionOpened,
    amount_of,
    disclosed,
    name_of,
)

GROUPS = {"L": (10, 100), "M": (100, 1_000), "H": (1_000, 10_000)}
"""The range that the bound is drawn from, without its upper end."""


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
        """Whether there is one equilibrium: with the fraction 1, any number that all pick is one."""
        return self.fraction < 1

    def payoff(self, assets: Money, ideal: Money) -> float:
        """Give the payoff of a run: the share of the prize."""
        return float(assets / self.prize)

    def distance(self, action: Claim | None, assets: Money, ideal: Money) -> float | None:
        """Give how far a number was from 0, the equilibrium, over the highest number (None: no number)."""
        return None if action is None else float(action / self.bound)


@dataclass(frozen=True, slots=True)
class PrizeAwarded(RunClosed):
    """A contest is over; `target` is the fraction of the mean, rounded (None: not shown, or nobody picked a number)."""

    target: Claim | None

    def details(self) -> Mapping[str, object]:
        """Give the target."""
        return {"target": self.target}

    @property
    def words(self) -> str:
        """What is shown."""
        return " ".join(self.sentences())

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """What is shown of the outcome, sentence by sentence."""
        target = [] if self.target is None else [f"The target was {self.target:f}: {' and '.join(self.winners)} won."]
        return (f"{self.item} is over.".capitalize(), *target)


@dataclass(frozen=True)
class Beauty(Session):
    """The rules of a session of beauty contests.

    Args:
        bidders: in seat order.
        options: runs, what is shown, the fraction, the prize.
        bound: the highest number that may be picked.
    """

    options: BeautyRules
    bound: Decimal

    def opened(self) -> BeautyOpened:
        """Give the opening of the session."""
        options = self.options
        return BeautyOpened(**self.facts(), bound=self.bound, fraction=options.fraction, prize=options.prize)

    def tell(self, run: int) -> list[Event]:
        """Give no private facts: everything is known to everyone."""
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
    """Give the exact fraction of the mean."""
    return fraction * sum(map(Fraction, numbers), Fraction(0)) / len(numbers)


def award(picked: Mapping[str, Decimal], fraction: Fraction, prize: Decimal) -> dict[str, Decimal]:
    """Give the winners and their shares of the prize in dollars.

    Ties split it evenly. Cents that can't be split go to the first winners, one each, so that none is lost.
    """
    if not picked:
        return {}
    aim = target(list(picked.values()), fraction)
    distance = {name: abs(Fraction(number) - aim) for name, number in picked.items()}
    winners = [name for name in picked if distance[name] == min(distance.values())]
    each, left = divmod(int(prize / CENT), len(winners))
    return {name: (each + (place < left)) * CENT for place, name in enumerate(winners)}
