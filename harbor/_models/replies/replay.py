"""Replays the records of an interrupted run when it runs again: model calls, recalled memories, others' words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import fsum
from typing import Literal, Protocol

from harbor._config.models import ReplyForm
from harbor._core.basics.errors import LogError
from harbor._core.log.events import (
    NO_REQUESTS,
    Answered,
    Event,
    ModelCalled,
    PublicEvent,
    SeatFailed,
    Spent,
    ThoughtFailed,
)
from harbor._core.log.log import TURN_OPENS
from harbor._core.log.log_entries import Entry
from harbor._core.log.players import AGENT, SeatReply
from harbor._core.log.thoughts import Recalled
from harbor._models.replies.reply_folder import Message

CallOutcome = Literal["ok", "unreadable", "refused", "failed"]
CallKey = tuple[str, str, int, float]
"""Identifies a call in the log and in calls.jsonl: bidder, purpose, attempt, and start time."""
Question = tuple[str, str, int, tuple[str, ...]]
"""Identifies a call that is made anew: bidder, purpose, attempt, and the prompt without the system prompt, because the
system prompt may differ by the form of the reply."""


@dataclass(frozen=True)
class RawCall:
    """A model call word for word, one line of calls.jsonl; no bidder ever sees it.

    `address` is the address of its reply in the cache, empty if the reply is not kept. `imported` says that the reply
    came there from a file. `answer_id` is the provider's name of the answer. `message` is the whole answer if `reply`
    lacks some of it. `reasoning` holds the model's thoughts, as far as the provider shows them.
    """

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
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    finish: str = ""
    retries: int = 0
    answered_by: str = ""
    form: ReplyForm = "tool"
    address: str = ""
    answer_id: str = ""
    message: Message | None = None
    imported: bool = False
    marks: tuple[str, ...] = ()
    not_taken: tuple[str, ...] = ()
    key_env: str = ""
    fallback: str = ""
    probes: Spent = NO_REQUESTS
    lost: Spent = NO_REQUESTS
    reasoning: str = ""

    @property
    def key(self) -> CallKey:
        """The identity of this call."""
        return _call_key(self)

    @property
    def question(self) -> Question:
        """The identity that this call shares with the same call in a resumed run."""
        return question_of(self.bidder, self.purpose, self.attempt, self.prompt)

    @property
    def dollars(self) -> float | None:
        """The highest possible cost in dollars, including probes and lost requests; None if unknown."""
        parts = (self.cost_dollars, self.probes.cost_dollars, self.lost.cost_dollars)
        return None if None in parts else fsum(part for part in parts if part is not None)

    @cached_property
    def event(self) -> ModelCalled:
        """The event of this call, without its words."""
        same = {field.name: getattr(self, field.name) for field in fields(ModelCalled) if field.name != "prompt"}
        return ModelCalled(prompt=self.version, **same)


class CallBudget(Protocol):
    """Limits the cost of a run's calls. A replayed call is already paid for, so the budget is not asked about it."""

    async def admit(self) -> None:
        """Wait until a call may be made; without money for it, wait until the run is cancelled."""

    def charge(self, call: RawCall) -> None:
        """Charge an admitted call once it has ended."""


class ReplayCache:
    """Holds the recorded entries of a log and the raw calls beside it; empty for a new run.

    A turn's private events reach the log when the turn is complete, but each call is in calls.jsonl at once. So a
    failed call that is not in the log was cut short by the interruption, and is made again.

    `cut` holds the entries that were cut from the end of the log, because calls of their first turn were lost. That
    turn is played again with the recorded words of its seats. The memories of all cut turns come from the log.
    """

    def __init__(self, entries: Sequence[Entry] = (), calls: Iterable[RawCall] = (), cut: Sequence[Entry] = ()) -> None:
        turn = cut[: next((place for place, entry in enumerate(cut) if isinstance(entry.event, TURN_OPENS)), len(cut))]
        self._turns = _turns((*entries, *turn))
        self._memories = _memories((*entries, *cut))
        self._logged = _places(entries)
        known = _places((*entries, *cut))
        # A seat that failed is not asked again, so the calls of its turn must not be handed out to a later turn.
        spent = {
            _call_key(note) for turn in self._turns.values() for note in turn.notes if isinstance(note, ModelCalled)
        }
        self._calls: dict[str, list[RawCall]] = defaultdict(list)
        self._forms: dict[tuple[str, str], ReplyForm] = {}
        self._in_vain: dict[Question, tuple[Spent, Spent]] = {}
        own = (call for call in calls if call.purpose != AGENT)  # an agent makes its calls itself
        for call in sorted(own, key=lambda call: known.get(call.key, len(known))):
            if call.outcome != "failed" and call.form != "words":  # such calls show no form that the model takes
                self._forms.setdefault((call.fallback or call.model, call.bidder), call.form)
            if call.outcome == "failed" and call.key not in known:
                self._in_vain[call.question] = call.probes, call.lost  # the last includes the earlier ones
            if _call_key(call) not in spent and (call.outcome != "failed" or _call_key(call) in known):
                self._calls[call.bidder].append(call)

    def turn(self, opening: int, bidder: str) -> SeatReply | None:
        """Return a seat's reply in the turn that event `opening` opened; None if the seat has to be asked.

        A reply holds the words of an agent or a person, with the calls that an agent reported, or any seat's failure
        with its events before.
        """
        return self._turns.get((opening, bidder))

    def memory(self, bidder: str, node: str) -> Recalled | ThoughtFailed | None:
        """Return the logged result of a read from the store, once; None: read the store now.

        The log is used because other runs may have written to the store since, and a failed store may work again.
        """
        waiting = self._memories.get((bidder, node))
        return waiting.pop(0) if waiting else None

    def form(self, model: str, bidders: Iterable[str]) -> ReplyForm | None:
        """Return the form of a model's recorded answers to one of these bidders; None if there are none."""
        return next((self._forms[model, bidder] for bidder in bidders if (model, bidder) in self._forms), None)

    def call(self, bidder: str, purpose: str, attempt: int, prompts: Sequence[Sequence[str]]) -> RawCall | None:
        """Return the first recorded call of a bidder with exactly one of these prompts, once; None: make the call.

        Raises:
            LogError: the log has other calls of this bidder next, so this run differs; a new call would be wasted.
        """
        calls = self._calls[bidder]
        for call in calls:
            if (call.purpose, call.attempt) == (purpose, attempt) and call.prompt in prompts:
                calls.remove(call)
                return call
        if any(_call_key(call) in self._logged for call in calls):
            raise LogError(f"the {purpose!r} prompt of {bidder!r} is not what is recorded in calls.jsonl")
        return None

    def may_have(self, bidder: str) -> bool:
        """Say whether a bidder has recorded calls that were not yet asked for again."""
        return bool(self._calls.get(bidder))

    def in_vain(self, question: Question) -> tuple[Spent, Spent]:
        """Return, once, the probes and lost requests of a call that was cut short, for the call made in its place."""
        return self._in_vain.pop(question, (NO_REQUESTS, NO_REQUESTS))

    def left(self, bidder: str | None = None) -> list[RawCall]:
        """Return the recorded calls of one bidder (None: of all) that were not asked for again."""
        return [call for one, calls in self._calls.items() if bidder in (None, one) for call in calls]


