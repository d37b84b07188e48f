"""What is asked and what is said, in no provider's words: wire formats are read into one, written from the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

CHARACTERS_PER_TOKEN = 4
"""As the built-in model counts."""
ROLES = {"system": SystemMessage, "developer": SystemMessage, "assistant": AIMessage, "model": AIMessage}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to a model.

    `tools` are in OpenAI's form. `parameters` names all that the request sets, in its provider's words, and a tool that
    has to be called, a schema and plain JSON as "tool_choice.required", "response_format.json_schema" and
    "response_format.json_object". `parts` is the prompt in the order in which its prefix is cached, and says where the
    client marked an end; `caches` says what of it the provider caches. `most` is how many tokens the reply may have.
    `forced` is the tool that has to be called, by name, if it is one of several.
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
    """A model's reply: a call of a tool, or text.

    `end` is "stop", "length" or "refusal"; a reply that is cut off has its text or its arguments, as JSON, in `text`.
    `read` are all tokens of the prompt, `cached` and `stored` those of them that came from or went into the provider's
    cache; `written` are all tokens of the reply, `thought` those of them that nobody sees.
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
    """A request that gets no reply: a status, and one of the kinds for which providers have names of their own.

    The kinds are "rate", "quota", "server", "overloaded", "unavailable", "key", "access", "model",
    "parameter", "path" and "long".
    """

    status: int
    kind: str
    message: str
    subject: str = ""
    headers: Mapping[str, str] | None = None


class Dialect(Protocol):
    """A wire format; a module is one. `TOO_LONG` says in its words that a prompt has too many tokens."""

    TOO_LONG: str

    def key(self, headers: Mapping[str, str]) -> str: ...
    def hear(self, path: str, body: Mapping[str, Any]) -> Asked: ...
    def say(self, asked: Asked, said: Said, number: int) -> Any: ...
    def complain(self, trouble: Trouble) -> tuple[int, dict[str, Any]]: ...


def forced(choice: Any) -> str | None:
    """Name the tool that has to be called, if it is one."""
    return choice.get("name") or (choice.get("function") or {}).get("name") if isinstance(choice, dict) else None


def turn(role: str, content: Any) -> BaseMessage:
    """Make a message of what a client sent: a text, or a list of blocks of which some have text."""
    return ROLES.get(role, HumanMessage)(text_of(content))


def text_of(content: Any) -> str:
    """Give the text of a message's content."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text") or "" for block in content or ())


def set_in(body: Mapping[str, Any]) -> frozenset[str]:
    """Name the parameters of a request that are set."""
    return frozenset(name for name, value in body.items() if value or (value is not False and value in (0, "")))


def bearer(headers: Mapping[str, str]) -> str:
    """Give the key of an Authorization header."""
    return headers.get("authorization", "").removeprefix("Bearer ")


def unstreamed(body: Mapping[str, Any]) -> None:
    """Refuse to stream.

    Raises:
        Trouble: the client asked for a stream.
    """
    if body.get("stream"):
        raise Trouble(400, "parameter", "This server does not stream.", "stream")
