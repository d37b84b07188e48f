"""How a model is asked for a reply of a shape: by a tool call, by a JSON schema, or by JSON in plain text.

Not every server can do everything. Where the settings leave it open, the first call of a model finds out, and later
ones know it by the passport of the model.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableBinding

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._config.own_replies import OwnReply
from harbor._core.decisions import InWords
from harbor._models.calls.reply_shapes import Shape, in_call, in_words, schema_of, tool_of
from harbor._models.calls.settings_taken import left_out, refused_in, sent, wished, without
from harbor._models.passports.passport import Known, unknown

FORMS: tuple[ReplyForm, ...] = ("tool", "json", "text")
"""The forms of a reply of a shape, in the order in which they are tried."""
ABOUT_FORM = re.compile(r"tool|function|response_format|json|schema|structured|format", re.IGNORECASE)
"""What a server speaks of that refuses a form, and not the key, the model or another setting."""
ON_REQUEST = ("langchain_anthropic",)
"""The packages of providers that cache the beginning of a prompt where it is marked; OpenAI's needs no mark."""
OWN = "harbor"
"""The package of the built-in model, which takes shapes of replies as they are."""
FORCED = ("langchain_openai", "langchain_anthropic", "langchain_google", OWN)
"""The packages whose models can be made to call one tool of several by its name; others are offered that one alone."""
Invoke = Callable[[Sequence[BaseMessage]], Awaitable[AIMessage]]


@dataclass(frozen=True, slots=True)
class Asking:
    """A way to ask for one shape of reply: `invoke` sends messages.

    `told` stands at the end of the system prompt, and `named` at the end of the last message. `not_taken` are the
    settings that it does not send.
    """

    form: ReplyForm
    invoke: Invoke
    told: str = ""
    named: str = ""
    not_taken: tuple[str, ...] = ()


