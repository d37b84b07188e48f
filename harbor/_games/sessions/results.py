"""What came of each run of a session, folded from acts, outcomes and signals, as far as its reader may see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from harbor._core.acts import Acted, ActedSealed
from harbor._core.asks import Bid
from harbor._core.events import Event
from harbor._core.money import Claim
from harbor._core.outcomes import HOUSE, Allocated, AllocatedSealed, Paid, PaidSealed, Signal
from harbor._games.sessions.session import RunClosed, RunOpened, SessionOpened

NOTHING = Decimal(0)
Actions = dict[str, Claim | None]
"""What players did in a run, in seat order (None: no bid)."""


class Result(NamedTuple):
    """A player's result of a run: its action (None: none), dollars paid, fee for a broken rule, assets afterwards."""

    bidder: str
    item: str
    action: Claim | None
    won: bool
    paid: Decimal
    fee: Decimal
    assets: Decimal
    value: Decimal | None


class Past(NamedTuple):
    """A run that is over: its end, what everyone was shown to have done, and results, as far as they are known."""

    closed: RunClosed
    shown: Actions
    results: tuple[Result, ...]


@dataclass
class Sessions:
    """The runs of a session, as a fold over events; a player knows its own results, the analyst all, others none."""

    opened: SessionOpened | None = None
    _run: _Run = field(default_factory=lambda: _Run())

    def note(self, event: Event) -> Past | None:
        """Take one event in; give the run that it closes."""
        match event:
            case SessionOpened():
                self.opened = event
            case RunOpened():
                self._run = _Run()
            case Signal(bidder=bidder, values=values):
                self._run.values[bidder] = next(iter(values.values()))
            case Acted(bidder=bidder, act=act):
                self._run.is_shown = True
                self._run.act(bidder, act)
            case ActedSealed(bidder=bidder, act=act):
                self._run.own.add(bidder)
                self._run.act(bidder, act)
            case Allocated(bidder=bidder) | AllocatedSealed(bidder=bidder):
                self._run.winners.add(bidder)
            case Paid() | PaidSealed():
                self._run.pay(event)
            case RunClosed() if self.opened:
                return self._run.past(event, self.opened)
        return None


@dataclass
class _Run:
    """A run under way."""

    actions: Actions = field(default_factory=dict)
    values: dict[str, Decimal] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    winners: set[str] = field(default_factory=set)
    paid: dict[str, Decimal] = field(default_factory=dict)
    fees: dict[str, Decimal] = field(default_factory=dict)
    prizes: dict[str, Decimal] = field(default_factory=dict)
    is_shown: bool = False

    def act(self, bidder: str, act: object) -> None:
        """Take an act: in a game of several rounds, the last bid counts."""
        self.actions[bidder] = act.amount if isinstance(act, Bid) else self.actions.get(bidder)

    def pay(self, event: Paid | PaidSealed) -> None:
        """Take a payment."""
        if event.payer == HOUSE:
            self.prizes[event.payee] = event.amount
            self.winners.add(event.payee)
        elif event.fee:
            self.fees[event.payer] = event.amount
        else:
            self.paid[event.payer] = event.amount

    def past(self, closed: RunClosed, opened: SessionOpened) -> Past:
        """Give the run, now that it is over."""
        known = self.own | self.values.keys()
        shown = {name: self.actions.get(name) for name in opened.bidders} if self.is_shown else {}
        results = [self._result(name, closed.item, opened) for name in opened.bidders if name in known]
        return Past(closed, shown, tuple(results))

    def _result(self, name: str, item: str, opened: SessionOpened) -> Result:
        paid, fee = self.paid.get(name, NOTHING), self.fees.get(name, NOTHING)
        won, value = name in self.winners, self.values.get(name)
        gained = self.prizes.get(name, NOTHING) + (value or NOTHING if won else NOTHING)
        left = opened.assets - paid - fee + gained
        return Result(name, item, self.actions.get(name), won, paid, fee, left, value)


def past_runs(events: Iterable[Event]) -> Iterator[Past]:
    """Give the runs that are over, in order."""
    fold = Sessions()
    for event in events:
        if (past := fold.note(event)) is not None:
            yield past
