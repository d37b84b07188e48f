"""A form asks a model for a reply of a shape: by a tool call, by a JSON schema, or by JSON in plain text.

Not every server has every form, or takes every setting. If the settings leave the form open, the first call to a model
finds it out, and later calls read it from the passport of the model.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableBinding

from harbor._config.models import BUILT_IN, PROVIDERS, MayBeLeftOut, ModelSettings, ReplyForm, named_in
from harbor._config.protocol_replies import OwnReply
from harbor._core.asking.decisions import InWords
from harbor._models.calls.reply_shapes import Shape, in_call, in_words, schema_of, tool_of
from harbor._models.passports.passport import Known, unknown

MAY_BE_LEFT_OUT: tuple[MayBeLeftOut, ...] = get_args(MayBeLeftOut)
"""Settings that a model can answer without; settings under `extra` are called "extra.NAME"."""
_REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra inputs|not permitted|not allowed|deprecated"
    r"|only the default|may only be|can(?:not|'t| not) be (?:set|used|specified)|no such parameter|invalid parameter",
    re.IGNORECASE,
)
"""Words of a server that does not take a setting with any value."""
_OTHER_VALUES = re.compile(r"(?:supported|allowed|valid) values|must be (?:one of|between)", re.IGNORECASE)
"""Words of a server that takes the setting with another value, which the user has to choose."""
_ABOUT_FORM = re.compile(r"tool_choice|\btools?\b|response_format|json_schema", re.IGNORECASE)
"""Words of a server that refuses the form beside a setting; then another form is tried."""
_ALSO_CALLED = {"max_tokens": "max_completion_tokens", "reasoning": "thinking"}  # in servers' words


def sent(settings: ModelSettings, not_taken: tuple[str, ...]) -> ModelSettings:
    """Return the settings without those in `not_taken`, which the model does not take."""
    left: dict[str, Any] = {name: None for name in MAY_BE_LEFT_OUT if name in not_taken}
    if any(name.startswith("extra.") for name in not_taken):
        left["extra"] = {name: value for name, value in settings.extra.items() if f"extra.{name}" not in not_taken}
    return settings.model_copy(update=left) if left else settings


def wished(settings: ModelSettings) -> tuple[str, ...]:
    """Return the names of the given settings that may be left out."""
    own = (name for name in MAY_BE_LEFT_OUT if getattr(settings, name) is not None)
    return (*own, *(f"extra.{name}" for name in settings.extra))


def left_out(chat: BaseChatModel, settings: ModelSettings) -> tuple[str, ...]:
    """Return the names of given settings that a provider's package has left out of the chat model."""
    names = dict(_theirs(settings))
    return tuple(name for name in wished(settings) if name in names and _value(chat, names[name]) is None)


def refused_in(words: str, settings: ModelSettings) -> str:
    """Return the name of the sent setting that a server refuses in these words; "" if the words name none."""
    if not _REFUSES.search(words) or _OTHER_VALUES.search(words) or _ABOUT_FORM.search(words):
        return ""
    names = dict(_theirs(settings))
    for name in wished(settings):
        if _speaks_of(words, name.removeprefix("extra."), names.get(name), _ALSO_CALLED.get(name)):
            return name
    return ""


def remedy_of(name: str, setting: str) -> str:
    """Return the remedy for a setting that a model must take, but does not."""
    return (
        f"it does not take the {setting!r} that the settings state; leave it out with --set models.{name}.{setting}="
        " or choose another model"
    )


def remedy_in(words: str, name: str, settings: ModelSettings) -> str:
    """Return the remedy if a server refuses a setting that the model must take in these words; otherwise ""."""
    setting = refused_in(words, settings)
    return f"; {remedy_of(name, setting)}" if setting in settings.must_take else ""


def without(chat: BaseChatModel, settings: ModelSettings, not_taken: tuple[str, ...]) -> BaseChatModel:
    """Return a copy of a chat model that does not send these settings; it shares the connections."""
    names = dict(_theirs(settings))
    fields = {_field(chat, names[name]) for name in not_taken if name in names} - {None}
    if not fields:
        return chat
    kinds = type(chat).model_fields
    return chat.model_copy(update={name: kinds[name].get_default(call_default_factory=True) for name in fields if name})


def _speaks_of(words: str, *names: str | None) -> bool:
    return any(name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words, re.IGNORECASE) for name in names)


def _theirs(settings: ModelSettings) -> Iterator[tuple[str, str]]:
    """Return the given settings, each with its name in the provider's package."""
    provider = settings.use.partition(":")[0]
    if provider not in PROVIDERS:
        return
    for name in wished(settings):
        extra = name.startswith("extra.")
        yield name, name.removeprefix("extra.") if extra else named_in(provider, name, settings)


def _field(chat: BaseChatModel, name: str) -> str | None:
    """Find the field of a chat model by its name or alias."""
    fields = type(chat).model_fields
    return next((field for field, kind in fields.items() if name in (field, kind.alias)), None)


def _value(chat: BaseChatModel, name: str) -> Any:
    field = _field(chat, name)
    return chat if field is None else getattr(chat, field)


