"""The shapes of replies, as JSON schemas: one, or all that a bidder may be asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from harbor._core.decisions import SHAPES_KEPT

_SHAPE = "\nReply with one JSON object of "
_ONE = "this JSON schema, and nothing else: {schema}\n"
_ONE_OF = "the JSON schema that is named at the end, and nothing else. These are the schemas: {schemas}\n"
_NAMED = "\n\nAnswer with one JSON object of the JSON schema {name}."
_CALLED = "\n\nAnswer with a call of the tool {name}."
_WANTED = re.compile("|".join(re.escape(one).replace(r"\{name\}", r"\w+") for one in (_NAMED, _CALLED)))


class Shape(NamedTuple):
    """The shape that a reply is to have.

    `offered` are all that the bidder is ever asked for, this one among them; they are sent together, so that its calls
    begin alike and providers find that beginning in their caches. Empty: this one is sent alone.
    """

    kind: type[BaseModel]
    offered: tuple[type[BaseModel], ...] = ()

    @classmethod
    def of(cls, kind: type[BaseModel], offered: tuple[type[BaseModel], ...]) -> Shape:
        """Return a shape among those that are offered; one that is not among them comes last."""
        return cls(kind, offered if kind in offered or not offered else (*offered, kind))

    @property
    def others(self) -> frozenset[str]:
        """The names of the shapes that are offered and not wanted now."""
        return frozenset(kind.__name__ for kind in self.offered if kind is not self.kind)

    @property
    def schema(self) -> dict[str, Any]:
        """All that is sent of shapes, as JSON."""
        if not self.offered:
            return schema_of(self.kind)
        return {"title": self.kind.__name__, "offered": [schema_of(kind) for kind in self.offered]}


def in_words(shape: Shape) -> tuple[str, str]:
    """Tell the shapes of replies in a text, and which of several is wanted."""
    schemas = [json.dumps(schema_of(kind), separators=(",", ":")) for kind in shape.offered or (shape.kind,)]
    if len(schemas) == 1:
        return _SHAPE + _ONE.format(schema=schemas[0]), ""
    return _SHAPE + _ONE_OF.format(schemas=" ".join(schemas)), _NAMED.format(name=shape.kind.__name__)


def in_call(shape: Shape) -> str:
    """Tell which of several tools is wanted, as some servers pass over `tool_choice`."""
    return _CALLED.format(name=shape.kind.__name__) if shape.others else ""


@lru_cache(SHAPES_KEPT)
def schema_of(reply_type: type[BaseModel]) -> dict[str, Any]:
    """Give the JSON schema of a reply, which nobody changes: it takes longer to make than to send."""
    return {"title": reply_type.__name__, **reply_type.model_json_schema()}


@lru_cache(SHAPES_KEPT)
def tool_of(reply_type: type[BaseModel]) -> dict[str, Any]:
    """Return a reply as a tool in OpenAI's format, as LangChain takes it for every provider; it is slow to make."""
    return convert_to_openai_tool(reply_type)


def without_shape(words: Sequence[str]) -> list[str]:
    """Return the words of a prompt as they are in every form: without the shapes that some forms tell in them."""
    return [_WANTED.sub("", text.partition(_SHAPE)[0]) for text in words]
