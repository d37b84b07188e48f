"""Runs an agent's code in steps, and takes apart its answer and its model calls, at the border to the room.

An agent gets copies of messages and a cancellation token of its own. Only plain words and numbers come back. Harbor
can't stop the code from ending the process, cancelling tasks of others, changing objects in memory, or blocking in a
callback or a thread of its own.

AutoGen's `RequestUsage` does not name a model. A message may name it in its metadata, under `model`. Otherwise the
model is that of the agent's only model client, if it has one and the message is the agent's own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from types import coroutine
from typing import Any, NamedTuple, TypeVar

from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseChatMessage
from autogen_core import CancellationToken
from autogen_core.models import ChatCompletionClient, RequestUsage

from harbor._core.asking.asks import Ask, Pause, Unreadable
from harbor._core.basics.actions import LONGEST, scrub
from harbor._core.basics.errors import HarborError
from harbor._core.basics.loops import loop_seconds
from harbor._core.basics.redaction import redact, told
from harbor._core.log.events import ModelCalled, SeatFailed
from harbor._core.log.players import AGENT
from harbor._doors.door import LONGEST_MODEL, MOST_TOKENS, Usage, answer_in, bounded
from harbor._house.watchdog import GRACE_SECONDS, Overdue, Step, failed, in_words, is_not_theirs

T = TypeVar("T")


class _Held(threading.local):
    seconds = 0.0


_HELD = _Held()
"""Seconds for which the steps of all agents have held this thread."""


def run_quietly(call: Callable[[], object]) -> None:
    """Run a short piece of an agent's code, and ignore its errors."""
    try:
        Step(GRACE_SECONDS).run(call)
    except Overdue:
        pass
    except BaseException as error:
        if is_not_theirs(error):
            raise


class TurnTime:
    """The time that a seat has for a turn.

    The clock stops during waits for the provider, other agents' code, and pauses of this process.

    Args:
        seconds: time for the turn.
        waited: returns the seconds that the seat has waited for the provider of its model.
    """

    def __init__(self, seconds: float, waited: Callable[[], float]) -> None:
        self._clock = partial(loop_seconds, asyncio.get_running_loop())
        self._waited = waited
        self._own = 0.0
        self._given_up = False
        self._seconds = seconds
        self._until = self._clock() + seconds - waited() - _HELD.seconds

    def left(self) -> float:
        """Return the seconds that are left; negative: the time is over."""
        return self._until + self._waited() + _HELD.seconds - self._own - self._clock()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the code of an agent to its end.

        Raises:
            Overdue: the code has held the thread beyond its time.
        """
        return await self._in_steps(work, lambda: max(self.left(), GRACE_SECONDS))

    async def suffices(self, thinking: asyncio.Future[Any]) -> bool:
        """Wait for an answer; return false if the time is over."""
        while not thinking.done():
            if (left := self.left()) <= 0:
                return False
            # Not `wait_for`: that would keep waiting for an agent that swallows its cancellation.
            await asyncio.wait({thinking}, timeout=left)
        return True

    def give_up(self) -> None:
        """Stop running the agent's code, except its close: it can't swallow the next cancellation."""
        self._given_up = True

    @coroutine
    def _in_steps(self, work: Coroutine[Any, Any, T], limit: Callable[[], float]) -> Generator[Any, Any, T]:
        go_on: Callable[[], Any] = partial(work.send, None)
        while True:
            step = Step(limit())
            try:
                waits_for = self._one(step, go_on)
            except StopIteration as end:
                if step.late:
                    raise Overdue from None
                return end.value  # type: ignore[no-any-return]
            try:
                yield waits_for
                go_on = partial(work.send, None)
            except BaseException as error:  # such as a cancellation: the agent may handle it
                if self._given_up:
                    run_quietly(work.close)
                    raise
                go_on = partial(work.throw, error)

    def _one(self, step: Step, go_on: Callable[[], Any]) -> Any:
        """Run one step; tasks that it starts run in steps too."""
        loop, began = asyncio.get_running_loop(), self._clock()
        factory = loop.get_task_factory()
        loop.set_task_factory(partial(self._start, factory or asyncio.Task))
        try:
            return step.run(go_on)
        finally:
            loop.set_task_factory(factory)
            took = self._clock() - began
            self._own += took
            _HELD.seconds += took

    def _start(self, task: Any, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **named: Any) -> Any:
        inside = self._in_background(work)
        return task(inside, loop=loop, **named) if task is asyncio.Task else task(loop, inside, **named)

    async def _in_background(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a task that an agent started.

        Raises:
            RuntimeError: the task wants to end the program, which would end the event loop for everybody.
        """
        try:
            return await self._in_steps(work, lambda: self._seconds)
        except (SystemExit, KeyboardInterrupt) as error:
            if is_not_theirs(error):
                raise
            raise RuntimeError(told(error)) from error


MODEL = "model"
"""Key of the model's name in the metadata of a message."""
MOST_MESSAGES = 10_000
"""The greatest number of inner messages of an answer, with calls or without."""
_PROVIDERS = {
    "AnthropicChatCompletionClient": "anthropic",
    "AzureOpenAIChatCompletionClient": "azure_openai",
    "OllamaChatCompletionClient": "ollama",
    "OpenAIChatCompletionClient": "openai",
}
"""Harbor's names of the providers that AutoGen's own clients call."""