FORMS: tuple[ReplyForm, ...] = ("tool", "json", "text")
"""The forms of a reply with a shape, in the order of the tries."""
ABOUT_FORM = re.compile(r"tool|function|response_format|json|schema|structured|format", re.IGNORECASE)
"""Words of a server that refuses a form, and not the key, the model or another setting."""
ON_REQUEST = ("langchain_anthropic",)
"""Packages of providers that cache a prompt only up to a mark; OpenAI needs no mark."""
FORCED = ("langchain_openai", "langchain_anthropic", "langchain_google", "harbor")
"""Packages whose models can be forced to call one tool of several by name; other models are offered that tool alone."""
Invoke = Callable[[Sequence[BaseMessage]], Awaitable[AIMessage]]


@dataclass(frozen=True, slots=True)
class Asking:
    """A way to ask for one shape of reply; `invoke` sends messages.

    `told` is the text at the end of the system prompt, and `named` that at the end of the last message. `not_taken`
    holds the settings that are not sent.
    """

    form: ReplyForm
    invoke: Invoke
    told: str = ""
    named: str = ""
    not_taken: tuple[str, ...] = ()


@dataclass
class Forms:
    """The forms of questions to one model, with the settings that its server takes.

    `known` is the model's passport. `recorded` is the form that it took in an interrupted run, or has taken since.
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
        """The form that the model takes; None if it is unknown."""
        if self.settings.reply != "auto":
            return self.settings.reply
        return FORMS[0] if self.settings.use == BUILT_IN else self.recorded or self.known.passport.form

    @property
    def not_taken(self) -> tuple[str, ...]:
        """The given settings that are left out because the model does not take them."""
        if not self.known.passport.not_taken:
            return ()
        gone = set(self.known.passport.not_taken).difference(self.settings.must_take)
        return tuple(name for name in wished(self.settings) if name in gone)

    def sent_without(self, not_taken: tuple[str, ...]) -> ModelSettings:
        """Return the settings without those named, as one object for equal names: the cache reads each object once."""
        if not_taken not in self._sent:
            self._sent[not_taken] = sent(self.settings, not_taken)
        return self._sent[not_taken]

    def maybe_not_taken(self) -> list[tuple[str, ...]]:
        """List the sets of settings that a kept reply may have left out: all sets, until the model has answered.

        A machine that imports kept replies has no facts about the model.
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
        """Return the ways to try in order, each with whether a reply in prose is the model's own choice.

        It is in the form that the model is known to take, and in the last. `wanted` is the only form, if any.
        """
        known = wanted or self.form
        forms = self._candidates(shape, wanted, known)
        for form in forms:
            asking = self.asked_as(shape, form)  # only now, because a setting may have been left out meanwhile
            is_last = form == forms[-1] or asking.form != form
            yield asking, is_last or form == known
            if is_last:
                return

    def every(self, shape: Shape, wanted: ReplyForm | None = None) -> list[Asking]:
        """Return all ways in which the model may ever have been asked, in an order without regard to its passport."""
        askings = [self.asked_as(shape, form) for form in self._candidates(shape, wanted, FORMS[0])]
        return list({asking.form: asking for asking in askings}.values())

    def maybe_asked(self, shape: Shape, wanted: ReplyForm | None = None) -> list[Asking]:
        """Return the ways in which the model may have been asked for a kept reply: all, until it has answered."""
        if self.known.passport.calls and self.form is not None and wanted is None:
            return [self.asked_as(shape, self._candidates(shape, None, self.form)[0])]
        return self.every(shape, wanted)

    def _candidates(self, shape: Shape, wanted: ReplyForm | None, first: ReplyForm | None) -> tuple[ReplyForm, ...]:
        if issubclass(shape.kind, InWords):
            return ("words",)
        only = wanted or (self.form if self.settings.reply != "auto" or self.settings.use == BUILT_IN else None)
        return (only,) if only else tuple(dict.fromkeys((first or FORMS[0], *FORMS)))

    def asked_as(self, shape: Shape, form: ReplyForm) -> Asking:
        """Return the way to ask for a shape in a form, made once: in plain text if the chat model lacks the form."""
        key = shape, form, self.not_taken
        if key not in self._bound:
            self._bound[key] = self._bind(shape, form)
        return self._bound[key]

    def works(self, form: ReplyForm) -> None:
        """Remember a form that was answered; "words" show no ability of the server."""
        if form != "words":
            self.recorded = form
            self.known.learn(form=form)

    def leave_out(self, words: str, asking: Asking) -> bool:
        """Leave out the setting that a server refuses in these words; return False if no named setting may be left out.

        Another call may have learned the refusal before.
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
        except (NotImplementedError, ValueError, TypeError):  # this chat model lacks the form
            pass
        if issubclass(shape.kind, OwnReply):  # its prompt explains the form, as the paper does, without a schema
            told = named = ""
        return Asking("text", self._chat.ainvoke, told, named)

    def _with_tools(self, shape: Shape) -> Runnable[Any, AIMessage]:
        if len(shape.offered) > 1 and type(self.chat).__module__.startswith(FORCED):
            return self._chat.bind_tools([tool_of(kind) for kind in shape.offered], tool_choice=shape.kind.__name__)
        return self._chat.bind_tools([shape.kind], tool_choice="any")


def _direct(bound: Runnable[Any, AIMessage]) -> Invoke:
    """Return a call with the bound arguments put together once; LangChain would do so anew at each call."""
    if type(bound) is not RunnableBinding or bound.config or bound.config_factories:
        return bound.ainvoke
    return partial(bound.bound.ainvoke, **bound.kwargs)


def _marked(invoke: Invoke) -> Invoke:
    """Mark the end of the system prompt, which the calls of one bidder have in common.

    From 1,024 tokens on, input that the provider has read before then costs a tenth.
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
