"""What a session shows at a moment: the run and its price, who acts, and what its viewer knows of values and assets."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from harbor._core.event_texts import number
from harbor._core.events import BiddersAsked, BidderSeated, Event, Paused, PublicEvent, SaleClosed
from harbor._core.money import Claim, dollars
from harbor._games.board import Shown, doing
from harbor._games.sessions.private_values import ValueDrawn
from harbor._games.sessions.session import RunClosed, RunOpened, RunSettled, SessionOpened


class SessionBoard:
    """A session as its viewer sees it: what it does not know stays empty.

    Args:
        in_dollars: whether what is done in a run is money.
    """

    def __init__(self, in_dollars: bool = True) -> None:
        self._spell = dollars if in_dollars else number
        self._runs = 0
        self._headline = self._state = self._price = ""
        self._now: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._last: dict[str, str] = {}
        self._won: Counter[str] = Counter()
        self._assets = Decimal(0)
        self._left: dict[str, Decimal] = {}
        self._earned: dict[str, Decimal] = {}

    def note(self, event: Event) -> None:
        """Take one event in."""
        doing(self._now, event)
        match event:
            case BidderSeated(bidder=bidder):
                self._now.setdefault(bidder, "")
            case SessionOpened(bidders=bidders, runs=runs, assets=assets):
                self._runs, self._now, self._assets = runs, dict.fromkeys(bidders, ""), assets
                self._state = event.rules
            case RunOpened(item=item):
                self._headline, self._state, self._price = f"{item.capitalize()} of {self._runs}", "", ""
                self._now, self._values = dict.fromkeys(self._now, "in"), {}
            case ValueDrawn(bidder=bidder, value=value):
                self._values[bidder] = dollars(value)
            case RunSettled(bidder=bidder, action=action, assets=assets, won=won):
                self._last[bidder] = self._did(action)
                self._left[bidder] = assets
                self._earned[bidder] = self._earned.get(bidder, Decimal(0)) + assets - self._assets
                self._now[bidder] = "won" if won else "did not win"
            case RunClosed():
                self._close(event)
            case Paused(over=False):
                self._state = "the bidders think"
            case BiddersAsked():
                self._state = self._price or "everyone acts at the same moment"
            case SaleClosed():
                self._headline, self._state = "The session is over", ""
            case PublicEvent() if event.words:  # such as a price that rises
                self._state = self._price = event.words

    def _close(self, event: RunClosed) -> None:
        """Tell what is shown of a run, which may be nothing."""
        self._state = event.words
        self._now |= {name: "won" if name in event.winners else "did not win" for name in event.actions}
        self._last |= {name: self._did(action) for name, action in event.actions.items()}
        self._values |= {name: dollars(value) for name, value in getattr(event, "values", {}).items()}
        self._won.update(event.winners)

    def _did(self, action: Claim | None) -> str:
        return "nothing" if action is None else self._spell(action)

    def shown(self) -> Shown:
        """Give the run and the players."""
        columns = {
            "bidder": {name: name for name in self._now},
            "now": self._now,
            "value": self._values,
            "last bid": self._last,
            "runs won": {name: str(count) for name, count in self._won.items()},
            "assets after it": {name: dollars(left) for name, left in self._left.items()},
            "earned so far": {name: dollars(earned) for name, earned in self._earned.items()},
        }
        told = {name: cells for name, cells in columns.items() if name in ("bidder", "now") or cells}
        rows = tuple(tuple(cells.get(name, "") for cells in told.values()) for name in self._now)
        return Shown(self._headline, self._state, tuple(told), rows)