def question_of(bidder: str, purpose: str, attempt: int, prompt: Sequence[str]) -> Question:
    """Return the identity of a call that is made anew."""
    return bidder, purpose, attempt, tuple(prompt[1:])


def _call_key(call: RawCall | ModelCalled) -> CallKey:
    """Return the identity of a call from the log or from calls.jsonl."""
    return call.bidder, call.purpose, call.attempt, call.began


def _places(entries: Iterable[Entry]) -> dict[CallKey, int]:
    """Number the calls of a log in order."""
    calls = (entry.event for entry in entries if isinstance(entry.event, ModelCalled))
    return {_call_key(call): place for place, call in enumerate(calls)}


def lost_calls(entries: Iterable[Entry], calls: Iterable[RawCall]) -> Iterator[tuple[int, ModelCalled]]:
    """Return the calls in a log that have no raw call, each with the number of the event that opened its turn.

    Calls of a failed seat are left out, because the seat is not asked again.
    """
    entries, recorded = list(entries), Counter(call.key for call in calls)
    failed, opening = {turn for turn, said in _turns(entries).items() if said.failure}, 0
    for seq, _, event in entries:
        if isinstance(event, TURN_OPENS):
            opening = seq
        elif isinstance(event, ModelCalled) and event.purpose != AGENT:
            recorded[_call_key(event)] -= 1
            if recorded[_call_key(event)] < 0 and (opening, event.bidder) not in failed:
                yield opening, event


def _memories(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Recalled | ThoughtFailed]]:
    """Collect recalled memories and failures of the store by bidder and node.

    A failed thought whose node has called a model, also later in the turn, failed because of the model. Its calls
    replay it instead: they follow it in the log if they were made side by side.
    """
    found: dict[tuple[str, str], list[Recalled | ThoughtFailed]] = defaultdict(list)
    asked = set[tuple[str, str]]()
    for turn in _by_turn(entries):
        asked |= {(event.bidder, event.purpose) for event in turn if isinstance(event, ModelCalled)}
        for event in turn:
            if isinstance(event, Recalled):
                found[event.bidder, "recall"].append(event)
            elif isinstance(event, ThoughtFailed) and (event.bidder, event.purpose) not in asked:
                found[event.bidder, event.purpose].append(event)
    return found


def _by_turn(entries: Iterable[Entry]) -> Iterator[list[Event]]:
    """Yield the events of each turn, first those before the first turn."""
    turn = list[Event]()
    for _, _, event in entries:
        if isinstance(event, TURN_OPENS):
            yield turn
            turn = []
        turn.append(event)
    yield turn


def _turns(entries: Iterable[Entry]) -> dict[tuple[int, str], SeatReply]:
    turn: dict[tuple[int, str], SeatReply] = {}
    opening, notes = 0, dict[str, list[Event]]()
    for seq, _, event in entries:
        if isinstance(event, TURN_OPENS):
            opening, notes = seq, defaultdict(list)
        elif isinstance(event, Answered):
            turn[opening, event.bidder] = SeatReply(event.words)
        elif isinstance(event, ModelCalled) and (said := turn.get((opening, event.bidder))):
            turn[opening, event.bidder] = said._replace(notes=(*said.notes, event))  # a call of an agent's own model
        elif isinstance(event, SeatFailed):
            turn[opening, event.bidder] = SeatReply("", tuple(notes.get(event.bidder, ())), event)
        elif not isinstance(event, PublicEvent) and hasattr(event, "bidder"):
            notes.setdefault(event.bidder, []).append(event)
    return turn
