"""In the line to a provider a call waits for its turn, is retried while that may help, and otherwise stops the run.

Only the line retries calls. The retries of the providers' packages are switched off.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Any, ClassVar, TypeVar

from langchain_core.language_models import BaseChatModel

from harbor._config.models import ModelSettings
from harbor._core.basics.errors import KeyRefused, ModelError, PromptTooLong, RunPaused, TooSlow
from harbor._core.basics.loops import running_seconds
from harbor._models.calls.faults import (
    FOR_GOOD,
    LONGEST_ASKED,
    Fault,
    at_host,
    end_of_pause,
    fault_of,
    host_of,
    host_of_client,
    is_of_key,
    is_unconnected,
    status_in_words,
)
from harbor._models.calls.forms import remedy_in
from harbor._models.calls.waiting import Waiting, in_time, longest, may_be_charged
from harbor._models.governor.local import governor as of_this_process
from harbor._models.governor.terms import (
    Answered,
    Busy,
    Failed,
    Gone,
    Governor,
    Limits,
    Refused,
    Request,
    Stopped,
    TooLong,
    Verdict,
    Wait,
)
from harbor._models.passports.passport import Known, unknown


@dataclass(frozen=True, slots=True)
class Identity:
    """The account, the model and the server of a call; none contains a key.

    `host` is the server's host name for messages.
    """

    account: str
    model: str
    server: str = ""
    host: str = ""


def identity_of(chat: BaseChatModel, settings: ModelSettings) -> Identity:
    """Return the account, model and server of a chat model."""
    kept: dict[str, Any] = vars(chat)
    keys = [str(value.get_secret_value()) for value in kept.values() if hasattr(value, "get_secret_value")]
    keys.append(str(kept.get("client_kwargs")))  # Ollama's package keeps the header with its key there
    places = [kept.get(name) for name in ("openai_api_base", "anthropic_api_url", "base_url", "endpoint")]
    address = settings.base_url or next((place for place in places if isinstance(place, str)), "")
    provider = settings.use.partition(":")[0]
    account = " ".join((provider, type(chat).__name__, address, _digest(*keys)))
    model = _digest(account, settings.model_dump_json(), repr(chat._identifying_params))
    host = host_of(address) if address else host_of_client(chat) or provider
    return Identity(account, model, address or provider, host)


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode(errors="replace")).hexdigest()[:12]


T = TypeVar("T")
Attempt = Callable[[], Awaitable[tuple[T, int]]]
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
"""Limits of seconds before a retry, after a first failure and after many."""
OWN_SHARE = 2
"""Multiple of `retry_seconds` for which a call is tried while others are answered; then the call itself fails."""
ODD_TRIES = 5
"""Tries with a server that has never answered and sends answers that no model's server would send."""
_SHORTER = "have fewer items, a lower max_tokens, or a model or a fallback with a longer context"
_answered: dict[str, float] = {}
"""Time when each account last answered a call of this process, in running seconds."""
_odd = Counter[str]()
"""Number of odd answers from each account that has never answered a call."""
_calls = count(1)
"""Numbers the calls of this process, so that their waits can be shown."""


