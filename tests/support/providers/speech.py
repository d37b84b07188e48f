"""Requests and replies in a neutral form. Wire formats are parsed into requests and written from replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

CHARACTERS_PER_TOKEN = 4
"""The built-in model's ratio."""
ROLES = {"system": SystemMessage, "developer": SystemMessage, "assistant": AIMessage, "model": AIMessage}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to a model.

    `tools` are in OpenAI's form. `parameters` names all that the request sets, in its provider's words, and a required
    tool, a schema and plain JSON as "tool_choice.required", "response_format.json_schema" and
    "response_format.json_object". `parts` is the prompt in the order in which its prefix is cached, with the ends that
    the client marked. `caches` says which parts the provider caches. `most` is the most tokens of the reply.
    `forced` is the name of the required tool, if it is one of several.
    """

    model: str
    messages: Sequence[BaseMessage]
    tools: Sequence[dict[str, Any]]
    parameters: frozenset[str]
    parts: Sequence[tuple[str, bool]]
    caches: Literal["every prefix", "marked", "nothing"] = "every prefix"
    most: int | None = None
    forced: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A model's reply: a tool call, or text.

    `end` is "stop", "length" or "refusal". A reply that is cut off has its text or its JSON arguments in `text`.
    `read` are all tokens of the prompt. `cached` and `stored` are those of them that were read from or written to the
    provider's cache. `written` are all tokens of the reply, and `thought` the hidden ones among them.
    """

    model: str
    text: str
    tool: str
    arguments: Mapping[str, Any]
    read: int
    written: int
    cached: int = 0
    stored: int = 0
    thought: int = 0
    end: str = "stop"


@dataclass(slots=True, eq=False)
class Trouble(Exception):
    """A request without a reply: a status, and a kind of error for which providers have their own names.

    The kinds are "rate", "quota", "server", "overloaded", "unavailable", "key", "access", "model",
    "parameter", "path" and "long".
    """

    status: int
    kind: str
    message: str
    subject: str = ""
    headers: Mapping[str, str] | None = None


class Dialect(Protocol):
    """A wire format, implemented by a module. `TOO_LONG` is its message for a prompt with too many tokens."""

    TOO_LONG: str

    def key(self, headers: Mapping[str, str]) -> str: ...
    def hear(self, path: str, body: Mapping[str, Any]) -> Asked: ...
    def say(self, asked: Asked, said: Said, number: int) -> Any: ...
    def complain(self, trouble: Trouble) -> tuple[int, dict[str, Any]]: ...


def forced(choice: Any) -> str | None:
    """Return the name of the one required tool, if any."""
    return choice.get("name") or (choice.get("function") or {}).get("name") if isinstance(choice, dict) else None


def turn(role: str, content: Any) -> BaseMessage:
    """Make a message from a client's content: a text, or a list of blocks of which some have text."""
    return ROLES.get(role, HumanMessage)(text_of(content))


def text_of(content: Any) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text") or "" for block in content or ())


def set_in(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the parameters that a request sets."""
    return frozenset(name for name, value in body.items() if value or (value is not False and value in (0, "")))


def bearer(headers: Mapping[str, str]) -> str:
    """Return the key of an Authorization header."""
    return headers.get("authorization", "").removeprefix("Bearer ")


def unstreamed(body: Mapping[str, Any]) -> None:
    """Refuse to stream.

    Raises:
        Trouble: the client asked for a stream.
    """
    if body.get("stream"):
        raise Trouble(400, "parameter", "This server does not stream.", "stream")