@dataclass
class Forms:
    """The forms that one model can be asked in, with the settings that its server takes.

    `known` is its passport; `recorded` is the form that it took in an interrupted run, or has taken since.
    """

    chat: BaseChatModel
    settings: ModelSettings
    known: Known = field(default_factory=unknown)
    recorded: ReplyForm | None = None
    _bound: dict[tuple[Shape, ReplyForm, tuple[str, ...]], Asking] = field(default_factory=dict, repr=False)
    _sent: dict[tuple[str, ...], ModelSettings] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if dropped := left_out(self.chat, self.settings):
            self.known.note(not_taken=tuple(sorted({*self.known.passport.not_taken, *dropped})))

    @property
    def form(self) -> ReplyForm | None:
        """The form that the model takes, if it is known."""
        if self.settings.reply != "auto":
            return self.settings.reply
        return FORMS[0] if self.settings.use == BUILT_IN else self.recorded or self.known.passport.form

    @property
    def not_taken(self) -> tuple[str, ...]:
        """The settings that are given, and left out as the model does not take them."""
        if not self.known.passport.not_taken:
            return ()
        gone = set(self.known.passport.not_taken).difference(self.settings.must_take)
        return tuple(name for name in wished(self.settings) if name in gone)

    def sent_without(self, not_taken: tuple[str, ...]) -> ModelSettings:
        """Give the settings as they are sent without these; the same object each time, as the cache reads it once."""
        if not_taken not in self._sent:
            self._sent[not_taken] = sent(self.settings, not_taken)
        return self._sent[not_taken]

    def maybe_not_taken(self) -> list[tuple[str, ...]]:
        """Give what may have been left out when a reply was kept: anything, until the model has answered.

        A machine that imports kept replies knows nothing of the model.
        """
        known = self.not_taken
        if self.known.passport.calls:
            return [known]
        sure = {*known, *self.settings.must_take}
        others = [name for name in wished(self.settings) if name not in sure and not name.startswith("extra.")]
        return [
            tuple(name for name in wished(self.settings) if name in (*known, *drop))
            for size in range(len(others) + 1)
            for drop in combinations(others, size)
        ]

    def asked(self, shape: Shape, wanted: ReplyForm | None = None) -> Iterator[tuple[Asking, bool]]:
        """Give the ways to try, in order, and whether a reply in prose is the model's own there: only one is wanted.

        It is so in the form that the model is known to take, and in the last.
        """
        known = wanted or self.form
        forms = self._candidates(shape, wanted, known)
        for form in forms:
            asking = self.asked_as(shape, form)  # only now, as a setting may have been left out meanwhile
            is_last = form == forms[-1] or asking.form != form
            yield asking, is_last or form == known
            if is_last:
                return

    def every(self, shape: Shape, wanted: ReplyForm | None = None) -> list[Asking]:
        """Give all ways in which the model may ever have been asked, in an order that hangs on nothing learned."""
        askings = [self.asked_as(shape, form) for form in self._candidates(shape, wanted, FORMS[0])]
        return list({asking.form: asking for asking in askings}.values())

    def maybe_asked(self, shape: Shape, wanted: ReplyForm | None = None) -> list[Asking]:
        """Give the ways in which the model may have been asked when a reply was kept: all, until it has answered."""
        if self.known.passport.calls and self.form is not None and wanted is None:
            return [self.asked_as(shape, self._candidates(shape, None, self.form)[0])]
        return self.every(shape, wanted)

    def _candidates(self, shape: Shape, wanted: ReplyForm | None, first: ReplyForm | None) -> tuple[ReplyForm, ...]:
        if issubclass(shape.kind, InWords):
            return ("words",)
        only = wanted or (self.form if self.settings.reply != "auto" or self.settings.use == BUILT_IN else None)
        return (only,) if only else tuple(dict.fromkeys((first or FORMS[0], *FORMS)))

    def asked_as(self, shape: Shape, form: ReplyForm) -> Asking:
        """Bind a shape to the model, once; a chat model that has no such way is asked in plain text."""
        key = shape, form, self.not_taken
        if key not in self._bound:
            self._bound[key] = self._bind(shape, form)
        return self._bound[key]

    def works(self, form: ReplyForm) -> None:
        """Remember a form that was answered; words say nothing of what the server can do."""
        if form != "words":
            self.recorded = form
            self.known.learn(form=form)

    def leave_out(self, words: str, asking: Asking) -> bool:
        """Leave out the setting that a server refuses in these words; false: it speaks of none that may be left out.

        Another call that was under way may have found it out before.
        """
        if name := refused_in(words, self.sent_without(asking.not_taken)):
            self.known.learn(not_taken=tuple(sorted({*self.known.passport.not_taken, name})))
        return bool(name) and name not in self.settings.must_take

    @property
    def _chat(self) -> BaseChatModel:
        return without(self.chat, self.settings, self.not_taken) if self.not_taken else self.chat

    def _bind(self, shape: Shape, form: ReplyForm) -> Asking:
        if form == "words":
            return Asking(form, self._chat.ainvoke, not_taken=self.not_taken)
        asking = replace(self._unmarked(shape, form), not_taken=self.not_taken)
        marks = type(self.chat).__module__.startswith(ON_REQUEST)
        return replace(asking, invoke=_marked(asking.invoke)) if marks else asking

    def _unmarked(self, shape: Shape, form: ReplyForm) -> Asking:
        told, named = in_words(shape)
        try:
            if form == "tool":
                return Asking(form, _direct(self._with_tools(shape)), named=in_call(shape))
            if form == "json":
                shaped = self._chat.with_structured_output(
                    schema_of(shape.kind), method="json_schema", include_raw=True
                )
                return Asking(form, _raw(shaped), told, named)
        except (NotImplementedError, ValueError, TypeError):  # this chat model has no such way
            pass
        if issubclass(shape.kind, OwnReply):  # its prompt explains it, as the paper does, without a schema
            told = named = ""
        return Asking("text", self._chat.ainvoke, told, named)

    def _with_tools(self, shape: Shape) -> Runnable[Any, AIMessage]:
        if len(shape.offered) > 1 and type(self.chat).__module__.startswith(FORCED):
            is_own = type(self.chat).__module__.startswith(OWN)
            tools = shape.offered if is_own else [tool_of(kind) for kind in shape.offered]
            return self._chat.bind_tools(tools, tool_choice=shape.kind.__name__)
        return self._chat.bind_tools([shape.kind], tool_choice="any")


def _direct(bound: Runnable[Any, AIMessage]) -> Invoke:
    """Give a chat model with what is bound to it, which LangChain would put together anew at each call."""
    if type(bound) is not RunnableBinding or bound.config or bound.config_factories:
        return bound.ainvoke
    return partial(bound.bound.ainvoke, **bound.kwargs)


def _marked(invoke: Invoke) -> Invoke:
    """Mark the end of the system prompt, up to which the calls of one bidder are alike.

    From 1,024 tokens on, what was read before then costs a tenth.
    """

    async def marked(messages: Sequence[BaseMessage]) -> AIMessage:
        first, *rest = messages
        block = {"type": "text", "text": first.content, "cache_control": {"type": "ephemeral"}}
        return await invoke([SystemMessage([block]), *rest])

    return marked


def _raw(shaped: Any) -> Invoke:
    async def invoke(messages: Sequence[BaseMessage]) -> AIMessage:
        message: AIMessage = (await shaped.ainvoke(messages))["raw"]
        return message

    return invoke
