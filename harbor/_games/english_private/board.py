"""What a clock auction shows at a moment: a session whose runs begin at the first price."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from harbor._core.events import Event
from harbor._core.outcomes import Signal
from harbor._games.board import bids_of
from harbor._games.drawn import Mark, Picture
from harbor._games.english_private.rules import EnglishPrivateOpened, PriceRaised
from harbor._games.sessions.board import OF_AUCTIONS, SessionBoard
from harbor._games.sessions.session import RunOpened


class ClockBoard(SessionBoard):
    """A session of clock auctions as its viewer sees it."""

    def __init__(self) -> None:
        super().__init__(theory=lambda opened, value: min(value, opened.assets))  # up to a step; see the rules
        self.pictures = (Picture("bids", "Price and bids", x="round", y="price", of_part=True), *OF_AUCTIONS)
        self._first = self._called = Decimal(0)

    def note(self, event: Event) -> None:
        """Take one event in."""
        super().note(event)
        match event:
            case EnglishPrivateOpened(step=step):
                self._first = step
            case PriceRaised(price=price):
                self._called = price
            case RunOpened(item=item):
                self._called = self._first
                self._price = PriceRaised(item, 1, self._first).words

    def marks(self, event: Event) -> Iterator[Mark]:
        """Give the price that rises, who stays in and who leaves, and what came of the run."""
        yield from super().marks(event)
        yield from bids_of(event, self._called)
        match event:
            case Signal(bidder=bidder, values=values):
                [value] = values.values()
                yield Mark("bids", bidder, "worth", "line", value)
            case RunOpened():
                yield Mark("bids", "price", "price", "step", self._called, 1)
            case PriceRaised(round=round, price=price):
                yield Mark("bids", "price", "price", "step", price, round)
