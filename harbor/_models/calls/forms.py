"""How a model is asked for a reply of a shape: by a tool call, by a JSON schema, or by JSON in plain text.

Not every server can do everything. Where the settings leave it open, the first call of a model finds out, and all later
ones in this process know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from pydantic import BaseModel

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._core.decisions import InWords

FORMS: tuple[ReplyForm, ...] = ("tool", "json", "text")
"""The forms of a reply of a shape, in the order in which they are tried."""
ABOUT_FORM = re.compile(r"tool|function|response_format|json|schema|structured|format", re.IGNORECASE)
"""What a server speaks of that refuses a form, and not the key, the model or another setting."""
ON_REQUEST = ("langchain_anthropic",)
"""The packages of providers that cache the beginning of a prompt where it is marked; OpenAI's needs no mark."""
_SHAPE = "\nReply with one JSON object of this JSON schema, and nothing else: {schema}\n"
Invoke = Callable[[Sequence[BaseMessage]], Awaitable[AIMessage]]
_KNOWN: dict[str, ReplyForm] = {}


@dataclass(frozen=True, slots=True)
class Asking:
    """A way to ask for one shape of reply: `invoke` sends messages; `told` stands at the end of the system prompt."""

    form: ReplyForm
    invoke: Invoke
    told: str = ""


@dataclass
class Forms:
    """The forms that one model can be asked in.

    `identity` tells models of this process apart ("": what is found out stays here); `known` is the form that works.
    """

    chat: BaseChatModel
    settings: ModelSettings
    identity: str = ""
    known: ReplyForm | None = None
    _bound: dict[tuple[type[BaseModel], ReplyForm], Asking] = field(default_factory=dict, repr=False)

    @property
    def candidates(self) -> tuple[ReplyForm, ...]:
        """The forms to try, in order; one, if it is known."""
        if self.settings.reply != "auto":
            return (self.settings.reply,)
        if self.settings.use == BUILT_IN:
            return FORMS[:1]
        known = self.known or _KNOWN.get(self.identity)
        return (known,) if known else FORMS

    def asked(self, reply_type: type[BaseModel], wanted: ReplyForm | None = None) -> Iterator[tuple[Asking, bool]]:
        """Give the ways to try, in order, and whether each is the last; only one if a form is wanted."""
        if issubclass(reply_type, InWords):
            yield Asking("words", self.chat.ainvoke), True
            return
        candidates = (wanted,) if wanted else self.candidates
        for form in candidates:
            asking = self.asking(reply_type, form)
            is_last = form == candidates[-1] or asking.form != form
            yield asking, is_last
            if is_last:
                return

    def works(self, form: ReplyForm) -> None:
        """Remember a form that was answered; words say nothing of what the server can do."""
        if form == "words":
            return
        self.known = form
        if self.identity:
            _KNOWN[self.identity] = form

    def asking(self, reply_type: type[BaseModel], form: ReplyForm) -> Asking:
        """Bind a shape to the model, once; a chat model that has no such way is asked in plain text."""
        key = reply_type, form
        if key not in self._bound:
            self._bound[key] = self._bind(reply_type, form)
        return self._bound[key]

    def _bind(self, reply_type: type[BaseModel], form: ReplyForm) -> Asking:
        asking = self._unmarked(reply_type, form)
        marks = type(self.chat).__module__.startswith(ON_REQUEST)
        return replace(asking, invoke=_marked(asking.invoke)) if marks else asking

    def _unmarked(self, reply_type: type[BaseModel], form: ReplyForm) -> Asking:
        told = _SHAPE.format(schema=json.dumps(schema_of(reply_type), separators=(",", ":")))
        try:
            if form == "tool":
                return Asking(form, self.chat.bind_tools([reply_type], tool_choice="any").ainvoke)
            if form == "json":
                shaped = self.chat.with_structured_output(schema_of(reply_type), method="json_schema", include_raw=True)
                return Asking(form, _raw(shaped), told)
        except (NotImplementedError, ValueError, TypeError):  # this chat model has no such way
            pass
        return Asking("text", self.chat.ainvoke, told)


def _marked(invoke: Invoke) -> Invoke:
    """Mark the end of the system prompt, up to which the calls of one bidder are alike.

    From 1,024 tokens on, what was read before then costs a tenth: for `demo` 111,000 tokens in place of 268,000.
    """

    async def marked(messages: Sequence[BaseMessage]) -> AIMessage:
        first, *rest = messages
        block = {"type": "text", "text": first.content, "cache_control": {"type": "ephemeral"}}
        return await invoke([SystemMessage([block]), *rest])

    return marked


def schema_of(reply_type: type[BaseModel]) -> dict[str, Any]:
    """Give the JSON schema of a reply."""
    return {"title": reply_type.__name__, **reply_type.model_json_schema()}


def without_shape(system: str) -> str:
    """Give a system prompt as it is in every form: without the shape that some forms tell at its end."""
    return system.partition(_SHAPE.partition("{")[0])[0]


def _raw(shaped: Any) -> Invoke:
    async def invoke(messages: Sequence[BaseMessage]) -> AIMessage:
        message: AIMessage = (await shaped.ainvoke(messages))["raw"]
        return message

    return invoke
