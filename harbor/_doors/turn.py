"""A turn as JSON: what an agent of any make is asked, and all that its seat has seen. docs/protocol.md describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from harbor._core.asks import Ask
from harbor._core.events import Event
from harbor._core.log_lines import event_json
from harbor._core.spaces import Space
from harbor._doors.given import answer_schema
from harbor._house.auctioneer import call, told_to

PROTOCOL = 1
"""The version of the protocol: it changes when an agent that was written for the one before could break."""
_SPACE: TypeAdapter[Space] = TypeAdapter(Space)


class Turn(NamedTuple):
    """One turn of one seat: its number, the ask, and the turn as one line of JSON."""

    number: int
    ask: Ask
    line: str

    def as_json(self) -> dict[str, Any]:
        """Give it as plain values of its own, which the agent may change."""
        told: dict[str, Any] = json.loads(self.line)
        return told


class SeatTurns:
    """Writes the turns of one seat.

    Args:
        game: the name of the game.
        seat: tells this seat from all others, in all runs; the same when a run is resumed.
    """

    def __init__(self, game: str, seat: str) -> None:
        self._game, self._seat = game, seat
        self._events: list[str] = []
        self._said: list[str] = []
        self._read = 0

    def of(self, ask: Ask, seen: Sequence[Event]) -> Turn:
        """Write a turn.

        Args:
            ask: what its bidder is asked.
            seen: all that the bidder has seen.
        """
        news = seen[self._read :]
        self._read = len(seen)
        self._events.extend(event_json(event) for event in news)
        sentences = [sentence for event in news for sentence in told_to(ask.bidder, event)]
        head = {
            "harbor": PROTOCOL,
            "seat": self._seat,
            "turn": len(seen),
            "game": self._game,
            "bidder": ask.bidder,
            "item": ask.item,
            "round": ask.round,
            "attempt": ask.attempt,
            "refusal": ask.refusal,
            "note": ask.note,
            "space": _SPACE.dump_python(ask.space, mode="json"),
            "answer": _schema(ask.space.reply),
            "words": " ".join([*sentences, call(ask)]),
            "so_far": " ".join(self._said),
            "new": len(news),
        }
        self._said.extend(sentences)
        line = f'{json.dumps(head, separators=(",", ":"))[:-1]},"seen":[{",".join(self._events)}]}}'
        return Turn(len(seen), ask, line)


@lru_cache(maxsize=256)
def _schema(reply: type[Any]) -> dict[str, Any]:
    return answer_schema(reply)
