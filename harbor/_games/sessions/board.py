"""What a session shows at a moment: the run and its price, who acts, and what its viewer knows of values and assets."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from harbor._core.event_texts import number
from harbor._core.events import BiddersAsked, BidderSeated, Event, Paused, PublicEvent, SaleClosed
from harbor._core.money import Claim, dollars
from harbor._games.board import Rows, Shown, doing
from harbor._games.sessions.private_values import ValueDrawn
from harbor._games.sessions.session import RunClosed, RunOpened, RunSettled, SessionOpened

OF_A_RUN = ("value", "bid", "assets after it")
KNOWN = ("value", "bid", "assets after it", "runs won so far", "earned so far")
COLUMNS = ("bidder", "now", *KNOWN)


class SessionBoard:
    """A session as its viewer sees it: what it does not know stays empty.

    Args:
        in_dollars: whether what is done in a run is money.
    """

    def __init__(self, in_dollars: bool = True) -> None:
        self._spell = dollars if in_dollars else number
        self._runs = 0
        self._headline = self._state = self._price = ""
        self._rows = Rows(COLUMNS, KNOWN)
        self._won: Counter[str] = Counter()
        self._assets = Decimal(0)
        self._earned: dict[str, Decimal] = {}

    def note(self, event: Event) -> None:
        """Take one event in."""
        self._rows.put("now", doing(event))
        match event:
            case BidderSeated(bidder=bidder):
                self._rows.put("now", {bidder: self._rows.of("now", bidder)})
            case SessionOpened(bidders=bidders, runs=runs, assets=assets):
                self._runs, self._assets, self._state = runs, assets, event.rules
                self._rows.seat(bidders)
                self._rows.fill("now", "")
            case RunOpened(item=item):
                self._headline, self._state, self._price = f"{item.capitalize()} of {self._runs}", "", ""
                self._begin("in")
            case ValueDrawn(bidder=bidder, value=value):
                self._rows.put("value", {bidder: dollars(value)})
            case RunSettled():
                self._settle(event)
            case RunClosed():
                self._close(event)
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
        """Forget what was of a run that is over."""
        self._rows.fill("now", now)
        for column in OF_A_RUN:
            self._rows.clear(column)

    def _settle(self, event: RunSettled) -> None:
        """Tell what a run brought one player."""
        bidder, earned = event.bidder, self._earned.get(event.bidder, Decimal(0)) + event.assets - self._assets
        self._earned[bidder] = earned
        self._rows.put("now", {bidder: "won" if event.won else "did not win"})
        self._rows.put("bid", {bidder: self._did(event.action)})
        self._rows.put("assets after it", {bidder: dollars(event.assets)})
        self._rows.put("earned so far", {bidder: dollars(earned)})

    def _close(self, event: RunClosed) -> None:
        """Tell what is shown of a run, which may be nothing."""
        self._state = event.words
        self._won.update(event.winners)
        self._rows.put("now", {name: "won" if name in event.winners else "did not win" for name in event.actions})
        self._rows.put("bid", {name: self._did(action) for name, action in event.actions.items()})
        self._rows.put("value", {name: dollars(value) for name, value in getattr(event, "values", {}).items()})
        self._rows.put("runs won so far", {name: str(count) for name, count in self._won.items()})

    def _did(self, action: Claim | None) -> str:
        return "nothing" if action is None else self._spell(action)

    def shown(self) -> Shown:
        """Give the run and the players."""
        return self._rows.shown(self._headline, self._state)
