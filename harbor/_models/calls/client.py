"""One attempt at a call is replayed or made, and then logged."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._config.protocol_replies import OwnReply
from harbor._core.asking.decisions import InWords
from harbor._core.basics.errors import CallFailed, HarborError, ModelError, RunPaused, UnreadableReply
from harbor._core.basics.redaction import redact
from harbor._core.log.events import NO_REQUESTS, EventSink, Spent
from harbor._models.calls.forms import FORMS, Asking, Forms
from harbor._models.calls.line import Line, identity_of
from harbor._models.calls.messages import (
    as_message,
    as_reply,
    beyond,
    in_words,
    message_of,
    reasoning_of,
    usage_of,
    written,
)
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reply_shapes import Shape, Words, read, usable
from harbor._models.calls.requests import Pool, Requests, Said, Way, texts
from harbor._models.governor.terms import Gone
from harbor._models.replies.cache import CallRequest, GameCache, is_cached
from harbor._models.replies.replay import CallBudget, CallOutcome, RawCall, ReplayCache, question_of

CHARACTERS_PER_TOKEN = 4  # to estimate the tokens of a prompt before it is sent
REPLY_TOKENS = 300
"""Estimated tokens of a reply before it arrives, if the settings have no `max_tokens`."""


@dataclass
class Call:
    """An attempt, from its start to its event in the log; `repaired` holds the messages since the prompt.

    `way` is the last way that was asked, and `pool` holds its model. `failures` counts the models that could not answer
    before. `admitted` says that the budget expects a charge. `said` is the answer. `ended` says that the attempt is in
    the log. `probes_before` and `lost_before` are the costs of requests without a reply in an interrupted session.
    """

    model: ModelClient
    prompt: Prompt
    repaired: Sequence[BaseMessage]
    shape: Shape
    attempt: int
    began: float
    recorded: RawCall | None = None
    admitted: bool = False
    failures: int = 0
    said: Said | None = None
    ended: bool = False
    probes_before: Spent = NO_REQUESTS
    lost_before: Spent = NO_REQUESTS
    requests: Requests = field(init=False)
    pool: Pool = field(init=False)
    way: Way = field(init=False)

    def __post_init__(self) -> None:
        messages = partial(_messages, self.prompt, self.repaired)  # a method would make the call hold itself
        self.requests = Requests(lru_cache(len(FORMS))(messages), self.shape, self.model.reply)
        self._turn_to(self.model.ways)

    def _turn_to(self, pool: Pool) -> None:
        self.pool, self.way, self.requests.late = pool, pool.ways[0], 0

    def _first(self) -> Asking:
        return next(self.pool.ways[0].forms.asked(self.shape, self.model.reply))[0]

    async def run(self) -> Said:
        """Return the reply that an interrupted run has recorded, or make the call."""
        self.recorded = self._find_recorded()
        if self.recorded is not None:
            if (cache := self._cache) is not None:
                cache.count(self._recorded_request(self.recorded))
            return self._replayed(self.recorded)
        words = texts(self.requests.messages(self._first()))
        question = question_of(self.model.bidder, self.prompt.name, self.attempt, words)
        self.probes_before, self.lost_before = self.model.replay.in_vain(question)
        said = await self._answered()
        if self.model.reply is None and said.is_of_form:
            self.way.forms.works(said.form)
        return said

    def _find_recorded(self) -> RawCall | None:
        """Find the call in the records, in any form and with any model of the pool."""
        if not self.model.replay.may_have(self.model.bidder):
            return None
        pools, wanted = self.model.ways.every(), self.model.reply
        asked = (asking for pool in pools for asking in pool.ways[0].forms.every(self.shape, wanted))
        ways = {(one.told, one.named): one for one in asked}.values()
        words = [texts(self.requests.messages(asking)) for asking in ways]
        recorded = self.model.replay.call(self.model.bidder, self.prompt.name, self.attempt, words)
        if recorded is not None and recorded.fallback:
            self._turn_to(self.model.ways.named(recorded.fallback))
        return recorded

    async def _answered(self) -> Said:
        """Ask the model, and its fallback if the model can't answer."""
        for pool in self.model.ways.open():
            self._turn_to(pool)
            try:
                return await (self._paid() if (cache := self._cache) is None else self._kept(cache))
            except (ModelError, RunPaused) as error:
                if not pool.leads_on(error):
                    raise
                pool.pass_over(error)
                self.failures += 1
        raise AssertionError("the last model is always asked")

    @property
    def _cache(self) -> GameCache | None:
        return self.model.cache if is_cached(self.way.settings) else None

    async def _kept(self, cache: GameCache) -> Said:
        """Return the kept reply in any form; otherwise make the call and keep its reply."""
        requests = self._maybe_kept()
        with _waiting(self.way.line):
            async with cache.alone(*requests):
                for request in requests:
                    if (found := cache.find(request)) is not None:
                        at, words = found.address, [text for _, text in request.messages]
                        how = request.form, words, 0, at
                        return Said(as_message(found), *how, True, imported=found.imported, not_taken=request.not_taken)
                said = await self._paid()
                asked = self._asked_at_last(requests, said)
                kept = (asked not in requests and cache.find(asked)) or cache.keep(asked, as_reply(said.message))
        # Another game may have kept its reply meanwhile. This call is paid for all the same.
        told = ("usage_metadata", "response_metadata", "additional_kwargs")
        beside = {name: getattr(said.message, name) for name in told}
        message = message_of(kept.reply, kept.message).model_copy(update=beside)
        return replace(said, message=message, address=kept.address, imported=kept.imported)

    def _maybe_kept(self) -> list[CallRequest]:
        """List the requests under which the reply may be kept: every form with every set of left-out settings."""
        forms = self.pool.ways[0].forms
        askings = forms.maybe_asked(self.shape, self.model.reply)
        return [self._request(asking, left_out) for left_out in forms.maybe_not_taken() for asking in askings]

    def _request(self, asking: Asking, left_out: tuple[str, ...]) -> CallRequest:
        words = [[message.type, str(message.content)] for message in self.requests.messages(asking)]
        settings = self.pool.ways[0].forms.sent_without(left_out)
        return CallRequest(settings, asking.form, self.shape.schema, words, self.attempt, left_out)

    def _recorded_request(self, call: RawCall) -> CallRequest:
        asking = self.pool.ways[0].forms.asked_as(self.shape, call.form)
        return self._request(asking, call.not_taken)

    def _asked_at_last(self, requests: Sequence[CallRequest], said: Said) -> CallRequest:
        """Return the request that was answered. It is a new one if another call has learned something meanwhile."""
        for request in requests:
            if (request.form, request.not_taken) == (said.form, said.not_taken):
                return request
        asking = self.pool.ways[0].forms.asked_as(self.shape, said.form)
        return self._request(asking, said.not_taken)

    async def _paid(self) -> Said:
        """Make the call. Log a failed call with the form and the words that were tried first."""
        asking = self._first()
        words = texts(self.requests.messages(asking))
        if self.model.budget is not None and not self.admitted:
            with _waiting(self.way.line):  # waiting for others' calls is not the bidder's own time
                await self.model.budget.admit()
            self.admitted = True
        try:
            return await self._sent(words)
        except BaseException as error:  # log a cancelled call too, because it may have been paid for
            if self.pool.leads_on(error):
                raise
            why = str(error) if isinstance(error, HarborError) else f"{type(error).__name__}: {error}"
            unanswered = isinstance(error, ModelError | RunPaused)
            self.log("failed", Said(AIMessage(""), asking.form, words, free=True), redact(why))
            if self.model.play_on and unanswered and not isinstance(error.__cause__, Gone):
                raise CallFailed(str(error)) from error
            raise

    async def _sent(self, words: list[str]) -> Said:
        tokens = sum(map(len, words)) // CHARACTERS_PER_TOKEN + (self.model.settings.max_tokens or REPLY_TOKENS)

        async def attempt(way: Way) -> tuple[Said, int]:
            self.way = way
            said = await self.requests.answer(way)
            used = said.message.usage_metadata
            return said, used["total_tokens"] if used else tokens

        said, failures = await self.pool.send(attempt, tokens)
        self.said = replace(said, retries=said.retries + failures + self.failures)
        return self.said

    def break_off(self, error: BaseException) -> None:
        """Log a paid call as failed if an error of our own stopped its use."""
        if self.said is not None and not self.ended:
            self.log("failed", self.said, redact(f"{type(error).__name__}: {error}"))

    def _replayed(self, recorded: RawCall) -> Said:
        if recorded.outcome == "failed":
            self.model.sink(recorded.event)
            raise CallFailed(recorded.error)
        message = message_of(recorded.reply, recorded.message)
        message.response_metadata = {"finish_reason": recorded.finish}  # the stop reason marks a refusal
        return Said(message, recorded.form, recorded.prompt)

    def log(self, outcome: CallOutcome, said: Said, complaint: str, marks: tuple[str, ...] = ()) -> None:
        """Write the attempt to the log. Also record and charge an attempt that was not replayed."""
        call = self.recorded or self._made(outcome, said, complaint, marks)
        self.ended = True
        self.model.sink(call.event)
        if self.recorded is not None:
            return
        self.model.keep(call)
        now = replace(call, probes=self.requests.probes, lost=self.requests.lost)  # earlier costs are paid
        if self.model.budget is not None and self.admitted:
            self.model.budget.charge(now)
        if self.way.line is not None and not said.found:
            self.way.line.spend(now.dollars)

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
            cost_dollars=0.0 if said.free else usage.cost(self.way.settings),
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
            imported=said.imported,
            marks=marks,
            reasoning=reasoning_of(said.message),
            not_taken=said.not_taken,
            key_env="" if said.found else self.way.key_env,
            fallback="" if self.pool is model.ways else self.pool.name,
            probes=self.probes_before + self.requests.probes,
            lost=self.lost_before + self.requests.lost,
            answer_id=str(said.message.response_metadata.get("id", "")),
        )


