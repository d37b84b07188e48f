"""The waiting time of a bidder is measured, the duration of a request is limited, and a lost request is priced.

A request is lost if no answer came. The provider may charge for it all the same, so the ledger has an upper bound of
its cost. A request may take as long as the settings say, or longer if the model's own speed explains it. The time that
a bidder waits for its provider is not its own time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from harbor._config.models import ModelSettings
from harbor._core.basics.loops import loop_seconds, running_timeout
from harbor._core.log.events import Spent
from harbor._models.calls.faults import chain_of, is_unconnected, status_of
from harbor._models.calls.messages import WRITING
from harbor._models.passports.passport import Known, Passport


def _seconds() -> float:
    """Read the clock that times the turns of this event loop, in seconds."""
    return loop_seconds(asyncio.get_running_loop())


@dataclass
class Waiting:
    """Measures the time that a bidder has waited, in seconds; concurrent calls count once."""

    clock: Callable[[], float] = _seconds
    _before: float = 0.0
    _since: float = 0.0
    _calls: int = 0

    @property
    def seconds(self) -> float:
        """The total waiting time up to now, in seconds."""
        return self._before + (self.clock() - self._since if self._calls else 0.0)

    @property
    def is_on(self) -> bool:
        """Say whether the bidder waits now."""
        return self._calls > 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time inside."""
        if not self._calls:
            self._since = self.clock()
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._before += self.clock() - self._since


GIVEN_UP = (504, 524)
"""HTTP statuses of a gateway that waited for the model in vain; any other error status means that nothing answered."""
LATE = ("ReadTimeout", "StreamChunkTimeoutError")
"""Names of errors in client packages for an answer that did not come in time."""
MOST_OUTPUT = 131_072
"""Assumed limit of tokens per answer if none is known: no known model writes more."""
FOR_THE_CALL, FOR_A_MESSAGE = 1_000, 20
"""Tokens that providers add to a prompt: Anthropic up to 800 for tools, all a few for the role of each message."""
_MILLION = 1_000_000  # prices are dollars per million tokens


def may_be_charged(error: BaseException) -> bool:
    """Say whether a request that ended in this error may have been answered: it was sent, and not refused."""
    status = status_of(error)
    if status is not None and status >= 400:
        return status in GIVEN_UP
    return not is_unconnected(error)


def is_late(error: BaseException) -> bool:
    """Say whether a request was sent, and was given up because no answer came in time."""
    timed_out = any(isinstance(one, TimeoutError) and one.errno is None for one in chain_of(error))
    return (timed_out or _is_one(error, LATE)) and not is_unconnected(error)


def _is_one(error: BaseException, names: Sequence[str]) -> bool:
    return any(kind.__name__ in names for one in chain_of(error) for kind in type(one).__mro__)


def most_spent(
    messages: Sequence[BaseMessage],
    schema: Mapping[str, Any],
    settings: ModelSettings,
    passport: Passport,
    chat: BaseChatModel,
) -> Spent:
    """Return the highest possible cost of one request; a token has at least one byte."""
    sent = (*(str(message.content) for message in messages), json.dumps([schema, settings.extra], ensure_ascii=False))
    read = sum(len(text.encode(errors="replace")) for text in sent) + FOR_THE_CALL + FOR_A_MESSAGE * len(messages)
    written = _most_output(settings, passport, chat)
    if settings.input_price is None or settings.output_price is None:
        return Spent(1, read, written, None)
    dollars = (read * WRITING * settings.input_price + written * settings.output_price) / _MILLION
    return Spent(1, read, written, dollars)


def _most_output(settings: ModelSettings, passport: Passport, chat: BaseChatModel) -> int:
    """Return the most tokens of an answer; ignore a limit that the server does not take."""
    given = None if "max_tokens" in passport.not_taken else settings.max_tokens
    return given or passport.most_output_tokens or (chat.profile or {}).get("max_output_tokens") or MOST_OUTPUT


T = TypeVar("T")
REQUEST_SECONDS = 900.0
"""Seconds that a request to an unknown model may take, because a thinking model takes minutes."""
SLOWER = 2
"""Multiple of the longest answer so far that the next answer may take."""
MOST_SECONDS = 3_600.0
"""The longest time in seconds that a request gets because earlier answers were slow; a server may hang."""


class Late(TimeoutError):
    """A request was sent, and no answer came in time."""


def longest(settings: ModelSettings, known: Passport) -> float:
    """Return the seconds that a request may take."""
    most = settings.max_tokens
    written = most * known.seconds / known.output_tokens if most and known.output_tokens else 0.0
    expected = min(max(SLOWER * known.slowest, written), MOST_SECONDS)
    return max(settings.timeout_seconds or REQUEST_SECONDS, expected)


async def in_time(request: Awaitable[T], settings: ModelSettings, known: Known) -> T:
    """Wait for the answer to a request, and note its duration, from which the limit of the next request follows.

    Raises:
        Late: the answer took longer than allowed.
    """
    loop, limit = asyncio.get_running_loop(), longest(settings, known.passport)
    began = loop_seconds(loop)
    try:
        async with running_timeout(limit):
            answer = await request
    except Exception as error:
        if not is_late(error):
            raise
        seconds = loop_seconds(loop) - began
        _note(known, seconds)
        raise Late(f"no answer in {seconds:.1f} s") from error
    _note(known, loop_seconds(loop) - began)
    return answer


def _note(known: Known, seconds: float) -> None:
    if seconds > known.passport.slowest:
        known.learn(slowest=seconds)
