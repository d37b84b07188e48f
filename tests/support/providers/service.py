"""A provider's handling of a request: it admits or refuses it, answers it by the model, and fails on demand."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from support.providers.batches import Batches
from support.providers.faults import STUCK, Faults, cut_off, misspoken, refused, spoiled, wrong_key
from support.providers.limits import Gate, Limits
from support.providers.mind import Mind
from support.providers.openai_chat import streamed
from support.providers.routes import AZURE, dialect_of, is_model
from support.providers.speech import Asked, Said, Trouble
from support.providers.wire import EVENTS, LINES, Question, Reply, encoded

WITHOUT_ANSWER = ("reset", "hang", "endless")
SNAPSHOTS = {"gpt-4o-mini": "gpt-4o-mini-2024-07-18", "gpt-4o": "gpt-4o-2024-08-06"}
"""The model that answers, by the requested name."""


@dataclass(slots=True)
class Heard:
    """A request: its number from 1, its start and end by `time.monotonic`, and its outcome.

    `body` is JSON if it can be parsed, and bytes otherwise. `status` is 0 if nothing was answered. `fault` is the fault
    on demand. `read` and `written` are the tokens that the model has used, also if its answer was lost.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    body: Any
    began: float
    ended: float = 0.0
    status: int = 0
    fault: str = ""
    read: int = 0
    written: int = 0


