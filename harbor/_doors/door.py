"""Through a door one turn goes out as JSON and one answer comes back, in words or in the turn's schema.

docs/protocol.md describes both. A bidder from any framework answers through its door.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from harbor._core.asking.answers import Unfit, last_fitting, objects_in, unwrapped, without_thinking
from harbor._core.asking.asks import Answer, Ask, Pause, Space, Unreadable
from harbor._core.asking.decisions import Decision, WordsReply, without_reasons
from harbor._core.basics.actions import LONGEST, scrub
from harbor._core.log.events import Event
from harbor._core.log.log_entries import event_json
from harbor._core.settings import TAG
from harbor._house.auctioneer import call, told_to

LONGEST_ANSWER = 65_536
"""The greatest number of bytes of an answer that Harbor reads."""
MOST_CALLS = 1_000
"""The greatest number of model calls that one answer may report."""
LONGEST_MODEL = 200
"""The greatest number of characters in the name of a model."""
MOST_TOKENS = 10**7
"""The greatest number of input tokens, and of output tokens, in one call: ten times the limit of any model."""
MOST_TOKENS_IN_ALL = 10**8
"""The greatest number of tokens, input plus output, that one answer may report over all its calls."""
SCHEMA = 'the schema under "answer" in the turn'


class Usage(BaseModel):
    """A model call that an agent reports, so that Harbor counts it: the model by Harbor's name, and the tokens."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model: str = Field("", max_length=LONGEST_MODEL)
    input_tokens: int = Field(0, ge=0, le=MOST_TOKENS)
    output_tokens: int = Field(0, ge=0, le=MOST_TOKENS)


def bounded(calls: Sequence[Usage]) -> tuple[Usage, ...]:
    """Return the calls that one answer reports, as a tuple.

    Raises:
        ValueError: there are too many calls or too many tokens.
    """
    if len(calls) > MOST_CALLS:
        raise ValueError(f"it tells of more than {MOST_CALLS:,} model calls in one answer")
    if sum(call.input_tokens + call.output_tokens for call in calls) > MOST_TOKENS_IN_ALL:
        raise ValueError(f"it tells of more than {MOST_TOKENS_IN_ALL:,} tokens in one answer")
    return tuple(calls)


class _Beside(BaseModel):
    """Optional fields beside an answer in any action space."""

    words: str | None = None
    usage: Annotated[tuple[Usage, ...], AfterValidator(bounded)] = ()


class Given(NamedTuple):
    """An agent's answer, and the model calls that the agent reports."""

    answer: Answer | str
    usage: tuple[Usage, ...] = ()


def answer_schema(reply: type[Decision]) -> dict[str, Any]:
    """Return the JSON schema of an answer: a model's reply to this ask, or `words`."""
    return {"anyOf": [without_reasons(reply).model_json_schema(), Words.model_json_schema()]}


class Words(BaseModel):
    """An answer in words, read as those of any bidder."""

    words: str


def answer_in(given: object, ask: Ask) -> Given:
    """Read an agent's answer: words or a JSON object; the object may also be text or a Pydantic model.

    An answer without an action becomes `Unreadable` with the reason.
    """
    if isinstance(given, bytes | bytearray):
        given = bytes(given).decode(errors="replace")
    if isinstance(given, str):
        return _in_text(given, ask)
    if isinstance(given, Answer):
        return Given(given)
    if isinstance(given, BaseModel):
        given = given.model_dump(mode="json")
    if not isinstance(given, Mapping):
        what = "nothing (None)" if given is None else f"a value of type {type(given).__name__}"
        return Given(Unreadable(f"{what} is no answer; give words, or a dict as {SCHEMA} describes it"))
    try:
        beside = _Beside.model_validate(dict(given))
    except ValidationError as error:
        return Given(Unreadable(first_fault(error)))
    return Given(_answer(given, beside, ask), beside.usage)


def _in_text(text: str, ask: Ask) -> Given:
    """Read text without its thinking: the last JSON object in the text that fits, or else words."""
    said = without_thinking(text).said
    found = objects_in(said) if ask.space.reply is not WordsReply or said.strip()[:1] in ("{", "`") else []
    if not found:
        return Given(_short(said, ask))

    def take(values: Mapping[str, Any]) -> Given:
        given = answer_in(values, ask)
        if isinstance(given.answer, Unreadable):
            raise Unfit(given.answer.reason)
        return given

    chosen = last_fitting(found, take, frozenset(ask.space.reply.model_fields) - {"reasons"})
    if chosen.meant is None:
        return Given(Unreadable(chosen.complaint))
    after = ask.space.heard(said[chosen.end :], ask.item).answer
    if ask.space.reply is not WordsReply and not isinstance(after, Unreadable) and after != chosen.meant.answer:
        return Given(Unreadable("its JSON object says one thing and the words after it another"))
    return chosen.meant


def _short(words: str, ask: Ask) -> Answer | str:
    """Return words unchanged. Return the answer in them instead if they are too long to pass on."""
    if len(words) <= LONGEST or ask.space.reply is WordsReply:
        return words
    answer = ask.space.heard(words, ask.item).answer
    return words if isinstance(answer, Unreadable) else answer


