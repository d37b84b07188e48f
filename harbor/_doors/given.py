"""What comes back through a door: words, or the JSON that the schema of the turn asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from harbor._core.asks import Answer, Ask, Unreadable
from harbor._core.decisions import Decision, WordsReply, without_reasons
from harbor._core.parsing import LONGEST, scrub
from harbor._core.said_objects import Unfit, last_fitting, objects_in, unwrapped
from harbor._core.settings import TAG
from harbor._core.thinking_tags import without_thinking

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
