"""Which calls and private events belong together: a decision of a bidder, as a fold over the log."""

from __future__ import annotations

from dataclasses import dataclass, field

from harbor._core.acts import Tried
from harbor._core.event_texts import name_of_kind
from harbor._core.events import (
    Answered,
    BiddersAsked,
    Event,
    LotClosed,
    ModelCalled,
    Paused,
    PrivateEvent,
    PublicEvent,
    SeatFailed,
    ThoughtFailed,
)
from harbor._core.log import TURN_OPENS
from harbor._core.players import AGENT
from harbor._core.thoughts import Decided, Expected, Predicted, Recalled, Remembered, Stated
from harbor._games.game import Game
from harbor._view.beside import Facts, beside
from harbor._view.entry_words import thought_of
from harbor._view.shapes import Beside

_NAMES: dict[type[Event], str] = {Answered: "answer", Recalled: "recall", Remembered: "remember"}
FAILED = (Tried, ThoughtFailed, SeatFailed)
THOUGHTS = "harbor._core.thoughts"
FORCED = "cannot afford"
"""Why a bidder is out that was not asked: nobody decided it."""


@dataclass(slots=True)
class Decision:
    """What a bidder thought and decided at one moment; `ended_by` is the event that its calls led to."""

    bidder: str
    what: str
    item: str
    round: int
    calls: list[tuple[ModelCalled, int | None]] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    ended_by: type[Event] | None = None


class Decisions:
    """The decisions in a log.

    Calls and what they led to stand together in a turn: a bidder's thoughts are written down one after another.

    Attributes:
        made: all decisions so far; a decision's number is its place.
        changed: the numbers of those that have changed since this was emptied.
    """

    def __init__(self, game: Game | None) -> None:
        self.made: list[Decision] = []
        self.changed: dict[int, None] = {}
        self._game, self._facts = game, Facts(game)
        self._open: dict[str, int] = {}
        self._item, self._round = "", 0
        self._awaited: list[tuple[int, Predicted | Expected]] = []

    def note(self, event: Event, call: int | None = None) -> int | None:
        """Take one event in, and where its call is recorded; give the number of the decision it belongs to."""
        number = None
        if isinstance(event, TURN_OPENS):
            self._open.clear()
            self._item, self._round = _about(event)
        elif isinstance(event, ModelCalled):
            number = self._called(event, call)
        elif isinstance(event, FAILED):
            number = self._open.get(event.bidder)
        elif isinstance(event, PrivateEvent) and (type(event).__module__ == THOUGHTS or isinstance(event, Answered)):
            number = self._ended(event)
        elif isinstance(event, PublicEvent) and getattr(event, "reason", "") != FORCED:
            # what a bidder was seen to do leads to what it thought in that turn
            number = self._open.get(getattr(event, "bidder", ""))
        self._facts.note(event)
        if number is not None:
            self.changed[number] = None
        if isinstance(event, LotClosed):
            self._settle(event)
        return number

    def _called(self, event: ModelCalled, call: int | None) -> int:
        what, own = thought_of(event.purpose, self._game), event.purpose == AGENT
        number = self._open.get(event.bidder)
        known = self.made[number] if number is not None else None
        if number is None or known is None or not (own or (known.ended_by is None and known.what == what)):
            number = self._begin(event.bidder, what)
        self.made[number].calls.append((event, call))
        return number

    def _ended(self, event: PrivateEvent) -> int:
        number = self._open.get(event.bidder)
        goes_with = (Decided,) if isinstance(event, Stated) else ()
        if number is None or self.made[number].ended_by not in (None, type(event), *goes_with):
            number = self._begin(event.bidder, _NAMES.get(type(event), name_of_kind(event)))
        decision = self.made[number]
        decision.ended_by = type(event)
        decision.item = getattr(event, "item", decision.item)
        decision.beside += beside(event, self._facts)
        if isinstance(event, Predicted | Expected):
            self._awaited.append((number, event))
        return number

    def _begin(self, bidder: str, what: str) -> int:
        self.made.append(Decision(bidder, what, self._item, self._round))
        self._open[bidder] = len(self.made) - 1
        return len(self.made) - 1

    def _settle(self, closed: LotClosed) -> None:
        """Set predictions beside what came, now that it is known."""
        still: list[tuple[int, Predicted | Expected]] = []
        for number, event in self._awaited:
            if isinstance(event, Predicted) and event.item != closed.item:
                still.append((number, event))
                continue
            self.made[number].beside = beside(event, self._facts)
            self.changed[number] = None
        self._awaited = still
        self._facts.begin_next()


def _about(event: BiddersAsked | Paused) -> tuple[str, int]:
    """Give the item and the round of a turn; at a pause, what has just closed."""
    return (event.item, event.round) if isinstance(event, BiddersAsked) else (", ".join(event.closed), 0)
