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
from harbor._core.outcomes import HOUSE, Signal
from harbor._games.outcomes import GETS, PAYS, Outcomes
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
            case RunClosed() if self.opened:
                return self._run.past(event, self.opened)
            case _:
                self._run.note(event)
        return None


@dataclass
class _Run:
    """A run under way; `known` are the players whose own results are."""

    actions: Actions = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    winners: set[str] = field(default_factory=set)
    told: Outcomes = field(default_factory=Outcomes)
    is_shown: bool = False

    def note(self, event: Event) -> None:
        """Take one event in; in a game of several rounds, the last bid counts."""
        self.told.note(event)
        if isinstance(event, ActedSealed | Signal):
            self.known.add(event.bidder)
        if isinstance(event, Acted | ActedSealed):
            bidder, act = event.bidder, event.act
            self.actions[bidder] = act.amount if isinstance(act, Bid) else self.actions.get(bidder)
            self.is_shown |= isinstance(event, Acted)
        elif isinstance(event, GETS):
            self.winners.add(event.bidder)
        elif isinstance(event, PAYS) and event.payer == HOUSE:
            self.winners.add(event.payee)

    def past(self, closed: RunClosed, opened: SessionOpened) -> Past:
        """Give the run, now that it is over."""
        shown = {name: self.actions.get(name) for name in opened.bidders} if self.is_shown else {}
        results = [self._result(name, closed.item, opened) for name in opened.bidders if name in self.known]
        return Past(closed, shown, tuple(results))

    def _result(self, name: str, item: str, opened: SessionOpened) -> Result:
        mine, won, value = self.told.account(name), name in self.winners, self.told.worths.of(name, item)
        left = opened.assets + mine.received - mine.spent + (value or NOTHING if won else NOTHING)
        return Result(name, item, self.actions.get(name), won, mine.paid.get(item, NOTHING), mine.fees, left, value)


def past_runs(events: Iterable[Event]) -> Iterator[Past]:
    """Give the runs that are over, in order."""
    fold = Sessions()
    for event in events:
        if (past := fold.note(event)) is not None:
            yield past
