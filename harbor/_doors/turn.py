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

PROTOCOL = 3
"""The version of the protocol: it changes when an agent that was written for the one before could break."""
_SPACE: TypeAdapter[Space] = TypeAdapter(Space)


class Told(NamedTuple):
    """An event as a line of JSON, and as plain values, which are copied at little cost if none holds others."""

    line: str
    values: dict[str, Any]
    is_flat: bool

    @classmethod
    def of(cls, line: str) -> Told:
        """Read a line."""
        values = json.loads(line)
        return cls(line, values, not any(isinstance(value, dict | list) for value in values.values()))

    def copied(self) -> dict[str, Any]:
        """Give its values, to be changed by whoever gets them."""
        copied: dict[str, Any] = self.values.copy() if self.is_flat else json.loads(self.line)
        return copied


class Turn(NamedTuple):
    """One turn of one seat: its number, the ask, all that is told beside what was seen as JSON, and what was seen."""

    number: int
    ask: Ask
    head: str
    seen: tuple[Told, ...]

    @property
    def line(self) -> str:
        """It as one line of JSON."""
        return f'{self.head[:-1]},"seen":[{",".join(event.line for event in self.seen)}]}}'

    def as_json(self) -> dict[str, Any]:
        """Give it as plain values of its own, which the agent may change."""
        return {**json.loads(self.head), "seen": [event.copied() for event in self.seen]}


class SeatTurns:
    """Writes the turns of one seat.

    Args:
        game: the name of the game.
        seat: tells this seat from all others, in all runs; the same when a run is resumed.
    """

    def __init__(self, game: str, seat: str) -> None:
        self._game, self._seat = game, seat
        self._seen: list[Told] = []
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
        self._seen.extend(Told.of(event_json(event)) for event in news)
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
        return Turn(len(seen), ask, json.dumps(head, separators=(",", ":")), tuple(self._seen))


@lru_cache(maxsize=256)
def _schema(reply: type[Any]) -> dict[str, Any]:
    return answer_schema(reply)