@dataclass
class Line:
    """Carries the calls of one bidder to a model.

    `age` is the age of the bidder's game; the lowest goes first. `waiting` counts the time that is not the bidder's
    own. `known` is the passport of the model. `is_live` says that calls go one by one, so that the duration of a call
    is the model's own.
    """

    name: str
    settings: ModelSettings
    identity: Identity
    age: tuple[int, ...] = ()
    waiting: Waiting = field(default_factory=Waiting)
    governor: Governor = field(default_factory=of_this_process)
    known: Known = field(default_factory=unknown)
    is_live: ClassVar[bool] = True

    async def send(self, attempt: Attempt[T], tokens: int) -> tuple[T, int]:
        """Make a call until it is answered; return the answer and the number of failed requests.

        Args:
            attempt: makes the call; returns the answer and its tokens.
            tokens: the estimated tokens of the call.

        Raises:
            ModelError: the provider refuses the call, and would again.
            RunPaused: nothing was answered for as long as the settings allow, the provider asks to wait for longer, or
                two requests were not answered in time.
        """
        with self.waiting.counted():
            return await self._send(attempt, tokens)

    def spend(self, dollars: float | None) -> None:
        """Report the cost of a call to the governor. Skip an unknown cost (None) if the model has a price."""
        unknown = None in (self.settings.input_price, self.settings.output_price)
        if dollars or (dollars is None and unknown):
            self.governor.spend(dollars)

    async def _send(self, attempt: Attempt[T], tokens: int) -> tuple[T, int]:
        trouble: float | None = None
        failures, number = 0, next(_calls)
        try:
            while True:
                try:
                    return await self._once(attempt, tokens), failures
                except _Faulty as faulty:
                    trouble = trouble or running_seconds()
                    failures += 1
                    fault = at_host(faulty.fault, faulty.__cause__, self.identity.host)
                    pause = self._pause(fault, failures, trouble)
                    self.governor.note(number, self._wait(faulty, failures, trouble))
                    await asyncio.sleep(pause)
                except Gone as error:
                    raise RunPaused(str(error)) from error
                except Stopped as error:  # the first call, which went alone, was refused
                    raise (KeyRefused if is_of_key(str(error)) else ModelError)(str(error)) from error
                except TooLong as error:
                    raise RunPaused(f"{self._who} {self._asks(error.seconds)}") from error
        finally:
            if failures:
                self.governor.note(number, None)

    def _wait(self, faulty: _Faulty, failures: int, trouble: float) -> Wait:
        """Describe the wait of a failed call for display."""
        fault, error = faulty.fault, faulty.__cause__
        return Wait(
            self.identity.host,
            self._shown,
            status_in_words(fault, error),
            running_seconds() - trouble,
            min(self._left(trouble), LONGEST_ASKED),
            failures,
            fault.retry_after or 0.0,
            is_unconnected(error),
        )

    async def _once(self, attempt: Attempt[T], tokens: int) -> T:
        """Make a call when the governor admits it.

        Raises:
            _Faulty: the call failed, and may be retried.
            ModelError: the call failed for good.
            TooLong: the provider has asked for a longer pause than the run waits for.
        """
        limits = Limits(
            self.settings.max_concurrent, self.settings.requests_per_minute, self.settings.tokens_per_minute
        )
        ticket = await self.governor.enter(
            Request(
                self.identity.account,
                self.identity.model,
                self.age,
                tokens,
                limits,
                self.settings.retry_seconds,
                self.identity.host,
                self._shown,
            )
        )
        verdict: Verdict = Failed()
        try:
            answer, taken = await attempt()
        except TooSlow:
            raise
        except Exception as error:
            fault = self._judged(fault_of(error))
            verdict = self._verdict(fault)
            raise self._failure(fault, verdict) from error
        else:
            verdict = Answered(taken)
            self._note_answer()
            return answer
        finally:
            self.governor.leave(ticket, verdict)

    async def ask(self, request: Awaitable[T]) -> T:
        """Wait for the answer to one request, for as long as the model may take.

        Raises:
            Late: the answer takes longer.
        """
        return await in_time(request, self.settings, self.known)

    def may_be_charged(self, error: BaseException) -> bool:
        """Say whether the provider may charge a request that ended in this error."""
        return may_be_charged(error)

    def _note_answer(self) -> None:
        _answered[self.identity.account] = running_seconds()

    def _judged(self, fault: Fault) -> Fault:
        """Treat an odd error as passing if the server has answered before: it may be a proxy's error page."""
        if fault.kind == "odd" and self.identity.account in _answered:
            return Fault("passing", fault.words)
        _odd[self.identity.account] += fault.kind == "odd"
        return fault

    def _verdict(self, fault: Fault) -> Verdict:
        if fault.kind in FOR_GOOD:
            return Refused(f"{self._who} is refused: {fault.words}{remedy_in(fault.words, self.name, self.settings)}")
        if fault.kind == "odd" and _odd[self.identity.account] >= ODD_TRIES:
            return Refused(f"{self._who}{self._at} gives no answer that its provider's package can read: {fault.words}")
        return Busy(fault.retry_after) if fault.kind == "busy" else Failed()

    def _failure(self, fault: Fault, verdict: Verdict) -> Exception:
        if fault.kind == "long":
            if fault.most_tokens is not None:
                self.known.learn(context_tokens=fault.most_tokens)
            return PromptTooLong(f"{self._who} takes no prompt as long as this one: {fault.words}; {_SHORTER}")
        if isinstance(verdict, Refused):
            return (KeyRefused if fault.kind == "key" else ModelError)(verdict.words)
        return _Faulty(fault)

    def _pause(self, fault: Fault, failures: int, trouble: float) -> float:
        """Return the seconds to wait before the next try; 0 after "busy", because then the governor paces the calls.

        Raises:
            RunPaused: this call and all others of the account have been tried for long enough.
        """
        left = self._left(trouble)
        asked = fault.retry_after or 0.0
        wait = 0.0 if fault.kind == "busy" else asked or backoff(failures)
        if left <= 0 or max(wait, asked) > left:
            asks = f"{self._asks(asked)}; it " if asked > max(left, 0.0) else ""
            failed = f"{failures} request{'s' * (failures > 1)} in {running_seconds() - trouble:.1f} s{self._at}"
            raise RunPaused(f"{self._who} {asks}has not answered {failed}, last: {fault.words}")
        return wait

    def _left(self, trouble: float) -> float:
        """Return the seconds for which a call is still tried; `trouble` is the time of its first failure."""
        since = max(trouble, _answered.get(self.identity.account, trouble))
        patience = self.settings.retry_seconds
        return min(since + patience, trouble + OWN_SHARE * patience) - running_seconds()

    @property
    def _shown(self) -> str:
        """The model's name for display beside its host: the user's name, or the provider's."""
        return self.name.partition(":")[2] if self.name == self.settings.use else self.name

    @property
    def _who(self) -> str:
        return f"model {self.name!r} ({self.settings.use})"

    @property
    def _at(self) -> str:
        return f" at {self.identity.host}" if self.identity.host else ""

    def too_slow(self, requests: int, last: str) -> str:
        """Write the message that a model has not answered so many requests of one call in time, with the remedy."""
        most = f"{longest(self.settings, self.known.passport):.1f}"
        return (
            f"{self._who}{self._at} has not answered {requests} requests of one call in time, last: {last};"
            f" see whether its server is well, then resume: it waits up to {most} s for an answer (a new run does"
            f" so from its start with --set models.{self.name}.timeout_seconds={most})"
        )

    def _asks(self, seconds: float) -> str:
        return f"asks to wait until {end_of_pause(seconds)}, and a run waits for {self.settings.retry_seconds:g} s"


class _Faulty(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.words)
        self.fault = fault


def backoff(failures: int) -> float:
    """Return the seconds to wait after so many failures in a row, with jitter so that callers spread."""
    return random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (failures - 1))
