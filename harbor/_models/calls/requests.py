"""The requests of one call: in a form that its server takes, without the settings that it refuses.

What each cost that gave no reply stands in the ledger: a probe was answered, and showed that a form is not known; of a
lost one no answer came that can be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage

from harbor._config.models import ModelSettings, ReplyForm
from harbor._core.errors import TooSlow
from harbor._core.events import NO_REQUESTS, Spent
from harbor._core.running_time import loop_seconds
from harbor._models.calls.faults import fault_of
from harbor._models.calls.forms import ABOUT_FORM, Asking
from harbor._models.calls.lost import most_spent
from harbor._models.calls.patience import Late
from harbor._models.calls.reading import read
from harbor._models.calls.reply_shapes import Shape
from harbor._models.calls.spoken import as_kept, malformed
from harbor._models.calls.usage import answer_of, usage_of
from harbor._models.calls.ways import Way

LATE_TRIES = 2
"""How many requests of one call a model may not answer in time, whatever the key: each may be charged."""
TRIES_IN_PROSE = 2
"""How often a form is tried whose answer is prose: once may be the model's slip, and twice means that it is ignored."""
_FILTERED = AIMessage("", response_metadata={"finish_reason": "content_filter"})


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said: the form it was asked in, the words of the prompt, and the requests that failed before.

    `address` is where the reply is kept; `found`: it was there before, and nothing was asked; `imported`: it came there
    from a file. `free`: there is no answer to be charged. `not_taken` are the settings that were left out.
    `is_of_form`: it shows that the server takes the form.
    """

    message: AIMessage
    form: ReplyForm
    words: list[str]
    retries: int = 0
    address: str = ""
    found: bool = False
    free: bool = False
    imported: bool = False
    not_taken: tuple[str, ...] = ()
    is_of_form: bool = True


@dataclass
class Requests:
    """The requests of one call for a reply of a shape; `messages` gives what is sent, `wanted` is the one form, if any.

    `probes` and `lost` are those that gave no reply; `late` counts those that a model
    did not answer in time.
    """

    messages: Callable[[Asking], list[BaseMessage]]
    shape: Shape
    wanted: ReplyForm | None = None
    probes: Spent = NO_REQUESTS
    lost: Spent = NO_REQUESTS
    late: int = 0

    async def answer(self, way: Way) -> Said:
        """Ask in the form that the server takes; where that is not known, or no longer so, in one after the other."""
        asked, refused = 0, Exception()
        for asking, is_sure in way.forms.asked(self.shape, self.wanted):
            words = texts(self.messages(asking))
            for _ in range(1 if is_sure else TRIES_IN_PROSE):
                try:
                    message, asking, left_out = await self._with_settings_taken(way, asking)
                except Exception as error:
                    if (answer := malformed(error)) is not None:
                        free = answer.usage_metadata is None  # then it counts as lost
                        return Said(as_kept(answer), asking.form, words, asked, free=free, not_taken=asking.not_taken)
                    fault = fault_of(error)
                    if fault.kind == "filtered":  # it was answered, in a way: the model does not speak to this
                        return Said(_FILTERED, asking.form, words, asked, not_taken=asking.not_taken, is_of_form=False)
                    if fault.kind != "refused" or not ABOUT_FORM.search(fault.words):
                        raise
                    refused, asked = error, asked + 1
                    break
                asked += left_out
                if is_sure or _took_form(message, self.shape):
                    kept = as_kept(message, self.shape.others)
                    return Said(kept, asking.form, words, asked, not_taken=asking.not_taken)
                asked += 1
                self.probes += _spent(message, way.settings)
        raise refused

    async def _with_settings_taken(self, way: Way, asking: Asking) -> tuple[AIMessage, Asking, int]:
        """Ask once, and again without a setting that the server refuses; also gives how, and how many there were."""
        left_out = 0
        while True:
            try:
                return await self._one(way, asking), asking, left_out
            except Exception as error:
                fault = fault_of(error)
                if fault.kind != "refused" or not way.forms.leave_out(fault.words, asking):
                    raise
                left_out += 1
                asking = way.forms.asked_as(self.shape, asking.form)

    async def _one(self, way: Way, asking: Asking) -> AIMessage:
        """Send one request, and learn from its answer; if that is lost, the request stands in the ledger."""
        messages, line, known = self.messages(asking), way.line, way.forms.known
        loop = asyncio.get_running_loop()
        began = loop_seconds(loop)
        try:
            message = await (asking.invoke(messages) if line is None else line.ask(asking.invoke(messages)))
        except BaseException as error:  # also a cancelled one
            answer = malformed(error) if isinstance(error, Exception) else None
            if line is not None and (line.may_be_charged(error) if answer is None else answer.usage_metadata is None):
                self.lost += most_spent(messages, self.shape.schema, way.settings, known.passport, way.forms.chat)
            self.late += isinstance(error, Late)
            if self.late == LATE_TRIES and line is not None:
                raise TooSlow(line.too_slow(self.late, str(error))) from error
            raise
        known.answered(answer_of(message, loop_seconds(loop) - began if line is None or line.is_live else None))
        return message


def texts(messages: Sequence[BaseMessage]) -> list[str]:
    """Give the words of messages."""
    return [str(message.content) for message in messages]


def _took_form(message: AIMessage, shape: Shape) -> bool:
    """Say whether a server has heard of the form: one that has not answers in prose, to nothing that it was told."""
    called = {call["name"] for call in (*message.tool_calls, *message.invalid_tool_calls)}
    return not called.isdisjoint({shape.kind.__name__, *shape.others}) or read(message, shape.kind).reply is not None


def _spent(message: AIMessage, settings: ModelSettings) -> Spent:
    """Give what an answer costs that is of no use."""
    usage = usage_of(message)
    return Spent(1, usage.input_tokens, usage.output_tokens, usage.cost(settings))
