"""A session repeats a one-shot game in several runs; the settings say which facts of a run become public.

Source: EconArena, sec. 3, 4.3 and A.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from harbor._core.asking.asks import Action, Ask, Bid, Withdraw
from harbor._core.basics.numbers import Claim, Money, dollars
from harbor._core.log.acts import Acted, Unit
from harbor._core.log.events import AnalystEvent, Event, LotClosed, LotOpened, PublicEvent
from harbor._games.mechanism import Chance
from harbor._games.sessions.settings import Distribution, SessionRules

EQUALS = "All players are about equally rational, and about equally good at thinking strategically."

# ---------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class SessionOpened(PublicEvent, ABC):
    """A session begins: the event names the bidders, the number of runs, and the facts that all bidders are told.

    `show` says which facts of a run become public, and `history` how many past runs a bidder is shown.
    `rational_rivals` and `equal_rivals` say what bidders are told about the others' reasoning. `drawn_once` says that
    values stay the same in all runs. In auctions, `assets` are the dollars that each bidder has in each run, and `fee`
    is the fee in dollars for breaking a rule; in other games they are 0. `prior` is the distribution of values (None:
    bidders are not told it).
    """

    bidders: tuple[str, ...]
    runs: int
    show: str
    history: int
    rational_rivals: bool
    assets: Money
    fee: Money
    equal_rivals: bool = field(default=False, kw_only=True)
    drawn_once: bool = field(default=False, kw_only=True)
    prior: Distribution | None = field(default=None, kw_only=True)

    @property
    def words(self) -> str:
        """The rules in words."""
        return " ".join(self.sentences())

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """The rules, part by part."""
        shown = "Nothing of a run" if self.show == "nothing" else f"After each run the {self.show} of all players"
        verb = "is" if self.show == "nothing" else "are"
        rational = ["All other players are perfectly rational."] if self.rational_rivals else []
        rational += [EQUALS] if self.equal_rivals else []
        runs = "There is 1 run." if self.runs == 1 else f"There are {self.runs} runs, and each starts afresh."
        return (
            f"Welcome, {', '.join(self.bidders)}.",
            self.rules,
            *self._stakes(),
            runs,
            f"{shown} {verb} made public.",
            *rational,
        )

    def _stakes(self) -> Iterator[str]:
        """Yield sentences on the money at stake in a run; without assets, only that there is no fee."""
        if self.assets:
            yield (
                f"In each run you have {dollars(self.assets)} to spend, and the item has a value for you that only "
                "you are told; it may be more or less than what you have, and it may differ from the values of others."
            )
            if self.prior:
                yield f"Each player's value is drawn independently from {self.prior.words}."
            if self.drawn_once and self.runs > 1:
                yield "Everyone's money and value stay the same in all runs."
            yield "Your payoff of a run is the money you have left, plus your value of the item if you win it."
        if self.fee:
            yield (
                f"Only if all your attempts to answer a call fail, an entrance fee of {dollars(self.fee)} is charged; "
                "to withdraw costs nothing."
            )
        else:
            yield "No fee is charged for an answer that fails."

    @property
    @abstractmethod
    def rules(self) -> str:
        """The rules of one run in words."""

    @property
    def unsolved(self) -> str:
        """The reason why no equilibrium is known; empty if an equilibrium is known."""
        return ""

    @property
    def has_distances(self) -> bool:
        """True if a run can be compared with an equilibrium."""
        return True

    def payoff(self, assets: Money, ideal: Money) -> float:
        """Return the payoff of a run: the assets after the run divided by the assets in equilibrium (`ideal`)."""
        return float(assets / ideal)

    def distance(self, action: Claim | None, assets: Money, ideal: Money) -> float | None:
        """Return the deviation |assets / ideal - 1| of a run from equilibrium.

        A game with another measure returns None if the bidder made no action.
        """
        return abs(float(assets / ideal) - 1)


@dataclass(frozen=True, slots=True)
class RunOpened(LotOpened):
    """A run begins."""

    @property
    def words(self) -> str:
        """Its name."""
        return f"{self.item.capitalize()} begins."


@dataclass(frozen=True, slots=True)
class RunClosed(LotClosed):
    """A run is over; `winners` is empty unless the session shows them."""

    winners: tuple[str, ...]

    def details(self) -> Mapping[str, object]:
        """Return further facts of the run for prompts."""
        return {}


@dataclass(frozen=True, slots=True)
class RunLabelled(AnalystEvent):
    """The truth about a run: the action and the assets of each bidder in equilibrium.

    `actions` is empty if the run has many equilibria.
    """

    item: str
    actions: dict[str, Claim]
    assets: dict[str, Money]


# ---------------------------------------------------------------- rules


class RunState(NamedTuple):
    """The state of a session: the number of the run (0 before the first), its round, and the bidders to ask.

    In games whose runs have several rounds, `bids` has each bidder's highest bid so far, and `broke` the bidders that
    broke a rule.
    """

    run: int = 0
    round: int = 0
    active: tuple[str, ...] = ()
    bids: Mapping[str, Decimal] = MappingProxyType({})
    broke: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session(ABC):
    """The rules that all games of sessions share; each game defines the rules of a run.

    Args:
        bidders: the names of the bidders in seat order, which decides between equal bidders.
        options: the settings of the session.
    """

    bidders: tuple[str, ...]
    options: SessionRules

    def start(self) -> RunState:
        """Return the state before the session opens."""
        return RunState()

    def asks(self, state: RunState) -> Sequence[Ask]:
        """Ask each bidder that is still in the run."""
        return [self.ask(bidder, state) for bidder in state.active]

    def settle(self, state: RunState, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Close the run and open the next, if there is one."""
        if not state.run:
            return [self.opened(), *self.open_run(1)]
        return [*self.close_run(state, actions), *self.open_next(state)]

    def apply(self, state: RunState, event: Event) -> RunState:
        """Return the state after an event."""
        match event:
            case RunOpened():
                return RunState(state.run + 1, 1, self.bidders)
            case RunClosed():
                return RunState(state.run)
            case _:
                return state

    def open_run(self, run: int) -> list[Event]:
        """Begin a run and tell each bidder its private facts."""
        return [RunOpened(name_of(run)), *self.tell(run)]

    def open_next(self, state: RunState) -> list[Event]:
        """Begin the run after this one, if there is one."""
        return self.open_run(state.run + 1) if state.run < self.options.runs else []

    def facts(self) -> dict[str, Any]:
        """Return the shared fields of all opening events."""
        options, (assets, fee) = self.options, self.stakes
        told = {"rational_rivals": options.rational_rivals, "equal_rivals": options.equal_rivals}
        shown = {"runs": options.runs, "show": options.shown, "history": options.history}
        return {"bidders": self.bidders, **shown, **told, "assets": assets, "fee": fee}

    @property
    def stakes(self) -> tuple[Money, Money]:
        """Everyone's assets at the start of a run, and the fee for breaking a rule, in dollars; 0 without assets."""
        return Decimal(0), Decimal(0)

    @abstractmethod
    def opened(self) -> SessionOpened:
        """Return the opening of the session."""

    @abstractmethod
    def tell(self, run: int) -> list[Event]:
        """Return the events with the private facts of a run."""

    @abstractmethod
    def ask(self, bidder: str, state: RunState) -> Ask:
        """Return the ask of a bidder."""

    @abstractmethod
    def close_run(self, state: RunState, actions: Mapping[str, Action]) -> list[Event]:
        """Return the events that follow from the actions."""


def name_of(run: int) -> str:
    """Return the name of a run in asks and events."""
    return f"run {run}"


def disclosed(item: str, actions: Mapping[str, Action], unit: Unit = "dollars") -> list[Event]:
    """Return the public acts of all players in a run; the reasons of withdrawals stay private."""
    shown = {name: act if isinstance(act, Bid) else Withdraw() for name, act in actions.items()}
    return [Acted(name, item, act, unit=unit) for name, act in shown.items()]


def amount_of(action: Action) -> Claim | None:
    """Return the amount of a bid; None for a withdrawal."""
    return action.amount if isinstance(action, Bid) else None


def broke_a_rule(action: Action) -> bool:
    """Return whether all attempts of a bidder failed."""
    return isinstance(action, Withdraw) and action.reason == "failed bids"
