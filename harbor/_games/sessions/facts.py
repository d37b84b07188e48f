"""Facts of a session for its players' prompts, and its board for viewers.

The board shows the run and its price, the acts, and the values and assets that its viewer knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from harbor._core.asking.asks import Withdraw
from harbor._core.basics.numbers import Claim, dollars
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.events import BiddersAsked, BidderSeated, Event, Paused, PublicEvent, SaleClosed
from harbor._core.log.log_entries import number
from harbor._games.board import Mark, Picture, Rows, Shown, doing
from harbor._games.game import Facts, Outlook, Seen
from harbor._games.sessions.measures import Past, Result, Sessions, past_runs
from harbor._games.sessions.session import RunClosed, RunOpened, SessionOpened

T = TypeVar("T")
STAYS = ("players", "prior", "rivals_are_rational")
"""Names of the facts that stay the same in all runs."""


def standing(name: str, seen: Seen) -> Facts:  # noqa: ARG001
    """Return the state of the session, with the results of as many past runs as it shows."""
    opened, past = _opened(seen), list(past_runs(seen))
    results = [result for run in past for result in run.results]
    known: dict[str, Any] = {
        "players": list(opened.bidders),
        "past": [_run(run) for run in last(past, opened.history)],
        "your_results": [_result(result) for result in last(results, opened.history)],
        **({"run": begun[-1].item} if len(begun := _of(RunOpened, seen)) > len(past) else {}),
        "runs_left": opened.runs - len(past),
    }
    if opened.rational_rivals:
        known["rivals_are_rational"] = True
    if opened.prior:
        known["prior"] = opened.prior.model_dump()
    return {**known, **_under_way(opened, seen)} if "run" in known else known


def _under_way(opened: SessionOpened, seen: Seen) -> Facts:
    """Return a player's facts on the current run: its value and the withdrawn players."""
    known: dict[str, Any] = {}
    if values := _of(Signal, seen):
        [value] = values[-1].values.values()
        known |= {"value": value, "assets": opened.assets, "value_is_above_assets": value > opened.assets}
    if out := _out(seen):
        known["withdrawn"] = out
    return known


def outlook(name: str, seen: Seen) -> Outlook:
    """Return the outlook: all rivals if the last run showed their actions, else none; and whether runs are left."""
    opened, past = _opened(seen), list(past_runs(seen))
    shown = opened.history > 0 and bool(past) and bool(past[-1].shown)
    rivals = tuple(one for one in opened.bidders if one != name)
    return Outlook(rivals if shown else (), goes_on=len(past) < opened.runs)


def last(events: Sequence[T], count: int) -> Sequence[T]:
    """Return the last `count` of these, or all if there are fewer."""
    return events[-count:] if count else ()


def _opened(seen: Seen) -> SessionOpened:
    return next(event for event in seen if isinstance(event, SessionOpened))


def _of(kind: type[T], seen: Seen) -> list[T]:
    return [event for event in seen if isinstance(event, kind)]


def _out(seen: Seen) -> list[str]:
    """Return the players that have dropped out of this run."""
    out: list[str] = []
    for event in seen:
        if isinstance(event, RunOpened):
            out = []
        elif isinstance(event, Acted) and isinstance(event.act, Withdraw):
            out.append(event.bidder)
    return out


def _run(past: Past) -> dict[str, Any]:
    """Return the public facts of a run."""
    closed = past.closed
    return {"run": closed.item, "actions": past.shown, "winners": list(closed.winners), **closed.details()}


def _result(own: Result) -> dict[str, Any]:
    """Return a player's own result of a run."""
    told = {"run": own.item, "action": own.action, "won": own.won, "assets_at_end": own.assets}
    return told if own.value is None else told | {"value": own.value, "paid": own.paid, "fee": own.fee}


OF_A_RUN = ("value", "bid", "assets after it")
KNOWN = ("value", "bid", "assets after it", "runs won so far", "earned so far")
COLUMNS = ("bidder", "now", *KNOWN)
Theory = Callable[[Any, Decimal], Decimal | None]
EARNED = Picture("earned", "Earned so far", x="run", y="earned so far")
OF_AUCTIONS = (
    Picture("values", "Bids against values", x="value", y="bid", x_scale="dollars"),
    Picture("price", "Price of each run and its winner", x="run", y="price"),
    EARNED,
)
OF_NUMBERS = (Picture("picks", "Numbers and their target", x="run", y="number", scale="number"), EARNED)


