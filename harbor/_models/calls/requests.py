"""A call sends requests with one of a model's keys, or to the fallback, in a form that the server takes.

The ledger has the cost of each request without a reply. A probe was answered in prose, so the server may not know the
form. A lost request had no readable answer.
"""

from __future__ import annotations

import asyncio
import math
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from langchain_core.messages import AIMessage, BaseMessage

from harbor._config.models import ModelSettings, ReplyForm
from harbor._core.basics.errors import (
    HarborError,
    KeyRefused,
    LimitReached,
    ModelError,
    PromptTooLong,
    RunPaused,
    TooSlow,
)
from harbor._core.basics.loops import loop_seconds, running_seconds
from harbor._core.log.events import NO_REQUESTS, Spent
from harbor._models.calls.faults import fault_of
from harbor._models.calls.forms import ABOUT_FORM, Asking, Forms
from harbor._models.calls.line import Line
from harbor._models.calls.messages import answer_of, as_kept, malformed, usage_of
from harbor._models.calls.reply_shapes import Shape, read
from harbor._models.calls.waiting import Late, most_spent
from harbor._models.governor.terms import Gone

T = TypeVar("T")
_closed: dict[str, float] = {}
"""End of the time in which this process passes over a key or model, in running seconds; infinite: for good."""
_under_way = Counter[str]()
_made = Counter[str]()
"""Number of calls per account that are under way in this process, and that were made in all."""


@dataclass(frozen=True, slots=True)
class Way:
    """A model with one of its keys.

    `line` is None for the built-in model. `key_env` is the variable of the key if the model has several.
    """

    settings: ModelSettings
    forms: Forms
    line: Line | None = None
    key_env: str = ""

    @property
    def account(self) -> str:
        """The account of the key; "" for the built-in model."""
        return self.line.identity.account if self.line else ""

    @property
    def place(self) -> str:
        """The key and the model, because a key may be refused for one model alone."""
        return f"{self.account} {self.settings.use}"

    @property
    def is_usable(self) -> bool:
        """Say whether its key is not refused."""
        return _closed.get(self.place) != math.inf


@dataclass(frozen=True, slots=True)
class Pool:
    """A model with all of its keys, and its fallback; `name` is the name of its settings.

    Replies do not depend on the key. This process never uses a refused key again. A key without an answer for its share
    of `retry_seconds` comes last for that long. A model that is refused or does not answer is passed over for its
    fallback in the same way. A pool that is made when nothing is open opens its keys again.
    """

    name: str
    ways: tuple[Way, ...]
    fallback: Pool | None = None

    def __post_init__(self) -> None:
        if not self.is_open and (self.fallback is None or not self.fallback.is_open):
            for place in (self._place, *(way.place for way in self.ways)):
                _closed.pop(place, None)

    @property
    def is_open(self) -> bool:
        """Say whether the model may be asked."""
        return not _is_closed(self._place) and any(way.is_usable for way in self.ways)

    def every(self) -> Iterator[Pool]:
        """Return this pool and its chain of fallbacks."""
        pool: Pool | None = self
        while pool is not None:
            yield pool
            pool = pool.fallback

    def open(self) -> Iterator[Pool]:
        """Return the pools of the chain that may be asked, in order; the last always may, because no other follows."""
        return (pool for pool in self.every() if pool.is_open or pool.fallback is None)

    def named(self, name: str) -> Pool:
        """Return the pool of the chain with this model name, or this pool if there is none."""
        return next((pool for pool in self.every() if pool.name == name), self)

    async def send(self, attempt: Callable[[Way], Awaitable[tuple[T, int]]], tokens: int) -> tuple[T, int]:
        """Make a call with the key that has the fewest calls, under way and then in all; use the next if it fails.

        Args:
            attempt: makes the call in a way; returns the answer and its tokens.
            tokens: the estimated tokens of the call.

        Returns:
            The answer, and the number of failed requests.

        Raises:
            KeyRefused: every key is refused.
            ModelError: the provider refuses the call, and would with any key.
            RunPaused: no remaining key was answered for as long as the settings allow.
        """
        failures = 0
        paused: RunPaused | None = None
        left = list(self.ways)
        while left := [way for way in left if way.is_usable]:  # other calls may have closed a key meanwhile
            way = min(left, key=lambda way: (_is_closed(way.place), _under_way[way.account], _made[way.account]))
            left.remove(way)
            try:
                with _counted(way.account):
                    answer, failed = await self._through(way, partial(attempt, way), tokens)
                return answer, failures + failed
            except (KeyRefused, RunPaused) as error:
                if len(self.ways) == 1 or _is_of_every_key(error):
                    raise
                failures += 1
                paused = error if isinstance(error, RunPaused) else paused
                seconds = way.settings.retry_seconds if isinstance(error, RunPaused) else math.inf
                _close(way.place, seconds, f"the key in {way.key_env} is left out: {error}")
        if paused is not None:
            raise paused
        raise KeyRefused(
            f"model {self.name!r} ({self.ways[0].settings.use}) is refused with every key of its pool:"
            f" {', '.join(way.key_env for way in self.ways)}; put one that works in such a variable"
        )

    async def _through(self, way: Way, attempt: Callable[[], Awaitable[tuple[T, int]]], tokens: int) -> tuple[T, int]:
        if way.line is not None:
            return await way.line.send(attempt, tokens)
        try:
            return (await attempt())[0], 0
        except Exception as error:
            raise ModelError(f"model {self.name!r} failed: {fault_of(error).words}") from error

    def leads_on(self, error: BaseException) -> bool:
        """Say whether the fallback answers a call of this model that ended in an error."""
        return self.fallback is not None and isinstance(error, ModelError | RunPaused) and not _is_final(error)

    def pass_over(self, error: HarborError) -> None:
        """Go on to the fallback for this call, and for later calls if the error does not come from the call.

        A refusal by a model that has answered before comes from the call, unless its key is refused.
        """
        answers = self.ways[0].forms.known.passport.calls > 0 and not isinstance(error, KeyRefused | RunPaused)
        if not answers and not isinstance(error, PromptTooLong) and self.fallback is not None:
            _close(
                self._place,
                self.ways[0].settings.retry_seconds * len(self.ways) if isinstance(error, RunPaused) else math.inf,
                f"{error}; model {self.fallback.name!r} answers in its place",
            )

    @property
    def _place(self) -> str:
        line = self.ways[0].line
        return f"{self.name} {line.identity.model}" if line else ""


