"""What a clock auction shows at a moment: a session whose runs begin at the first price."""

from __future__ import annotations

from decimal import Decimal

from harbor._core.events import Event
from harbor._games.english_private.rules import EnglishPrivateOpened, PriceRaised
from harbor._games.sessions.board import SessionBoard
from harbor._games.sessions.session import RunOpened


class ClockBoard(SessionBoard):
    """A session of clock auctions as its viewer sees it."""

    def __init__(self) -> None:
        super().__init__()
        self._first = Decimal(0)

    def note(self, event: Event) -> None:
        """Take one event in."""
        super().note(event)
        match event:
            case EnglishPrivateOpened(step=step):
                self._first = step
            case RunOpened(item=item):
                self._price = PriceRaised(item, 1, self._first).words