def told_calls(agent: ChatAgent, response: Response) -> tuple[Usage, ...]:
    """Return the calls, one for each message with usage. The list of messages may be endless, so reading has a limit.

    Raises:
        ValueError: there are too many messages or tokens, or a number of tokens is missing.
    """
    messages = [*islice(response.inner_messages or (), MOST_MESSAGES + 1), response.chat_message]
    if len(messages) > MOST_MESSAGES + 1:
        raise ValueError(f"it has more than {MOST_MESSAGES:,} inner messages in one answer")
    used = [(message, usage) for message in messages if (usage := message.models_usage) is not None]
    own = _model_of(agent) if used else AGENT
    return bounded([_call(message, usage, agent.name, own) for message, usage in used])


def called(
    bidder: str, calls: Sequence[Usage], began: float, seconds: float, price: Callable[[str, int, int], float | None]
) -> list[ModelCalled]:
    """Return the calls as events.

    An agent does not tell when each call began. So all calls begin with the turn, and the last one lasts as long as the
    turn: they count as made one after another. A key in the name of a model is hidden.

    Args:
        bidder: the bidder that made the calls.
        calls: the calls that the agent reported.
        began: start of the turn, in seconds.
        seconds: length of the turn.
        price: returns the dollars of a call by its model and the tokens read and written.
    """
    lengths = [0.0] * (len(calls) - 1) + [seconds]
    names = {model: redact(model) or AGENT for model in {call.model for call in calls}}
    return [
        ModelCalled(
            bidder=bidder,
            purpose=AGENT,
            model=names[call.model],
            prompt="",
            attempt=1,
            outcome="ok",
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cost_dollars=price(names[call.model], call.input_tokens, call.output_tokens),
            cached=False,
            began=round(began, 6),
            seconds=round(length, 6),
            form="text",
        )
        for call, length in zip(calls, lengths, strict=False)
    ]


def _call(message: object, usage: RequestUsage, agent: str, own: str) -> Usage:
    metadata = getattr(message, "metadata", None)
    named = metadata.get(MODEL) if isinstance(metadata, Mapping) else None
    model = _name(named) or (own if getattr(message, "source", None) == agent else AGENT)
    return Usage(model=model, input_tokens=_tokens(usage.prompt_tokens), output_tokens=_tokens(usage.completion_tokens))


def _model_of(agent: ChatAgent) -> str:
    """Return the model of the agent's only client; `AGENT` if there is no such client."""
    with suppress(Exception):  # the agent's code may fail here, and the name is optional
        clients = {id(one): one for one in vars(agent).values() if isinstance(one, ChatCompletionClient)}
        [client] = clients.values()
        return _name_told_by(client) or AGENT
    return AGENT


def _name_told_by(client: ChatCompletionClient) -> str:
    """Return Harbor's name for the model of a client; the plain name, if the client has a server of its own."""
    told = client.dump_component()
    model = _name(told.config.get("model"))
    provider = _PROVIDERS.get(told.provider.rpartition(".")[2], "")
    elsewhere = told.config.get("base_url") or told.config.get("host")
    return f"{provider}:{model}" if model and provider and not elsewhere else model


def _name(told: object) -> str:
    """Return a name as plain text. Not `told[:]`: a subclass of `str` would run the agent's code."""
    return scrub(str.__getitem__(told, slice(LONGEST_MODEL))) if isinstance(told, str) else ""


def _tokens(number: object) -> int:
    if type(number) is not int or not 0 <= number <= MOST_TOKENS:
        raise ValueError(f"the models_usage of its answer has {str(number)[:30]!r}; give 0 to {MOST_TOKENS:,}")
    return number


class Said(NamedTuple):
    """An agent's answer: its words, and the model calls that it reports."""

    words: str
    calls: tuple[Usage, ...]


async def answer_of(
    agent: ChatAgent,
    heard: Sequence[BaseChatMessage],
    token: CancellationToken,
    bidder: str,
    fatal: tuple[type[HarborError], ...],
) -> Said | SeatFailed:
    """Ask an agent, and take apart its answer here, because every part may be code of the agent.

    Raises:
        HarborError: one of the `fatal` errors.
        CancelledError: the agent was cancelled, or cancelled itself.
        Overdue: the agent was interrupted.
        KeyboardInterrupt: from the user, not from the agent.
    """
    try:
        response = await agent.on_messages(heard, token)
        return Said(_words(response), told_calls(agent, response))
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        if is_not_theirs(error) or isinstance(error, fatal):
            raise
        return failed(bidder, error)


def meant(said: Said, ask: Ask | Pause | None) -> Said:
    """Put an answer in JSON into words, and add the calls that it reports; return an answer in words unchanged."""
    if not isinstance(ask, Ask):
        return said
    given = answer_in(said.words, ask)
    try:
        return Said(in_words(given.answer, ask), bounded((*said.calls, *given.usage)))
    except ValueError as error:
        return Said(in_words(Unreadable(str(error)), ask), said.calls)


def copied(messages: Sequence[BaseChatMessage]) -> list[BaseChatMessage]:
    """Return copies of messages, so that changes by one agent reach nobody else."""
    return [message.model_copy(deep=True) for message in messages]


def linked(house: CancellationToken) -> CancellationToken:
    """Return a token that is cancelled with the house's, and that cancels no other."""
    own = CancellationToken()
    house.add_callback(lambda: run_quietly(own.cancel))
    return own


def _words(response: Response) -> str:
    text: object = response.chat_message.to_text()
    if not isinstance(text, str):
        raise TypeError(f"the text of its answer is {type(text).__name__}; give words")
    enough = str.__getitem__(
        text, slice(2 * LONGEST + 2)
    )  # not text[:]: the slice of a subclass of str would run the agent's code
    return scrub(enough)[: LONGEST + 1]  # one character too many, so that a longer text is refused
