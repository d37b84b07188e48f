"""The model client, the only way to a model: a prompt becomes a validated reply.

Every call, good or bad, becomes one `ModelCalled` event for the log and one raw record for `calls.jsonl`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable
from pydantic import BaseModel

from harbor._config.auction import ModelSettings
from harbor._core.errors import CallFailed, UnreadableReply
from harbor._core.events import EventSink
from harbor._core.redaction import redact
from harbor._models.reading import read, written
from harbor._models.replay import CallBudget, CallOutcome, RawCall, ReplayCache

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Prompt:
    """A filled prompt: what never changes comes first, so that providers' prefix caches hit.

    `name` and `version`, the hash of the unfilled text, identify it in the log.
    """

    name: str
    system: str
    human: str
    version: str


@dataclass
class ModelClient:
    """A model as one bidder uses it.

    `sink` takes the events, `keep` the raw calls; `clock` gives seconds since the log was opened. A call that `replay`
    has recorded is not made again. Any other call waits until `budget`, if there is one, admits it.
    """

    bidder: str
    name: str
    chat: BaseChatModel
    settings: ModelSettings
    sink: EventSink = lambda _: None
    keep: Callable[[RawCall], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    replay: ReplayCache = field(default_factory=ReplayCache, repr=False)
    budget: CallBudget | None = None
    _bound: dict[type[BaseModel], tuple[Runnable[Any, AIMessage], str]] = field(default_factory=dict, repr=False)

    async def ask(
        self,
        prompt: Prompt,
        reply_type: type[Reply],
        check: Callable[[Reply], str] = lambda _: "",
        repairs: int | None = None,
    ) -> Reply:
        """Ask for a structured reply, and again with the complaint if it can't be used.

        Args:
            prompt: what to ask.
            reply_type: the shape of the reply.
            check: says what is wrong with a well-formed reply; empty if nothing is.
            repairs: how often to ask again (None: as the model's settings say).

        Raises:
            CallFailed: the model failed.
            UnreadableReply: it gave no usable reply within the repairs.
        """
        model, shape = self._bind(reply_type)
        messages: list[BaseMessage] = [SystemMessage(prompt.system + shape), HumanMessage(prompt.human)]
        last = 1 + (self.settings.repairs if repairs is None else repairs)
        complaint = ""
        for attempt in range(1, last + 1):
            call = _Call(self, prompt, messages, attempt, self.clock())
            message = await call.run(model)
            reply, complaint = read(message, reply_type)
            if reply is not None:
                complaint = check(reply)
            call.log("unreadable" if complaint else "ok", message, complaint)
            if reply is not None and not complaint:
                return reply
            messages = [*messages, AIMessage(written(message)), HumanMessage(_REPAIR.format(complaint=complaint))]
        raise UnreadableReply(f"{self.name} gave no usable {prompt.name} reply in {last} attempts: {complaint}")

    def _bind(self, reply_type: type[BaseModel]) -> tuple[Runnable[Any, AIMessage], str]:
        """Bind the reply's shape as a tool, once; a model that can't call tools is told the shape instead."""
        if reply_type not in self._bound:
            try:
                self._bound[reply_type] = self.chat.bind_tools([reply_type], tool_choice="any"), ""
            except NotImplementedError:
                schema = json.dumps(reply_type.model_json_schema(), separators=(",", ":"))
                self._bound[reply_type] = self.chat, _SHAPE.format(schema=schema)
        return self._bound[reply_type]


_SHAPE = "\nReply with one JSON object of this JSON schema, and nothing else: {schema}\n"
_REPAIR = "That reply can't be used: {complaint}. Reply again, in the shape asked for."


@dataclass(frozen=True)
class _Call:
    """One attempt, from its start to its event in the log; a recorded one is replayed and not made again."""

    model: ModelClient
    prompt: Prompt
    messages: list[BaseMessage]
    attempt: int
    began: float

    @cached_property
    def words(self) -> list[str]:
        return [str(message.content) for message in self.messages]

    @cached_property
    def recorded(self) -> RawCall | None:
        return self.model.replay.call(self.model.bidder, self.prompt.name, self.attempt, self.words)

    async def run(self, runnable: Runnable[Any, AIMessage]) -> AIMessage:
        if self.recorded is not None:
            return self._replayed(self.recorded)
        if self.model.budget is not None:
            await self.model.budget.admit()
        try:
            return await runnable.ainvoke(self.messages)
        except BaseException as error:  # also a cancelled call is logged, as it may have been paid for
            complaint = redact(f"{type(error).__name__}: {error}")
            self.log("failed", AIMessage(""), complaint)
            if isinstance(error, Exception):
                raise CallFailed(f"{self.model.name} failed: {complaint}") from error
            raise

    def _replayed(self, recorded: RawCall) -> AIMessage:
        if recorded.outcome == "failed":
            self.model.sink(recorded.event)
            raise CallFailed(f"{self.model.name} failed: {recorded.error}")
        return AIMessage(recorded.reply)

    def log(self, outcome: CallOutcome, message: AIMessage, complaint: str) -> None:
        call = self.recorded or self._made(outcome, message, complaint)
        self.model.sink(call.event)
        if self.recorded is None:
            self.model.keep(call)
            if self.model.budget is not None:
                self.model.budget.charge(call)

    def _made(self, outcome: CallOutcome, message: AIMessage, complaint: str) -> RawCall:
        model, usage = self.model, message.usage_metadata
        cached = usage is not None and usage.get("total_cost") == 0  # LangChain's mark of a cache hit
        return RawCall(
            bidder=model.bidder,
            purpose=self.prompt.name,
            model=model.name,
            version=self.prompt.version,
            attempt=self.attempt,
            outcome=outcome,
            input_tokens=usage["input_tokens"] if usage else 0,
            output_tokens=usage["output_tokens"] if usage else 0,
            cost_dollars=0.0 if cached else _cost(model.settings, usage),
            cached=cached,
            began=round(self.began, 6),
            seconds=round(model.clock() - self.began, 6),
            prompt=self.words,
            reply=written(message),
            error=complaint,
        )


def _cost(settings: ModelSettings, usage: UsageMetadata | None) -> float | None:
    if usage is None or settings.input_price is None or settings.output_price is None:
        return None
    return (usage["input_tokens"] * settings.input_price + usage["output_tokens"] * settings.output_price) / 1_000_000


def version_of(text: str) -> str:
    """Hash the unfilled text of a prompt to 12 hex digits."""
    return sha256(text.encode()).hexdigest()[:12]
