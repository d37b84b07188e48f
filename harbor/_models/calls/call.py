"""One attempt at a call: replayed or made, then logged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from harbor._config.models import ModelSettings, ReplyForm
from harbor._core.errors import CallFailed, HarborError, ModelError, RunPaused
from harbor._core.events import NOTHING, Spent
from harbor._core.redaction import redact
from harbor._core.running_time import running_seconds
from harbor._models.calls.faults import fault_of
from harbor._models.calls.forms import ABOUT_FORM, Asking, Forms, schema_of
from harbor._models.calls.line import Line
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reading import as_kept, as_message, as_reply, beyond, message_of, read, written
from harbor._models.calls.settings_taken import sent
from harbor._models.calls.usage import answer_of, usage_of
from harbor._models.calls.ways import Pool, Way
from harbor._models.governor.terms import Gone
from harbor._models.replies.cache import CallRequest, GameCache, is_cached
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
    """An attempt, from its start to its event in the log; `repaired` is what was said since the prompt.

    `way` is how it was last asked, and `pool` that model; `failures` counts the models that could not answer before.
    `admitted`: the budget has to be told how it ends. `probes` are the requests whose answers showed that the model
    does not know a form.
    """

    model: ModelClient
    prompt: Prompt
    repaired: Sequence[BaseMessage]
    attempt: int
    began: float
    recorded: RawCall | None = None
    admitted: bool = False
    failures: int = 0
    probes: Spent = NOTHING
    pool: Pool = field(init=False)
    way: Way = field(init=False)

    def __post_init__(self) -> None:
        self._turn_to(self.model.ways)

    def _turn_to(self, pool: Pool) -> None:
        self.pool, self.way = pool, pool.ways[0]

    def _first(self, pool: Pool, reply_type: type[BaseModel]) -> Asking:
        return next(pool.ways[0].forms.asked(reply_type, self.model.reply))[0]

    async def run(self, reply_type: type[BaseModel]) -> Said:
        """Take the reply that an interrupted run has recorded, or make the call."""
        self.recorded = self._find_recorded(reply_type)
        if self.recorded is not None:
            if (cache := self._cache) is not None:
                cache.count(self._recorded_request(self.recorded, reply_type))
            return self._replayed(self.recorded)
        said = await self._answered(reply_type)
        if self.model.reply is None:
            self.way.forms.works(said.form)
        return said

    def _find_recorded(self, reply_type: type[BaseModel]) -> RawCall | None:
        """Find the call in the records, in whichever form it was made, and of whichever model."""
        if not self.model.replay.left(self.model.bidder):
            return None
        pools, wanted = self.model.ways.every(), self.model.reply
        asked = (asking for pool in pools for asking in pool.ways[0].forms.every(reply_type, wanted))
        words = [_words(self._messages(asking)) for asking in {one.told: one for one in asked}.values()]
        recorded = self.model.replay.call(self.model.bidder, self.prompt.name, self.attempt, words)
        if recorded is not None and recorded.fallback:
            self._turn_to(self.model.ways.named(recorded.fallback))
        return recorded

    async def _answered(self, reply_type: type[BaseModel]) -> Said:
        """Ask the model, and where it can't answer the one in its place."""
        for pool in self.model.ways.open():
            self._turn_to(pool)
            asking = self._first(pool, reply_type)
            words = _words(self._messages(asking))
            try:
                if (cache := self._cache) is not None:
                    return await self._kept(reply_type, cache)
                return await self._paid(reply_type, asking.form, words)
            except (ModelError, RunPaused) as error:
                if not pool.leads_on(error):
                    raise
                pool.pass_over(error)
                self.failures += 1
        raise AssertionError("the last model is always asked")

    @property
    def _cache(self) -> GameCache | None:
        return self.model.cache if is_cached(self.way.settings) else None

    async def _kept(self, reply_type: type[BaseModel], cache: GameCache) -> Said:
        """Take the reply that is kept, in whichever form it was given; else make the call, and keep its reply."""
        requests = self._requests(reply_type)
        first = requests[0]
        with _waiting(self.way.line):
            async with cache.alone(first):
                for request in requests:
                    if (found := cache.find(request)) is not None:
                        at, words = found.address, _texts(request)
                        return Said(as_message(found), request.form, words, 0, at, found=True, imported=found.imported)
                asking = self._first(self.pool, reply_type)
                said = await self._paid(reply_type, asking.form, _words(self._messages(asking)))
                kept = cache.keep(self._asked_at_last(requests, said), as_reply(said.message))
        # Somebody else's may have been kept meanwhile, and this one is paid for all the same.
        told = {"usage_metadata": said.message.usage_metadata, "response_metadata": said.message.response_metadata}
        message = message_of(kept.reply, kept.message).model_copy(update=told)
        return replace(said, message=message, address=kept.address, imported=kept.imported)

    def _requests(self, reply_type: type[BaseModel]) -> list[CallRequest]:
        """Give all that the call may have been when its reply was kept: the forms, and the settings that were sent."""
        forms = self.pool.ways[0].forms
        askings = forms.every(reply_type, self.model.reply)
        return [self._request(asking, reply_type, sent) for sent in forms.maybe_sent() for asking in askings]

    def _request(self, asking: Asking, reply_type: type[BaseModel], sent: ModelSettings) -> CallRequest:
        words = [[message.type, str(message.content)] for message in self._messages(asking)]
        return CallRequest(sent, asking.form, schema_of(reply_type), words, self.attempt)

    def _recorded_request(self, call: RawCall, reply_type: type[BaseModel]) -> CallRequest:
        forms = self.pool.ways[0].forms
        asking = forms.asking(reply_type, call.form) if call.form != "words" else self._first(self.pool, reply_type)
        return self._request(asking, reply_type, sent(forms.settings, call.not_taken))

    def _asked_at_last(self, requests: Sequence[CallRequest], said: Said) -> CallRequest:
        """Give the request that was answered, which may have been another than the first."""
        now = self.pool.ways[0].forms.sent
        return next(one for one in requests if (one.form, one.settings) == (said.form, now))

    async def _paid(self, reply_type: type[BaseModel], form: ReplyForm, words: list[str]) -> Said:
        """Make the call; one that fails is logged, in the form and the words that were tried first."""
        if self.model.budget is not None and not self.admitted:
            with _waiting(self.way.line):  # others' calls are not the bidder's own time
                await self.model.budget.admit()
            self.admitted = True
        try:
            return await self._sent(words, reply_type)
        except BaseException as error:  # also a cancelled call is logged, as it may have been paid for
            if self.pool.leads_on(error):
                raise
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

    async def _sent(self, words: list[str], reply_type: type[BaseModel]) -> Said:
        tokens = sum(map(len, words)) // CHARACTERS_PER_TOKEN + (self.model.settings.max_tokens or REPLY_TOKENS)

        async def attempt(way: Way) -> tuple[Said, int]:
            self.way = way
            said = await self._first_that_works(way.forms, reply_type)
            used = said.message.usage_metadata
            return said, used["total_tokens"] if used else tokens

        said, failures = await self.pool.send(attempt, tokens)
        return Said(said.message, said.form, said.words, said.retries + failures + self.failures)

    async def _first_that_works(self, forms: Forms, reply_type: type[BaseModel]) -> Said:
        """Ask in the form that the server takes; where that is not known, or no longer so, in one after the other."""
        asked, refused = 0, Exception()
        for asking, is_sure in forms.asked(reply_type, self.model.reply):
            messages = self._messages(asking)
            for _ in range(1 if is_sure else TRIES_IN_PROSE):
                try:
                    message, left_out = await self._answer(forms, asking, reply_type)
                except Exception as error:
                    fault = fault_of(error)
                    if fault.kind == "filtered":  # it was answered, in a way: the model does not speak to this
                        return Said(_FILTERED, asking.form, _words(messages), asked)
                    if fault.kind != "refused" or not ABOUT_FORM.search(fault.words):
                        raise
                    refused, asked = error, asked + 1
                    break
                asked += left_out
                if is_sure or _took_form(message, reply_type):
                    return Said(as_kept(message), asking.form, _words(messages), asked)
                asked += 1
                self.probes += _spent(message, forms.settings)
        raise refused

    async def _answer(self, forms: Forms, asking: Asking, reply_type: type[BaseModel]) -> tuple[AIMessage, int]:
        """Ask once, and again without a setting that the server refuses; also gives how many it has refused."""
        left_out = 0
        while True:
            began = running_seconds()
            try:
                message = await asking.invoke(self._messages(asking))
            except Exception as error:
                fault = fault_of(error)
                if fault.kind != "refused" or not forms.leave_out(fault.words):
                    raise
                left_out += 1
                if asking.form != "words":
                    asking = forms.asking(reply_type, asking.form)
            else:
                took = running_seconds() - began if self.way.line is None or self.way.line.is_live else None
                forms.known.answered(answer_of(message, took))
                return message, left_out

    def _replayed(self, recorded: RawCall) -> Said:
        if recorded.outcome == "failed":
            self.model.sink(recorded.event)
            raise CallFailed(recorded.error)
        return Said(message_of(recorded.reply, recorded.message), recorded.form, recorded.prompt)

    def log(self, outcome: CallOutcome, said: Said, complaint: str) -> None:
        """Write the attempt to the log; one that was made also to the raw calls and the budget."""
        call = self.recorded or self._made(outcome, said, complaint)
        self.model.sink(call.event)
        if self.recorded is None:
            self.model.keep(call)
            if self.model.budget is not None and self.admitted:
                self.model.budget.charge(call)
            if self.model.line is not None and not said.found:
                self.model.line.spend(call.cost_dollars)

    def _made(self, outcome: CallOutcome, said: Said, complaint: str) -> RawCall:
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
            key_env="" if said.found else self.way.key_env,
            fallback="" if self.pool is model.ways else self.pool.name,
            answer_id=str(said.message.response_metadata.get("id", "")),
        )


def _waiting(line: Line | None) -> AbstractContextManager[None]:
    """Count the time inside as waiting, which is not the bidder's own; the built-in model keeps nobody waiting."""
    return line.waiting.counted() if line else nullcontext()


def _words(messages: Sequence[BaseMessage]) -> list[str]:
    return [str(message.content) for message in messages]


def _spent(message: AIMessage, settings: ModelSettings) -> Spent:
    """Give what an answer costs that is of no use."""
    usage = usage_of(message)
    return Spent(1, usage.input_tokens, usage.output_tokens, usage.cost(settings))


def _texts(request: CallRequest) -> list[str]:
    return [text for _, text in request.messages]


def _took_form(message: AIMessage, reply_type: type[BaseModel]) -> bool:
    """Say whether a server has heard of the form: one that has not answers in prose, to nothing that it was told."""
    return bool(message.tool_calls or message.invalid_tool_calls) or read(message, reply_type)[0] is not None
