"""What bidders thought, as marks, in any game: limits among the bids, beliefs and profiles beside what was so."""

from __future__ import annotations

from collections.abc import Iterator

from harbor._core.events import Event
from harbor._core.thoughts import LimitSet
from harbor._games.drawn import Mark, Picture

PICTURES: tuple[Picture, ...] = ()
BIDS = "bids"
"""The picture of a game in which limits are drawn, if it has one of this name."""


class ThoughtMarks:
    """The marks of thoughts, as a fold over what a viewer may see."""

    def marks(self, event: Event) -> Iterator[Mark]:
        """Take an event in, and give the marks that it adds."""
        if isinstance(event, LimitSet):
            yield Mark(BIDS, event.bidder, "limit", "line", event.limit)
