"""What an interrupted run has left, handed out again as the run is conducted anew: calls of models, words of others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from harbor._core.errors import LogError
from harbor._core.events import (
    Answered,
    BiddersAsked,
    Event,
    ModelCalled,
    Paused,
    PublicEvent,
    SeatFailed,
    ThoughtFailed,
)
from harbor._core.log_lines import Entry
from harbor._core.players import SeatReply
from harbor._core.thoughts import Recalled

CallOutcome = Literal["ok", "unreadable", "failed"]


@dataclass(frozen=True)
class RawCall:
    """A model call word for word, a line of calls.jsonl; private, never shown to a bidder."""

    bidder: str
    purpose: str
    model: str
    version: str
    attempt: int
    outcome: CallOutcome
    input_tokens: int
    output_tokens: int
    cost_dollars: float | None
    cached: bool
    began: float
    seconds: float
    prompt: list[str]
    reply: str
    error: str

    @property
    def event(self) -> ModelCalled:
        """What the log says of it."""
        return ModelCalled(
            bidder=self.bidder,
            purpose=self.purpose,
            model=self.model,
            prompt=self.version,
            attempt=self.attempt,
            outcome=self.outcome,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_dollars=self.cost_dollars,
            cached=self.cached,
            began=self.began,
            seconds=self.seconds,
        )


class CallBudget(Protocol):
    """Pays for the calls of a run; one that is replayed is paid for already."""

    async def admit(self) -> None:
        """Wait until a call may be made: for ever, if there is no money for it."""

    def charge(self, call: RawCall) -> None:
        """Hear how a call ended that was admitted."""


class ReplayCache:
    """The entries of a log and the raw calls beside it; empty for a run that begins.

    A call that failed is replayed only if the log has it: else it was cut by the interruption, and is asked anew.
    """

    def __init__(self, entries: Sequence[Entry] = (), calls: Iterable[RawCall] = ()) -> None:
        self._turns = _turns(entries)
        self._memories = _memories(entries)
        self._logged = {_call_key(entry.event) for entry in entries if isinstance(entry.event, ModelCalled)}
        spent = {
            _call_key(note) for turn in self._turns.values() for note in turn.notes if isinstance(note, ModelCalled)
        }
        self._calls: dict[str, list[RawCall]] = defaultdict(list)
        for call in calls:
            if _call_key(call) not in spent and (call.outcome != "failed" or _call_key(call) in self._logged):
                self._calls[call.bidder].append(call)

    def turn(self, opening: int, bidder: str) -> SeatReply | None:
        """Give what a seat said in the turn that the event of this number opened, if it can't be asked again.

        That is what an agent or a person said, and any seat's failure with what was noted before it.
        """
        return self._turns.get((opening, bidder))

    def memory(self, bidder: str, node: str) -> Recalled | ThoughtFailed | None:
        """Hand out what the log says came of a look into the store, once; None: look now.

        The store may hold something else by now, or be there again.
        """
        waiting = self._memories.get((bidder, node))
        return waiting.pop(0) if waiting else None

    def call(self, bidder: str, purpose: str, attempt: int, prompt: Sequence[str]) -> RawCall | None:
        """Hand out the first call of a bidder that asked exactly this, once; None: it is to be made.

        Raises:
            LogError: the log goes on with other calls of this bidder; making this one would pay for nothing.
        """
        calls = self._calls[bidder]
        for call in calls:
            if (call.purpose, call.attempt, call.prompt) == (purpose, attempt, prompt):
                calls.remove(call)
                return call
        if any(_call_key(call) in self._logged for call in calls):
            raise LogError(f"what {bidder!r} asks its model as {purpose!r} is not what is recorded in calls.jsonl")
        return None


def _call_key(call: RawCall | ModelCalled) -> tuple[str, str, int, float]:
    """Tell a call from others, in the log and in calls.jsonl alike."""
    return call.bidder, call.purpose, call.attempt, call.began


def _memories(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Recalled | ThoughtFailed]]:
    """Collect what was recalled, and what failed by the store and not by a model, by bidder and node."""
    found: dict[tuple[str, str], list[Recalled | ThoughtFailed]] = defaultdict(list)
    asked = set[tuple[str, str]]()
    for _, _, event in entries:
        if isinstance(event, ModelCalled):
            asked.add((event.bidder, event.purpose))
        elif isinstance(event, Recalled):
            found[event.bidder, "recall"].append(event)
        elif isinstance(event, ThoughtFailed) and (event.bidder, event.purpose) not in asked:
            found[event.bidder, event.purpose].append(event)
    return found


def _turns(entries: Iterable[Entry]) -> dict[tuple[int, str], SeatReply]:
    turn: dict[tuple[int, str], SeatReply] = {}
    opening, notes = 0, dict[str, list[Event]]()
    for seq, _, event in entries:
        if isinstance(event, BiddersAsked | Paused):
            opening, notes = seq, defaultdict(list)
        elif isinstance(event, Answered):
            turn[opening, event.bidder] = SeatReply(event.words)
        elif isinstance(event, SeatFailed):
            turn[opening, event.bidder] = SeatReply("", tuple(notes.get(event.bidder, ())), event)
        elif not isinstance(event, PublicEvent) and hasattr(event, "bidder"):
            notes.setdefault(event.bidder, []).append(event)
    return turn
