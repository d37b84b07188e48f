"""A shape is the JSON schema of a wanted reply; a model's message is read as a reply of that shape."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ValidationError

from harbor._config.protocol_replies import OwnReply
from harbor._core.asking.answers import (
    Chosen,
    Found,
    Mark,
    Unfit,
    last_fitting,
    objects_in,
    unwrapped,
    without_thinking,
)
from harbor._core.asking.decisions import SHAPES_KEPT, Decision, InWords, without_reasons
from harbor._core.basics.actions import printable, scrub
from harbor._models.calls.messages import ANOTHER, LONGEST_REPLY, REFUSAL, blocks_of, text_of, usage_of, written

_SHAPE = "\nReply with one JSON object of "
_ONE = "this JSON schema, and nothing else: {schema}\n"
_ONE_OF = "the JSON schema that is named at the end, and nothing else. These are the schemas: {schemas}\n"
_NAMED = "\n\nAnswer with one JSON object of the JSON schema {name}."
_CALLED = "\n\nAnswer with a call of the tool {name}."
_WANTED = re.compile("|".join(re.escape(one).replace(r"\{name\}", r"\w+") for one in (_NAMED, _CALLED)))


class Shape(NamedTuple):
    """The shape of a wanted reply.

    `offered` holds all shapes that the bidder is ever asked for, including `kind`. They are sent together, so that the
    bidder's calls begin alike and providers find that beginning in their caches. If it is empty, `kind` is sent alone.
    """

    kind: type[BaseModel]
    offered: tuple[type[BaseModel], ...] = ()

    @classmethod
    def of(cls, kind: type[BaseModel], offered: tuple[type[BaseModel], ...]) -> Shape:
        """Make a shape with the offered ones; `kind` comes last if it is not among them.

        A name is offered once, and stands for `kind` if it is that of `kind`: models choose a shape by its name.
        """
        named = {one.__name__: one for one in (*offered, kind)}
        return cls(kind, tuple(named.values()) if offered else ())

    @property
    def others(self) -> frozenset[str]:
        """The names of the shapes that are offered, but not wanted now."""
        return frozenset(kind.__name__ for kind in self.offered if kind is not self.kind)

    @property
    def schema(self) -> dict[str, Any]:
        """The schemas that are sent, as one JSON object."""
        if not self.offered:
            return schema_of(self.kind)
        return {"title": self.kind.__name__, "offered": [schema_of(kind) for kind in self.offered]}


def in_words(shape: Shape) -> tuple[str, str]:
    """Return a text with the offered shapes, and a text that names the wanted one ("" if there is only one)."""
    schemas = [json.dumps(schema_of(kind), separators=(",", ":")) for kind in shape.offered or (shape.kind,)]
    if len(schemas) == 1:
        return _SHAPE + _ONE.format(schema=schemas[0]), ""
    return _SHAPE + _ONE_OF.format(schemas=" ".join(schemas)), _NAMED.format(name=shape.kind.__name__)


def in_call(shape: Shape) -> str:
    """Return a text that names the wanted tool, because some servers ignore `tool_choice`; "" if there is only one."""
    return _CALLED.format(name=shape.kind.__name__) if shape.others else ""


@lru_cache(SHAPES_KEPT)
def schema_of(reply_type: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a reply, cached because making it takes longer than sending it. Do not change it."""
    return {"title": reply_type.__name__, **reply_type.model_json_schema()}


@lru_cache(SHAPES_KEPT)
def tool_of(reply_type: type[BaseModel]) -> dict[str, Any]:
    """Return a reply as a tool in OpenAI's format, which LangChain takes for every provider.

    It is cached, because making it is slow. Do not change it.
    """
    return convert_to_openai_tool(reply_type)


def without_shape(words: Sequence[str]) -> list[str]:
    """Return the words of a prompt without the shapes that some forms add, so that they are equal in every form."""
    return [_WANTED.sub("", text.partition(_SHAPE)[0]) for text in words]