class SessionBoard:
    """The board of a session for one viewer; cells that the viewer does not know stay empty.

    Args:
        in_dollars: true if actions are dollars, false if they are numbers.
        theory: returns the equilibrium bid from the opening and a value (None: it is no function of the value).
    """

    def __init__(self, in_dollars: bool = True, theory: Theory = lambda *_: None) -> None:
        self._spell = dollars if in_dollars else number
        self.pictures: tuple[Picture, ...] = OF_AUCTIONS if in_dollars else OF_NUMBERS
        self._run = 0
        self._sessions = Sessions()
        self._past: Past | None = None
        self._opened: SessionOpened | None = None
        self._theory = theory
        self._values: dict[str, Decimal] = {}
        self._drawn: set[str] = set()
        self._runs = 0
        self._headline = self._state = self._price = ""
        self._rows = Rows(COLUMNS, KNOWN)
        self._won: Counter[str] = Counter()
        self._assets = Decimal(0)
        self._earned: dict[str, Decimal] = {}

    def note(self, event: Event) -> None:
        """Process one event."""
        self._past = self._sessions.note(event)
        self._rows.put("now", doing(event))
        match event:
            case BidderSeated(bidder=bidder):
                self._rows.put("now", {bidder: self._rows.of("now", bidder)})
            case SessionOpened(bidders=bidders, runs=runs, assets=assets):
                self._opened, self._runs, self._assets, self._state = event, runs, assets, event.rules
                self._rows.seat(bidders)
                self._rows.fill("now", "")
            case RunOpened(item=item):
                self._headline, self._state, self._price = f"{item.capitalize()} of {self._runs}", "", ""
                self._run, self._values, self._drawn = self._run + 1, {}, set()
                self._begin("in")
            case Signal(bidder=bidder, values=values):
                [value] = values.values()
                self._values[bidder] = value
                self._rows.put("value", {bidder: dollars(value)})
            case RunClosed() if self._past:
                self._close(self._past)
            case Paused(over=False):
                self._state = "the bidders think"
            case BiddersAsked():
                self._state = self._price or "everyone acts at the same moment"
            case SaleClosed():
                self._headline, self._state = "The session is over", ""
                self._begin("")
            case PublicEvent() if event.words:  # such as a price that rises
                self._state = self._price = event.words

    def _begin(self, now: str) -> None:
        """Empty the columns of the last run."""
        self._rows.fill("now", now)
        for column in OF_A_RUN:
            self._rows.clear(column)

    def _settle(self, result: Result) -> None:
        """Write the result of one player in a run."""
        bidder = result.bidder
        self._earned[bidder] = self._earned.get(bidder, Decimal(0)) + result.assets - self._assets
        self._rows.put("now", {bidder: "won" if result.won else "did not win"})
        self._rows.put("bid", {bidder: self._did(result.action)})
        self._rows.put("assets after it", {bidder: dollars(result.assets)})
        self._rows.put("earned so far", {bidder: dollars(self._earned[bidder])})

    def _close(self, past: Past) -> None:
        """Write the known results of a run, if there are any."""
        for result in past.results:
            self._settle(result)
        event, values = past.closed, getattr(past.closed, "values", {})
        self._state = event.words
        self._values |= values
        self._won.update(event.winners)
        self._rows.put("now", {name: "won" if name in event.winners else "did not win" for name in past.shown})
        self._rows.put("bid", {name: self._did(action) for name, action in past.shown.items()})
        self._rows.put("value", {name: dollars(value) for name, value in values.items()})
        self._rows.put("runs won so far", {name: str(count) for name, count in self._won.items()})

    def _did(self, action: Claim | None) -> str:
        return "nothing" if action is None else self._spell(action)

    def marks(self, event: Event) -> Iterator[Mark]:
        """Yield the actions and the results of a run when they become known."""
        if self._past is None:
            return
        for result in self._past.results:
            yield from self._done(result.bidder, result.action)
            yield Mark("earned", result.bidder, "profit", "line", self._earned[result.bidder], self._run)
            if result.won:
                yield from self._sold(result.bidder, result.paid)
        for bidder, action in self._past.shown.items():
            yield from self._done(bidder, action)
        closed = self._past.closed
        for winner in closed.winners:
            yield from self._sold(winner, getattr(closed, "price", None))
        target = getattr(closed, "target", None)
        if target is not None:
            yield Mark("picks", "target", "target", "line", target, self._run)

    def _done(self, bidder: str, action: Claim | None) -> Iterator[Mark]:
        """Yield a bidder's action if it is not drawn yet, and the equilibrium bid for its value."""
        if action is None or bidder in self._drawn:
            return
        self._drawn.add(bidder)
        if self.pictures is OF_NUMBERS:
            yield Mark("picks", bidder, "number", "point", action, self._run)
        elif bidder in self._values:
            value = self._values[bidder]
            yield Mark("values", bidder, "bid", "point", action, value)
            theory = self._theory(self._opened, value) if self._opened else None
            if theory is not None:
                yield Mark("values", "theory", "theory", "line", theory, value)

    def _sold(self, winner: str, price: Decimal | None) -> Iterator[Mark]:
        """Yield the price of the run if there is one that is not drawn yet."""
        if price is not None and self.pictures is not OF_NUMBERS and "" not in self._drawn:
            self._drawn.add("")
            yield Mark("price", winner, "price", "bar", price, self._run)

    def shown(self) -> Shown:
        """Return the run and the players."""
        return self._rows.shown(self._headline, self._state)
