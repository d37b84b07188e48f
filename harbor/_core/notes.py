"""Keeps what a bidder concludes while it thinks, until the auctioneer writes it to the log."""

from __future__ import annotations

from harbor._core.events import Event, EventSink


class EventBuffer:
    """The events that one bidder notes in one turn, in the order in which its thoughts began.

    Thoughts run in parallel and end in any order. The order in which they begin does not depend on how fast a model
    is, so equal seeds give equal logs.
    """

    def __init__(self) -> None:
        self._thoughts: list[list[Event]] = []

    def begin(self) -> EventSink:
        """Begin a thought; give the sink for its events."""
        thought: list[Event] = []
        self._thoughts.append(thought)
        return thought.append

    def take(self) -> tuple[Event, ...]:
        """Give all noted events and empty the buffer."""
        thoughts, self._thoughts = self._thoughts, []
        return tuple(event for thought in thoughts for event in thought)