def _messages(prompt: Prompt, repaired: Sequence[BaseMessage], asking: Asking) -> list[BaseMessage]:
    earlier = [said for turn in prompt.earlier for said in (HumanMessage(turn[0]), AIMessage(turn[1]))]
    first, last = SystemMessage(prompt.system + asking.told), HumanMessage(prompt.human + asking.named)
    return [first, *earlier, last, *repaired]


def _waiting(line: Line | None) -> AbstractContextManager[None]:
    """Count the time inside as waiting, not as the bidder's own. The built-in model (no line) causes no waiting."""
    return line.waiting.counted() if line else nullcontext()


Reply = TypeVar("Reply", bound=BaseModel)


@dataclass
class ModelClient:
    """A model as one bidder uses it.

    `sink` takes the events, `keep` the raw calls. `clock` returns seconds since the log was opened. A call is not made
    if `replay` has recorded it or `cache` has its reply. Any other call waits until `budget` (if given) admits it, and
    uses a key of the `pool` (None: the key of the chat model). With `play_on` the bidder continues without a call that
    is never answered. `reply` is the only form of replies that the bidder wants (None: any).
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
    cache: GameCache | None = None
    play_on: bool = False
    pool: Pool | None = None
    reply: ReplyForm | None = None

    @property
    def ways(self) -> Pool:
        """The ways to the model. The built-in model runs in this process and needs no line."""
        if self.pool is None:
            built_in = self.settings.use == BUILT_IN
            line = None if built_in else Line(self.name, self.settings, identity_of(self.chat, self.settings))
            self.pool = Pool(self.name, (Way(self.settings, Forms(self.chat, self.settings), line),))
        return self.pool

    async def ask(
        self,
        prompt: Prompt,
        reply_type: type[Reply],
        check: Callable[[Reply], str] = lambda _: "",
        repairs: int | None = None,
        words: Words = lambda _: None,
    ) -> Reply:
        """Ask for a structured reply, and ask again with the complaint if the reply can't be used.

        Args:
            prompt: the filled prompt.
            reply_type: the shape of the reply.
            check: returns the error in a well-formed reply, or "" if there is none.
            repairs: how often to ask again (None: as the model's settings say).
            words: reads a reply from a text without an object; returns None if the text holds no reply.

        Raises:
            UnreadableReply: no reply was usable within the repairs.
            CallFailed: the call was never answered, and the bidder plays on.
            ModelError: the provider refuses the call.
            RunPaused: the provider can't be reached.
        """
        repaired: list[BaseMessage] = []
        last = 1 + (self.settings.repairs if repairs is None else repairs)
        shape, complaint = Shape.of(reply_type, prompt.offered), ""
        for attempt in range(1, last + 1):
            call = Call(self, prompt, repaired, shape, attempt, self.clock())
            try:
                said = await call.run()
                found = read(said.message, reply_type, words)
                complaint = found.complaint if found.reply is None else check(found.reply)
            except BaseException as error:
                call.break_off(error)
                raise
            call.log("refused" if found.refused else "unreadable" if complaint else "ok", said, complaint, found.marks)
            if found.reply is not None and not complaint:
                return found.reply
            again = HumanMessage(_REPAIR.format(complaint=complaint))
            repaired = [*repaired, AIMessage(in_words(said.message)), again]
        raise UnreadableReply(usable(complaint, _fields(reply_type)))


def _fields(reply_type: type[BaseModel]) -> tuple[str, ...]:
    """Return the names of the reply's fields as its prompt writes them."""
    if issubclass(reply_type, OwnReply):
        return reply_type.all_keys()
    return () if issubclass(reply_type, InWords) else tuple(reply_type.model_fields)


_REPAIR = "That reply can't be used: {complaint}. Reply again, in the shape asked for."