@dataclass
class Service:
    """A provider without its sockets. All attributes except `mind` can be set at any time.

    Args:
        mind: the model.
        key: the required key (None: no key).
        latency: seconds that a model takes to answer.
        limits: the limits on calls.
        faults: the faults and their frequency.
        refuses: parameters that are refused with 400, in the provider's words, such as "temperature", "tools",
            "tool_choice.required" or "response_format.json_schema".
        ignores: parameters that turn the reply into prose: "tools" for a server that drops them.
        gone: models that do not exist.

    Attributes:
        fates: the fault of all requests with a key, after a number of answers to the key.
        streams: True if replies of OpenAI's chat completions come only as a stream.
        context: most tokens of a prompt.
        rewrite: rewrites a reply, as JSON of its wire format.
    """

    mind: Mind
    key: str | None = None
    latency: float = 0.0
    limits: Limits = field(default_factory=Limits)
    faults: Faults | None = None
    refuses: Collection[str] = ()
    ignores: Collection[str] = ()
    gone: Collection[str] = ()

    def __post_init__(self) -> None:
        self.requests: list[Heard] = []
        self.gate = Gate()
        self.batches = Batches(self.answered)
        self.unavailable = False
        self.stuck = 0  # requests so far that end only when the client leaves
        self.fates: dict[str, tuple[str, int]] = {}
        self.streams = False
        self.context: int | None = None
        self.rewrite: Callable[[Asked, Any], Any] = lambda _, reply: reply
        self.charged = 0  # tokens of all answers, input plus output
        self._answers = count(1)
        self._times = Counter[tuple[str, bytes]]()

    def _told(self, path: str, body: Mapping[str, Any], asked: Asked, said: Said) -> Any:
        self.charged += said.read + said.written
        reply = self.rewrite(asked, dialect_of(path).say(asked, said, next(self._answers)))
        return streamed(reply, bool((body.get("stream_options") or {}).get("include_usage"))) if self.streams else reply

    def _thought_out(self, path: str, body: Mapping[str, Any], fault: str) -> tuple[Asked, Said]:
        dialect = dialect_of(path)
        if self.streams:
            if not body.get("stream"):
                raise Trouble(400, "parameter", "This model only supports streaming: stream must be true.", "stream")
            body = {name: value for name, value in body.items() if name != "stream"}
        try:
            asked = dialect.hear(path, body)
        except (KeyError, TypeError, AttributeError) as error:
            raise Trouble(400, "parameter", f"The request is malformed: {error!r}", "messages") from error
        self._refuse(asked)
        said = self.mind.reply(asked)
        if self.context is not None and said.read > self.context:
            raise Trouble(400, "long", dialect.TOO_LONG.format(read=said.read, most=self.context))
        said = replace(said, model=SNAPSHOTS.get(said.model, said.model))
        said = misspoken(said, "prose" if asked.parameters & set(self.ignores) else fault)
        if asked.most and said.written > asked.most:
            said = cut_off(said, asked.most)
        return asked, said

    def answered(self, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        """Answer a request of a batch with the status and the body that it would get alone."""
        question = Question("POST", path, {}, encoded(body))
        try:
            fault = self._fault(question, len(self.requests))
            self._go_wrong(question, fault)
            return 200, self._told(path, body, *self._thought_out(path, body, fault))
        except Trouble as trouble:
            return dialect_of(path).complain(trouble)

    async def attend(self, question: Question, deliver: Callable[[Reply], Awaitable[bool]]) -> bool:
        """Reply to a request, and count it as concurrent until the reply is delivered."""
        heard = self._note(question)
        entered = is_model(question.path) and self.gate.enter(self.limits, heard.began)
        try:
            reply = await self._reply(question, heard, entered)
            heard.ended = time.monotonic()  # set before delivery, as a client with the reply may read it
            heard.status = 0 if reply.manner in WITHOUT_ANSWER else reply.status
            self.stuck += reply.manner in STUCK
            return await deliver(reply)
        finally:
            heard.ended = time.monotonic()
            if entered:
                self.gate.leave()

    async def _reply(self, question: Question, heard: Heard, entered: bool) -> Reply:
        dialect = dialect_of(question.path)
        try:
            self._admit(question, dialect.key(question.headers), entered)
            if AZURE in question.path and "api-version=" not in question.query:
                raise Trouble(404, "path", "Resource not found")
            return spoiled(await self._served(question, heard), heard.fault)
        except Trouble as trouble:
            status, words = dialect.complain(trouble)
            return Reply(status, encoded(words), headers=trouble.headers or {})

    def _admit(self, question: Question, key: str, entered: bool) -> None:
        if self.unavailable:
            raise Trouble(503, "unavailable", "The service is temporarily unavailable.")
        if self.key is not None and key != self.key:
            raise wrong_key(key)
        self._meet_fate(key)
        if is_model(question.path) and not entered:
            wait = self.limits.retry_after
            headers = None if wait is None else {"retry-after": f"{wait:g}"}
            raise Trouble(429, "rate", "Rate limit reached for requests.", headers=headers)

    def _meet_fate(self, key: str) -> None:
        kind, after = self.fates.get(key, ("", 0))
        if kind and self.answers_to(key) >= after and (trouble := Faults(kind).trouble(kind, key)):
            raise trouble

    def answers_to(self, key: str) -> int:
        """Count the answers to a key."""
        mine = [heard for heard in self.requests if dialect_of(heard.path).key(heard.headers) == key]
        return sum(heard.status == 200 for heard in mine)

    async def _served(self, question: Question, heard: Heard) -> Reply:
        heard.fault = self._fault(question, heard.number)
        self._go_wrong(question, heard.fault)
        if not is_model(question.path):
            return Reply() if heard.fault in WITHOUT_ANSWER else self._of_batches(question)
        asked, thought = self._thought_out(question.path, heard.body, heard.fault)
        heard.read, heard.written = thought.read, thought.written
        if heard.fault in WITHOUT_ANSWER:
            return Reply()
        if self.latency:
            await asyncio.sleep(self.latency)
        said = self._told(question.path, heard.body, asked, thought)
        if self.streams:
            chunks = [*map(encoded, said), b"[DONE]"]
            return Reply(200, b"".join(b"data: " + chunk + b"\n\n" for chunk in chunks), EVENTS)
        if isinstance(said, list):
            return Reply(200, b"".join(encoded(line) + b"\n" for line in said), LINES)
        return Reply(200, encoded(said))

    def _of_batches(self, question: Question) -> Reply:
        try:
            return self.batches.reply(question)
        except (KeyError, TypeError, ValueError) as error:
            raise Trouble(400, "parameter", f"The request is malformed: {error!r}") from error

    def _fault(self, question: Question, number: int) -> str:
        """Return the fault of a request. The same request may get another fault the next time."""
        if self.faults is None:
            return ""
        same = question.path, question.body
        self._times[same] += 1
        return self.faults.hit(question, number, self._times[same])

    def _go_wrong(self, question: Question, fault: str) -> None:
        if trouble := self.faults and self.faults.trouble(fault, dialect_of(question.path).key(question.headers)):
            raise trouble

    def _refuse(self, asked: Asked) -> None:
        if asked.model in self.gone:
            raise Trouble(404, "model", f"The model `{asked.model}` does not exist or you do not have access to it.")
        for parameter in sorted(asked.parameters & set(self.refuses)):
            raise refused(parameter)

    def _note(self, question: Question) -> Heard:
        try:
            body = json.loads(question.body) if question.body else None
        except ValueError:
            body = question.body
        number = len(self.requests) + 1
        heard = Heard(number, question.path, question.headers, body, time.monotonic())
        self.requests.append(heard)
        return heard