def _is_final(error: BaseException) -> bool:
    """Say whether no other way can help: the money is spent, or the governor's process is gone."""
    return isinstance(error, LimitReached) or isinstance(error.__cause__, Gone)


def _is_of_every_key(error: BaseException) -> bool:
    """Say whether no other key can help: the error is final, or the model is too slow, which no key changes."""
    return _is_final(error) or isinstance(error, TooSlow)


def _is_closed(place: str) -> bool:
    return _closed.get(place, 0.0) > running_seconds()


def _close(place: str, seconds: float, why: str) -> None:
    """Pass over a key or a model for `seconds`, and warn once."""
    if not _is_closed(place):
        _closed[place] = running_seconds() + seconds
        warnings.warn(why, stacklevel=2)


@contextmanager
def _counted(account: str) -> Iterator[None]:
    """Count a call of the account as under way inside the block."""
    _under_way[account] += 1
    _made[account] += 1
    try:
        yield
    finally:
        _under_way[account] -= 1


LATE_TRIES = 2
"""Late requests after which a call fails, with any key; each may be charged."""
TRIES_IN_PROSE = 2
"""Number of tries with a form that is answered in prose: one may be the model's slip, two mean that it is ignored."""
_FILTERED = AIMessage("", response_metadata={"finish_reason": "content_filter"})


@dataclass(frozen=True, slots=True)
class Said:
    """A model's answer with its form, the words of the prompt, and the number of requests that failed before.

    `address` is the place of the reply in the cache. `found` says that the reply was there before, so that nothing was
    asked. `imported` says that it came from a file. `free` says that no answer is charged. `not_taken` holds the
    settings that were left out. `is_of_form` says that the answer shows that the server takes the form.
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
    """The requests of one call for a reply of a shape.

    `messages` makes the messages. `wanted` is the only form, if any. `probes` and `lost` add up the requests without a
    reply. `late` counts the requests that a model did not answer in time.
    """

    messages: Callable[[Asking], list[BaseMessage]]
    shape: Shape
    wanted: ReplyForm | None = None
    probes: Spent = NO_REQUESTS
    lost: Spent = NO_REQUESTS
    late: int = 0

    async def answer(self, way: Way) -> Said:
        """Ask in the form that the server takes. Try one form after another if it is unknown or no longer taken."""
        asked, refused = 0, Exception()
        for asking, is_sure in way.forms.asked(self.shape, self.wanted):
            words = texts(self.messages(asking))
            for _ in range(1 if is_sure else TRIES_IN_PROSE):
                try:
                    message, asking, left_out = await self._with_settings_taken(way, asking)
                except Exception as error:
                    if (answer := malformed(error)) is not None:
                        free = answer.usage_metadata is None  # an answer without usage counts as lost
                        return Said(as_kept(answer), asking.form, words, asked, free=free, not_taken=asking.not_taken)
                    fault = fault_of(error)
                    if fault.kind == "filtered":  # a filter's refusal counts as an answer
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
        """Ask, and ask again without each refused setting; return the answer, its way, and the number of refusals."""
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
        """Send one request, and learn from its answer; put a request whose answer is lost in the ledger."""
        messages, line, known = self.messages(asking), way.line, way.forms.known
        loop = asyncio.get_running_loop()
        began = loop_seconds(loop)
        try:
            message = await (asking.invoke(messages) if line is None else line.ask(asking.invoke(messages)))
        except BaseException as error:  # also a cancelled request
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
    """Return the words of messages."""
    return [str(message.content) for message in messages]


def _took_form(message: AIMessage, shape: Shape) -> bool:
    """Say whether a server knows the form: a known tool is called, or the text can be read as a reply."""
    called = {call["name"] for call in (*message.tool_calls, *message.invalid_tool_calls)}
    return not called.isdisjoint({shape.kind.__name__, *shape.others}) or read(message, shape.kind).reply is not None


def _spent(message: AIMessage, settings: ModelSettings) -> Spent:
    """Return the cost of an answer that can't be used."""
    usage = usage_of(message)
    return Spent(1, usage.input_tokens, usage.output_tokens, usage.cost(settings))