def _answer(given: Mapping[Any, Any], beside: _Beside, ask: Ask) -> Answer | str:
    if beside.words is not None and "words" not in ask.space.reply.model_fields:
        return _short(without_thinking(beside.words).said, ask)
    shape = without_reasons(ask.space.reply)
    try:
        decided = shape.model_validate(dict(unwrapped(given, frozenset(shape.model_fields), ask.space.reply.__name__)))
    except ValidationError as error:
        return Unreadable(f"{first_fault(error)}; answer as {SCHEMA} describes")
    missing = decided.missing()
    return Unreadable(missing) if missing else decided.taken()


def object_of(text: str | bytes) -> dict[str, Any]:
    """Read one JSON object from outside strictly, so that every reader understands the same.

    Raises:
        ValueError: the text is no JSON object, holds a name twice or NaN, or is not UTF-8.
    """
    try:
        told = json.loads(
            text if isinstance(text, str) else text.decode(), parse_constant=_refuse, object_pairs_hook=_each_once
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(told, dict):
        raise ValueError("it is JSON, but no object")
    return told


def turn_named(told: Mapping[str, Any], current: int) -> int:
    """Return the turn number in an answer, or `current` if the answer has none.

    Raises:
        ValueError: the number is no number, or later than `current`.
    """
    number = told.get("turn", current)
    if type(number) is not int:
        raise ValueError(f"its turn is {str(number)[:10]!r}, and has to be a number: {current}")
    if number > current:
        raise ValueError(f"it answers the turn {str(number)[:30]!r}, and this is turn {current}")
    return number


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(told := dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return told


def first_fault(error: ValidationError, whole: str = "") -> str:
    """Describe the first error and its place in one line. `whole` names the place if the whole value is wrong."""
    problem = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"] if not str(part).startswith(TAG)) or whole
    return scrub(f"{where}: {problem['msg']}" if where else problem["msg"])[:300]


PROTOCOL = 3
"""Protocol version. It changes when an agent for the previous version could break."""
_SPACE: TypeAdapter[Space] = TypeAdapter(Space)


class Told(NamedTuple):
    """An event as a JSON line and as plain values.

    `is_flat`: none of the values is a dict or list, so a shallow copy is enough.
    """

    line: str
    values: dict[str, Any]
    is_flat: bool

    @classmethod
    def of(cls, line: str) -> Told:
        """Parse a JSON line."""
        values = json.loads(line)
        return cls(line, values, not any(isinstance(value, dict | list) for value in values.values()))

    def copied(self) -> dict[str, Any]:
        """Return a copy of the values, which the caller may change."""
        copied: dict[str, Any] = self.values.copy() if self.is_flat else json.loads(self.line)
        return copied


class Turn(NamedTuple):
    """One turn of one seat: its number, the ask, the JSON of all fields except `seen`, and the seen events."""

    number: int
    ask: Ask
    head: str
    seen: tuple[Told, ...]

    @property
    def line(self) -> str:
        """The turn as one line of JSON."""
        return f'{self.head[:-1]},"seen":[{",".join(event.line for event in self.seen)}]}}'

    def as_json(self) -> dict[str, Any]:
        """Return the turn as new plain values, which the agent may change."""
        return {**json.loads(self.head), "seen": [event.copied() for event in self.seen]}


class SeatTurns:
    """Writes the turns of one seat.

    Args:
        game: the name of the game.
        seat: ID of this seat, unique over all runs and kept when a run is resumed.
    """

    def __init__(self, game: str, seat: str) -> None:
        self._game, self._seat = game, seat
        self._seen: list[Told] = []
        self._said: list[str] = []
        self._read = 0

    def of(self, ask: Ask, seen: Sequence[Event]) -> Turn:
        """Write a turn.

        Args:
            ask: the question to the bidder.
            seen: all events that the bidder has seen.
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


class Door(ABC):
    """A transport to one agent in one seat. It may raise any error or never return: the seat handles both."""

    @abstractmethod
    async def ask(self, turn: Turn) -> Given:
        """Send a turn and return its answer. Drop late answers to earlier turns."""

    @abstractmethod
    async def close(self) -> None:
        """End the agent and all that it started. It may never have been asked."""


class DoorFailed(Exception):
    """An agent could not be asked, or did not answer. The message says why and how to repair it, without keys."""


class DoorBidder:
    """A player that answers through a door."""

    def __init__(self, door: Door, turns: SeatTurns) -> None:
        self.door = door
        self._turns = turns
        self._usage: list[Usage] = []

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer an ask. Return None for a pause, which needs no thought."""
        if isinstance(ask, Pause):
            return None
        given = await self.door.ask(self._turns.of(ask, seen))
        self._usage.extend(given.usage)
        return given.answer

    def take_usage(self) -> tuple[Usage, ...]:
        """Return the model calls that the agent reported since the last call of this method."""
        usage, self._usage = self._usage, []
        return tuple(usage)
