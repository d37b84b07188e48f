"""One attempt at a call: replayed or made, then logged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from harbor._config.models import ReplyForm
from harbor._core.errors import CallFailed, HarborError, ModelError, RunPaused
from harbor._core.redaction import redact
from harbor._models.calls.faults import fault_of
from harbor._models.calls.forms import ABOUT_FORM, Asking, Forms, schema_of
from harbor._models.calls.line import Line
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reading import read
from harbor._models.calls.spoken import (
    as_kept,
    as_message,
    as_reply,
    beyond,
    malformed,
    message_of,
    reasoning_of,
    written,
)
from harbor._models.calls.usage import usage_of
from harbor._models.governor.terms import Gone
from harbor._models.replies.cache import CallRequest, GameCache
from harbor._models.replies.replay import CallOutcome, RawCall

if TYPE_CHECKING:
    from harbor._models.calls.client import ModelClient

CHARACTERS_PER_TOKEN = 4
REPLY_TOKENS = 300
"""How long a reply is taken to be before it is there."""
TRIES_IN_PROSE = 2
"""How often a form is tried whose answer is prose: once may be the model's slip, and twice means that it is ignored."""
_FILTERED = AIMessage("", response_metadata={"finish_reason": "content_filter"})


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said: the form it was asked in, the words of the prompt, and the requests that failed before.

    `address` is where the reply is kept; `found`: it was there before, and nothing was asked; `imported`: it came there
    from a file. `free`: nothing was answered, so nothing is charged.
    """

    message: AIMessage
    form: ReplyForm
    words: list[str]
    retries: int = 0
    address: str = ""
    found: bool = False
    free: bool = False
    imported: bool = False


@dataclass
class Call:
    """An attempt, from its start to its event in the log; `repaired` is what was said since the prompt."""

    model: ModelClient
    prompt: Prompt
    repaired: Sequence[BaseMessage]
    attempt: int
    began: float
    recorded: RawCall | None = None

    async def run(self, reply_type: type[BaseModel]) -> Said:
        """Take the reply that an interrupted run has recorded, or make the call."""
        forms, _ = self.model.way
        asking, _ = next(forms.asked(reply_type, self.model.reply))
        words = _words(self._messages(asking))
        self.recorded = self.model.replay.call(self.model.bidder, self.prompt.name, self.attempt, words)
        cache = self.model.cache
        if self.recorded is not None:
            if cache is not None:
                cache.count(self._request(asking, reply_type))
            return self._replayed(self.recorded)
        said = await (self._paid(reply_type, asking.form, words) if cache is None else self._kept(reply_type, cache))
        if self.model.reply is None:
            forms.works(said.form)
        return said

    async def _kept(self, reply_type: type[BaseModel], cache: GameCache) -> Said:
        """Take the reply that is kept, in whichever form it was given; else make the call, and keep its reply."""
        forms, line = self.model.way
        requests = [self._request(asking, reply_type) for asking, _ in forms.asked(reply_type, self.model.reply)]
        first = requests[0]
        with _waiting(line):
            async with cache.alone(first):
                for request in requests:
                    if (found := cache.find(request)) is not None:
                        at, words = found.address, _texts(request)
                        return Said(as_message(found), request.form, words, 0, at, found=True, imported=found.imported)
                said = await self._paid(reply_type, first.form, _texts(first))
                asked = next((request for request in requests if request.form == said.form), None)
                if asked is None:  # a reply of another form was found meanwhile, and that is asked for from then on
                    return said
                kept = cache.keep(asked, as_reply(said.message))
        # Somebody else's may have been kept meanwhile, and this one is paid for all the same.
        told = {"usage_metadata": said.message.usage_metadata, "response_metadata": said.message.response_metadata}
        message = message_of(kept.reply, kept.message).model_copy(update=told)
        return replace(said, message=message, address=kept.address, imported=kept.imported)

    def _request(self, asking: Asking, reply_type: type[BaseModel]) -> CallRequest:
        words = [[message.type, str(message.content)] for message in self._messages(asking)]
        return CallRequest(self.model.settings, asking.form, schema_of(reply_type), words, self.attempt)

    async def _paid(self, reply_type: type[BaseModel], form: ReplyForm, words: list[str]) -> Said:
        """Make the call; one that fails is logged, in the form and the words that were tried first."""
        forms, line = self.model.way
        if self.model.budget is not None:
            with _waiting(line):  # others' calls are not the bidder's own time
                await self.model.budget.admit()
        try:
            return await self._sent(words, reply_type, forms, line)
        except BaseException as error:  # also a cancelled call is logged, as it may have been paid for
            why = str(error) if isinstance(error, HarborError) else f"{type(error).__name__}: {error}"
            never = isinstance(error, ModelError | RunPaused)  # then no provider charges for it
            self.log("failed", Said(AIMessage(""), form, words, free=never), redact(why))
            if self.model.play_on and never and not isinstance(error.__cause__, Gone):
                raise CallFailed(str(error)) from error
            raise

    def _messages(self, asking: Asking) -> list[BaseMessage]:
        earlier = [said for turn in self.prompt.earlier for said in (HumanMessage(turn[0]), AIMessage(turn[1]))]
        first = SystemMessage(self.prompt.system + asking.told)
        return [first, *earlier, HumanMessage(self.prompt.human), *self.repaired]

    async def _sent(self, words: list[str], reply_type: type[BaseModel], forms: Forms, line: Line | None) -> Said:
        tokens = sum(map(len, words)) // CHARACTERS_PER_TOKEN + (self.model.settings.max_tokens or REPLY_TOKENS)

        async def attempt() -> tuple[Said, int]:
            said = await self._first_that_works(forms, reply_type)
            used = said.message.usage_metadata
            return said, used["total_tokens"] if used else tokens

        if line is None:
            try:
                return (await attempt())[0]
            except Exception as error:
                raise ModelError(f"model {self.model.name!r} failed: {fault_of(error).words}") from error
        said, failures = await line.send(attempt, tokens)
        return Said(said.message, said.form, said.words, said.retries + failures)

    async def _first_that_works(self, forms: Forms, reply_type: type[BaseModel]) -> Said:
        """Ask in the first form that the server takes; if one is known, there is no other."""
        asked = 0
        for asking, is_last in forms.asked(reply_type, self.model.reply):
            messages = self._messages(asking)
            for _ in range(1 if is_last else TRIES_IN_PROSE):
                try:
                    message = await asking.invoke(messages)
                except Exception as error:
                    if (answer := malformed(error)) is not None:  # it was answered, and paid for
                        return Said(as_kept(answer), asking.form, _words(messages), asked)
                    fault = fault_of(error)
                    if fault.kind == "filtered":  # it was answered, in a way: the model does not speak to this
                        return Said(_FILTERED, asking.form, _words(messages), asked)
                    if is_last or fault.kind != "refused" or not ABOUT_FORM.search(fault.words):
                        raise
                    asked += 1
                    break
                if is_last or _took_form(message, reply_type):
                    return Said(as_kept(message), asking.form, _words(messages), asked)
                asked += 1
        raise AssertionError("there is always a last form")

    def _replayed(self, recorded: RawCall) -> Said:
        if recorded.outcome == "failed":
            self.model.sink(recorded.event)
            raise CallFailed(recorded.error)
        message = message_of(recorded.reply, recorded.message)
        message.response_metadata = {"finish_reason": recorded.finish}  # which tells a refusal
        return Said(message, recorded.form, recorded.prompt)

    def log(self, outcome: CallOutcome, said: Said, complaint: str, marks: tuple[str, ...] = ()) -> None:
        """Write the attempt to the log; one that was made also to the raw calls and the budget."""
        call = self.recorded or self._made(outcome, said, complaint, marks)
        self.model.sink(call.event)
        if self.recorded is None:
            self.model.keep(call)
            if self.model.budget is not None and not said.found:
                self.model.budget.charge(call)

    def _made(self, outcome: CallOutcome, said: Said, complaint: str, marks: tuple[str, ...]) -> RawCall:
        model, usage = self.model, usage_of(said.message)
        return RawCall(
            bidder=model.bidder,
            purpose=self.prompt.name,
            model=model.name,
            version=self.prompt.version,
            attempt=self.attempt,
            outcome=outcome,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_dollars=0.0 if said.free else usage.cost(model.settings),
            cached=usage.from_cache,
            began=round(self.began, 6),
            seconds=round(model.clock() - self.began, 6),
            prompt=said.words,
            reply=written(said.message),
            message=beyond(said.message),
            error=complaint,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            finish=usage.finish,
            retries=said.retries,
            answered_by=usage.answered_by,
            form=said.form,
            address=said.address,
            marks=marks,
            reasoning=reasoning_of(said.message),
            imported=said.imported,
            answer_id=str(said.message.response_metadata.get("id", "")),
        )


def _waiting(line: Line | None) -> AbstractContextManager[None]:
    """Count the time inside as waiting, which is not the bidder's own; the built-in model keeps nobody waiting."""
    return line.waiting.counted() if line else nullcontext()


def _words(messages: Sequence[BaseMessage]) -> list[str]:
    return [str(message.content) for message in messages]


def _texts(request: CallRequest) -> list[str]:
    return [text for _, text in request.messages]


def _took_form(message: AIMessage, reply_type: type[BaseModel]) -> bool:
    """Say whether a server has heard of the form: one that has not answers in prose, to nothing that it was told."""
    return bool(message.tool_calls or message.invalid_tool_calls) or read(message, reply_type).reply is not None