Reply = TypeVar("Reply", bound=BaseModel)
Words = Callable[[str], BaseModel | None]
"""Reads a reply from words; None if they hold no reply."""
REFUSING = ("content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")
"""Stop reasons of OpenAI, Anthropic and Google for a model that was kept from answering."""
LONGEST_SHOWN = 80
"""Characters of a value that a complaint shows; of a refusal it shows twice as many."""
_REFUSES = re.compile(
    r"\b(?:i (?:can(?:'t|not| not)|won't|will not|must decline to|am unable to|am not able to)"
    r"|i'm (?:unable|not able|not comfortable)(?: to)?|(?:sorry|afraid),? (?:but )?(?:that )?i can(?:'t|not))"
    r"\s+(?:\w+\s+){0,2}?(?:help|assist|take|participat|comply|engag|provid|continu|fulfil|support|answer|respond|do)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading(Generic[Reply]):
    """The result of reading a message: a reply, or None and a complaint; `marks` name its oddities.

    `refused` says that the model does not want to answer, or was kept from answering.
    """

    reply: Reply | None
    complaint: str = ""
    marks: tuple[Mark, ...] = ()
    refused: bool = False


def read(message: AIMessage, reply_type: type[Reply], words: Words = lambda _: None) -> Reading[Reply]:
    """Read a reply.

    A tool call goes before text. The last of several objects with the shape is the reply. Thoughts are no answer.

    Args:
        message: the model's message.
        reply_type: the shape that was asked for; its reasons may be left out.
        words: reads a text without an object.
    """
    if len(written(message)) > LONGEST_REPLY:
        return Reading(None, f"it is longer than {LONGEST_REPLY} characters")
    text = without_thinking(text_of(message)).said
    if issubclass(reply_type, InWords):
        said = text.strip()
        if said:
            return Reading(reply_type(words=said))
        return _refused(message, said) or Reading(None, "it is empty")
    shape = without_reasons(reply_type)
    names = frozenset((*shape.model_fields, *(shape.all_keys() if issubclass(shape, OwnReply) else ())))

    def take(values: Mapping[str, Any]) -> Reply:
        try:
            reply: Reply = shape.model_validate(unwrapped(values, names, reply_type.__name__))
            return reply
        except ValidationError as error:
            raise Unfit(fault_in(error)) from error

    called = _called(message, take, names, words, reply_type.__name__)
    if called is not None:
        beside = _in_text(text, take, names, words) if text.strip() else Chosen(None)
        if isinstance(called.meant, OwnReply):
            called.meant.think(text)
        odd: tuple[Mark, ...] = ("contradicted",) if _differ(called.meant, beside.meant) else ()
        return Reading(called.meant, called.complaint, (*called.marks, *odd))
    chosen = _in_text(text, take, names, words)
    if chosen.meant is None and (refused := _refused(message, text)) is not None:
        return refused
    if isinstance(chosen.meant, OwnReply):
        chosen.meant.think(_before(text, chosen.end))
    return Reading(chosen.meant, chosen.complaint, chosen.marks)


def _called(
    message: AIMessage, take: Callable[[Mapping[str, Any]], Reply], names: frozenset[str], words: Words, wanted: str
) -> Chosen[Reply] | None:
    """Read the calls to the tool `wanted`, under any name except that of another offered tool.

    Malformed calls are read if no other call can be read. Return None if no call concerns the shape.
    """
    calls = [Found(call["args"], 0) for call in message.tool_calls]
    chosen = last_fitting(calls, take, names - {"reasons"}) if calls else None
    if chosen is not None and chosen.meant is not None:
        return chosen
    stray = [call for call in message.invalid_tool_calls if call["error"] == ANOTHER]
    if stray:
        return chosen or Chosen(None, f"it calls the tool {scrub(stray[-1]['name'] or '')!r}; call {wanted!r}")
    broken = "\n".join(scrub(call.get("args") or "") for call in message.invalid_tool_calls)
    if len(broken) <= LONGEST_REPLY and objects_in(broken):
        mended = _in_text(broken, take, names, words)
        marks = tuple(dict.fromkeys((*mended.marks, "mended"))) if mended.meant is not None else ()
        return Chosen(mended.meant, mended.complaint, marks)
    if message.invalid_tool_calls and chosen is None:
        return Chosen(None, "the arguments of its tool call are no JSON object")
    has_to_do = any(not names.isdisjoint(unwrapped(call.values, names)) for call in calls)
    return chosen if has_to_do or not text_of(message).strip() else None


def _in_text(
    text: str, take: Callable[[Mapping[str, Any]], Reply], names: frozenset[str], words: Words
) -> Chosen[Reply]:
    """Read the last object of a text, if no words after it contradict it; read the words if there is no object."""
    found = objects_in(text)
    if not found:
        said: Any = words(text)
        complaint = "it is not a JSON object" if text.strip() else "it is empty"
        return Chosen(None, complaint) if said is None else Chosen(said, "", ("words",))
    chosen = last_fitting(found, take, names - {"reasons"})
    if _differ(chosen.meant, words(text[chosen.end :])):
        return Chosen(None, "its JSON object says one thing and the words after it another")
    return chosen


def _before(text: str, end: int) -> str:
    """Return the words before a flat object that ends at `end`, without the fence around it."""
    return text[: text.rfind("{", 0, end)].rstrip().removesuffix("json").rstrip("`\n")


def _differ(one: BaseModel | None, other: BaseModel | None) -> bool:
    """Say whether two replies decide differently; reasons do not count."""
    if one is None or other is None:
        return False
    if isinstance(one, Decision) and isinstance(other, Decision):
        return one.taken() != other.taken()
    return one.model_dump(exclude={"reasons"}) != other.model_dump(exclude={"reasons"})


def _refused(message: AIMessage, text: str) -> Reading[Any] | None:
    """Return a reading of a refusal with its words; None if the message does not refuse."""
    own = " ".join(str(block.get(REFUSAL) or "") for block in blocks_of(message, REFUSAL)).strip()
    finish = usage_of(message).finish
    said = own or (text.strip() if finish in REFUSING or _REFUSES.search(text[:2_000].replace("\u2019", "'")) else "")
    if not said and finish not in REFUSING:
        return None
    shown = f" ({_short(said, 2 * LONGEST_SHOWN)})" if said else f" (it stopped for {finish!r})"
    return Reading(None, f"it is a refusal to answer{shown}", refused=True)


def fault_in(error: ValidationError) -> str:
    """Name the first wrong field, its value and the remedy in one line."""
    problem = error.errors(include_url=False)[0]
    place, kind, told = ".".join(map(str, problem["loc"])), problem["type"], problem.get("ctx") or {}
    if kind == "missing":
        return f"{scrub(place)!r} is missing; add it"
    if kind == "literal_error":
        wanted = f"give {told['expected']}"
    elif kind.startswith(("decimal", "int", "float", "is_instance")) or kind == "finite_number":
        wanted = "give a plain number, such as 1200" if "than" not in kind else problem["msg"].lower()
    else:
        wanted = problem["msg"][:1].lower() + problem["msg"][1:]
    said = f"{scrub(place)!r} is {_short(problem['input'], LONGEST_SHOWN)}" if place else "its JSON does not fit"
    return " ".join(f"{said}; {wanted}".split())


def _short(value: Any, most: int) -> str:
    text = printable(scrub(value if isinstance(value, str) else json.dumps(value, default=str)[: most + 1]))
    return f'"{text[:most]}..."' if len(text) > most else f'"{text}"' if isinstance(value, str) else text


def usable(complaint: str, fields: Sequence[str]) -> str:
    """Return a message to a bidder about a reply's fault and the wanted reply."""
    wanted = ", ".join(f'"{name}"' for name in fields)
    instead = f"; reply with one JSON object with {wanted}" if wanted else "; reply in the words asked for"
    return f"the reply can't be used: {complaint}{instead}"
