"""Through a door one turn goes out as JSON and one answer comes back, in words or as the turn's schema asks.

docs/protocol.md describes both. A bidder of any make answers through its door.
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
"""An answer of more bytes is not read."""
MOST_CALLS = 1_000
"""Of how many calls of models one answer may tell."""
LONGEST_MODEL = 200
"""How many characters the name of a model may have."""
MOST_TOKENS = 10**7
"""How many tokens one call may have read, and how many written: ten times what any model takes."""
MOST_TOKENS_IN_ALL = 10**8
"""Of how many tokens one answer may tell in all its calls."""
SCHEMA = 'the schema under "answer" in the turn'


class Usage(BaseModel):
    """A call of a model that an agent tells of, so that it is counted: its model as Harbor names it, and its tokens."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model: str = Field("", max_length=LONGEST_MODEL)
    input_tokens: int = Field(0, ge=0, le=MOST_TOKENS)
    output_tokens: int = Field(0, ge=0, le=MOST_TOKENS)


def bounded(calls: Sequence[Usage]) -> tuple[Usage, ...]:
    """Give the calls that one answer tells of.

    Raises:
        ValueError: there are too many, or they have too many tokens.
    """
    if len(calls) > MOST_CALLS:
        raise ValueError(f"it tells of more than {MOST_CALLS:,} model calls in one answer")
    if sum(call.input_tokens + call.output_tokens for call in calls) > MOST_TOKENS_IN_ALL:
        raise ValueError(f"it tells of more than {MOST_TOKENS_IN_ALL:,} tokens in one answer")
    return tuple(calls)


class _Beside(BaseModel):
    """What may stand in an answer of any space."""

    words: str | None = None
    usage: Annotated[tuple[Usage, ...], AfterValidator(bounded)] = ()


class Given(NamedTuple):
    """What an agent answered, and the calls of models that it tells of."""

    answer: Answer | str
    usage: tuple[Usage, ...] = ()


def answer_schema(reply: type[Decision]) -> dict[str, Any]:
    """Give the JSON schema of an answer: what a model replies to this ask, or `words`."""
    return {"anyOf": [without_reasons(reply).model_json_schema(), Words.model_json_schema()]}


class Words(BaseModel):
    """An answer in words, read as those of any bidder."""

    words: str


def answer_in(given: object, ask: Ask) -> Given:
    """Read what an agent gave back: words, or an object of JSON, also as text and as a Pydantic model.

    What names no action is unreadable, and why.
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
    """Read text without its thoughts: the last object of JSON in it that answers, as models write it, or words."""
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
    """Give words as they are; the answer in them where they are too long to be passed on."""
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
    """Read one object of JSON from a stranger, strictly, so that it means the same to everybody.

    Raises:
        ValueError: it is anything else; names twice, NaN, and bytes that are no UTF-8 are refused too.
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
    """Give the number of the turn that an answer names; the current one if it names none.

    Raises:
        ValueError: it names no turn, or one that was not asked yet.
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
    """Say in one line what is wrong first, and where; `whole` is what that is called if it is all of it."""
    problem = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"] if not str(part).startswith(TAG)) or whole
    return scrub(f"{where}: {problem['msg']}" if where else problem["msg"])[:300]


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


class Door(ABC):
    """A transport to one agent in one seat. It may raise anything and take for ever: the seat bears that."""

    @abstractmethod
    async def ask(self, turn: Turn) -> Given:
        """Send a turn, and give the answer to it; late answers to earlier turns are dropped."""

    @abstractmethod
    async def close(self) -> None:
        """End it: nothing that it started goes on. It may never have been asked."""


class DoorFailed(Exception):
    """An agent could not be asked, or gave no answer: what happened and what mends it, without keys."""


class DoorBidder:
    """A player that answers through a door."""

    def __init__(self, door: Door, turns: SeatTurns) -> None:
        self.door = door
        self._turns = turns
        self._usage: list[Usage] = []

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer an ask; a pause needs no thought."""
        if isinstance(ask, Pause):
            return None
        given = await self.door.ask(self._turns.of(ask, seen))
        self._usage.extend(given.usage)
        return given.answer

    def take_usage(self) -> tuple[Usage, ...]:
        """Give the calls of models that it has told of since the last time."""
        usage, self._usage = self._usage, []
        return tuple(usage)
