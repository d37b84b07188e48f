"""What a bidder concludes while it thinks, kept until the auctioneer writes it to the log."""

from __future__ import annotations

from harbor._core.events import Event, EventSink


class EventBuffer:
    """The notes of one turn, in the order in which the thoughts behind them began.

    Thoughts run side by side and end in any order; their beginnings do not depend on how fast a model is, so equal
    seeds give equal logs.
    """

    def __init__(self) -> None:
        self._thoughts: list[list[Event]] = []

    def begin(self) -> EventSink:
        """Open a place for the notes of a thought that begins now."""
        thought: list[Event] = []
        self._thoughts.append(thought)
        return thought.append

    def take(self) -> tuple[Event, ...]:
        """Hand over the notes and start afresh."""
        thoughts, self._thoughts = self._thoughts, []
        return tuple(event for thought in thoughts for event in thought)
