"""What a live board shows beside the board itself: how the price has come about, and who thinks for how long."""

from __future__ import annotations

from decimal import Decimal

from harbor._core.acts import Acted
from harbor._core.events import BiddersAsked, BidderWithdrew, Event, LotOpened, Paused, PrivateEvent, PublicEvent
from harbor._core.money import dollars

BARS = "▁▂▃▄▅▆▇█"
MOST_PRICES = 40
"""How many prices of an item are drawn: the last ones."""
EVERYBODY = "the bidders"


class Ticker:
    """The prices of the item and who thinks since when, as a fold over the log."""

    def __init__(self) -> None:
        self._prices: list[Decimal] = []
        self._since: dict[str, float] = {}

    def note(self, event: Event, now: float) -> None:
        """Take in one event, which happened at a moment of a clock in seconds."""
        match event:
            case LotOpened(called=price):
                self._prices, self._since = [] if price is None else [price], {}
            case PublicEvent(called=Decimal() as price):
                self._prices, self._since = [*self._prices, price], {}
            case BiddersAsked(bidders=bidders):
                self._since = dict.fromkeys(bidders, now)
            case Paused():
                self._since = {EVERYBODY: now}
            case PrivateEvent(bidder=bidder) | Acted(bidder=bidder) | BidderWithdrew(bidder=bidder):
                self._since = {name: since for name, since in self._since.items() if name != bidder}
            case PublicEvent():
                self._since = {}

    def prices(self) -> str:
        """Draw the prices of the item as a line of bars, lowest to highest; empty before the second."""
        shown = self._prices[-MOST_PRICES:]
        if len(shown) < 2:
            return ""
        low, high = min(shown), max(shown)
        steps = [int((price - low) / ((high - low) or 1) * (len(BARS) - 1)) for price in shown]
        return f"price {dollars(shown[0])} {''.join(BARS[step] for step in steps)} {dollars(shown[-1])}"

    def thinking(self, now: float) -> str:
        """Say who thinks for how many whole seconds; nobody who has only begun."""
        waited = {name: int(now - since) for name, since in self._since.items()}
        told = ", ".join(f"{name} {seconds} s" for name, seconds in waited.items() if seconds)
        return f"thinking: {told}" if told else ""
