"""The lane holds calls of many games until every held game waits, and sends them out together at a discount.

An HTTP transport for providers' packages brings the calls to the lane. It sends nothing itself, and each request waits
for its answer.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from itertools import chain
from typing import Any, Self, TypeVar

from harbor._config.models import BUILT_IN, ModelSettings
from harbor._core.basics.errors import ConfigError, HarborError
from harbor._models.batch.job_records import JobRecords
from harbor._models.batch.jobs import AnthropicJobs, Body, Jobs, OpenAIJobs, Outcome
from harbor._models.batch.sender import BatchCall, EarlierJobs, Sender
from harbor._models.calls.faults import Fault, chain_of, fault_of
from harbor._models.calls.line import Attempt, Line
from harbor._models.calls.waiting import Waiting
from harbor._models.connections import no_page

TICK = 0.05
"""Seconds between two checks that all games wait; a check that is late by as much again shows that games are busy."""
QUIET_TICKS = 5
"""Checks in a row that must find no new call; then the work after a reply has reached its next call."""
ITEM_BYTES = 200
"""Limit of bytes in a job around the body of a request."""
AT_ONCE = 1_000
"""Default number of games that are held at once: few enough to fit in memory, and each job has calls of all."""


@dataclass(eq=False)
class BatchGame:
    """A held game: its name in the experiment, and the waiting time of each of its bidders."""

    lane: BatchLane
    name: str
    bidders: list[Waiting] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Say whether one of its calls waits for a reply, including the reply to an equal call of another game."""
        return any(bidder.is_on for bidder in self.bidders)


class BatchLane:
    """Holds the waiting calls and the jobs of one process; a context manager that lasts as long as its games.

    Args:
        records: the jobs of this and earlier sessions.
        tell: takes one line for each job that is submitted or collected.
    """

    def __init__(self, records: JobRecords, tell: Callable[[str], object] = lambda _: None) -> None:
        self._games: list[BatchGame] = []
        self._waiting: list[BatchCall] = []
        self._arrived = 0
        self._out = set[asyncio.Task[None]]()
        self._accounts: dict[str, Jobs] = {}
        self._sender = Sender(records, tell)
        self._earlier = EarlierJobs(records, self._sender)

    async def __aenter__(self) -> Self:
        self._watch = asyncio.ensure_future(self._submit_when_all_wait())
        return self

    async def __aexit__(self, *_: object) -> None:
        work = [self._watch, *self._out]
        for one in work:
            one.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        for jobs in self._accounts.values():
            await jobs.close()

    @contextmanager
    def holding(self, name: str, recorded: Callable[[], Iterable[str]] = tuple) -> Iterator[BatchGame]:
        """Hold a game; `recorded` returns the ids of the answers that the game has, so that no call gets them again."""
        game = BatchGame(self, name)
        self._games.append(game)
        if self._earlier.has(name):
            self._earlier.spent.update(recorded())
        try:
            yield game
        finally:
            self._games.remove(game)

    def account(self, key: str, make: Callable[[], Jobs]) -> Jobs:
        """Return the jobs of an account, with connections of the lane."""
        if key not in self._accounts:
            self._accounts[key] = make()
        return self._accounts[key]

    async def ask(self, game: BatchGame, jobs: Jobs, path: str, body: Body) -> Outcome:
        """Return the outcome of a call from the session that submitted it, otherwise from the next job.

        Raises:
            ModelError: the provider refuses the job, or takes no jobs for this path.
            RunPaused: the provider can't be reached.
        """
        endpoint = jobs.endpoint(path)
        digest = _digest(jobs.provider, endpoint, body)
        held = chain([game.name], (other.name for other in list(self._games)))
        if (found := await self._earlier.take(digest, held, jobs)) is not None:
            return found
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        together, content = jobs.together(body), json.dumps(body, separators=(",", ":")).encode()
        self._waiting.append(BatchCall(game.name, jobs, endpoint, together, content, digest, outcome))
        self._arrived += 1
        return await outcome

    async def _submit_when_all_wait(self) -> None:
        quiet, clock = 0, asyncio.get_running_loop().time
        while True:
            began, arrived = clock(), self._arrived
            await asyncio.sleep(TICK)
            calm = clock() - began < 2 * TICK and arrived == self._arrived
            quiet = quiet + 1 if calm else 0
            if quiet >= QUIET_TICKS and self._waiting and all(game.waits for game in self._games):
                self._submit()

    def _submit(self) -> None:
        waiting = [call for call in self._waiting if not call.outcome.done()]
        self._waiting = []
        for calls in _jobs(waiting):
            job = asyncio.ensure_future(self._sender.send(calls))
            self._out.add(job)
            job.add_done_callback(self._out.discard)


def _digest(provider: str, endpoint: str, body: Body) -> str:
    asked = json.dumps([provider, endpoint, body], sort_keys=True, separators=(",", ":"))
    return sha256(asked.encode()).hexdigest()


def _jobs(calls: Iterable[BatchCall]) -> Iterator[list[BatchCall]]:
    """Divide calls into jobs. A job has one account, one endpoint and one common key, and is within the size limits."""
    kinds: dict[tuple[int, str, str], list[BatchCall]] = defaultdict(list)
    for call in calls:
        kinds[id(call.jobs), call.endpoint, call.together].append(call)
    for alike in kinds.values():
        part, size = list[BatchCall](), 0
        for call in alike:
            length = len(call.body) + ITEM_BYTES
            if part and (len(part) == call.jobs.most_items or size + length > call.jobs.most_bytes):
                yield part
                part, size = [], 0
            part.append(call)
            size += length
        yield part


JOB_SECONDS = 120.0
"""Time limit in seconds for a request about a job; none waits for a model."""


class BatchTransport:
    """The transport of one game's requests to one account; any package with the classes of httpx can use it."""

    def __init__(self, game: BatchGame, jobs: Jobs) -> None:
        self._game, self._jobs = game, jobs

    async def handle_async_request(self, request: Any) -> Any:
        """Wait for the answer to a request.

        Raises:
            ModelError: the provider refuses the job.
            RunPaused: the provider can't be reached.
        """
        package: Any = import_module(type(request).__module__.partition(".")[0])
        outcome = await self._game.lane.ask(self._game, self._jobs, request.url.path, json.loads(await request.aread()))
        return package.Response(outcome.status, json=outcome.body, request=request)

    async def __aenter__(self) -> BatchTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Do nothing, because the lane closes its own connections."""


def transport_of(game: BatchGame, chat: Any) -> BatchTransport:
    """Make the transport for a model of OpenAI's or Anthropic's package."""
    client, make = _ACCOUNTS[type(chat).__module__.partition(".")[0]](chat)
    headers = sorted((name, value) for name, value in client.default_headers.items() if isinstance(value, str))
    told = json.dumps([type(chat).__name__, str(client.base_url), headers])
    return BatchTransport(game, game.lane.account(sha256(told.encode()).hexdigest(), make))


def _openai(chat: Any) -> tuple[Any, Callable[[], Jobs]]:
    from openai import DefaultAsyncHttpxClient

    client = chat.root_async_client
    return client, lambda: OpenAIJobs(client.copy(**_live(DefaultAsyncHttpxClient(proxy=chat.openai_proxy))))


def _anthropic(chat: Any) -> tuple[Any, Callable[[], Jobs]]:
    from anthropic import DefaultAsyncHttpxClient

    client = chat._async_client
    return client, lambda: AnthropicJobs(client.copy(**_live(DefaultAsyncHttpxClient(proxy=chat.anthropic_proxy))))


def _live(http: Any) -> dict[str, Any]:
    """Return client arguments for jobs: connections of the lane, and none of the package's own retries."""
    http.event_hooks = {**http.event_hooks, "response": [*http.event_hooks["response"], no_page]}
    return {"http_client": http, "max_retries": 0, "timeout": JOB_SECONDS}


_ACCOUNTS: dict[str, Callable[[Any], tuple[Any, Callable[[], Jobs]]]] = {
    "langchain_openai": _openai,
    "langchain_anthropic": _anthropic,
}


T = TypeVar("T")


class BatchLine(Line):
    """A line whose calls start with the next job; a call with a passing failure is retried in a later job."""

    is_live = False

    async def _once(self, attempt: Attempt[T], tokens: int) -> T:
        try:
            answer, _ = await attempt()
        except Exception as error:
            if (ours := next((one for one in chain_of(error) if isinstance(one, HarborError)), None)) is not None:
                raise ours from None  # the lane's error; the provider's package wraps it as a lost connection
            fault = self._judged(fault_of(error))
            raise self._failure(fault, self._verdict(fault)) from error
        self._note_answer()
        return answer

    async def ask(self, request: Awaitable[T]) -> T:
        """Wait for the answer to one request as long as its job takes."""
        return await request

    def may_be_charged(self, error: BaseException) -> bool:
        """Return False, because a job goes on without the run, and the resumed run takes its answers."""
        return False

    def _pause(self, fault: Fault, failures: int, trouble: float) -> float:
        super()._pause(fault, failures, trouble)
        return 0.0


BATCH_SHARE = 0.5
"""Share of the normal price that a call in a batch costs, for input and output alike.

Source: platform.openai.com/docs/guides/batch; docs.claude.com/en/docs/build-with-claude/batch-processing#pricing.
"""
BATCHED = ("openai", "anthropic")
"""The providers that take batches."""


def in_batch(settings: ModelSettings) -> ModelSettings:
    """Return the settings of a model with batch prices."""
    prices = {name: getattr(settings, name) for name in type(settings).model_fields if name.endswith("_price")}
    return settings.model_copy(update={name: price * BATCH_SHARE for name, price in prices.items() if price})


def check_batched(models: Mapping[str, ModelSettings]) -> None:
    """Refuse a model whose calls can't wait for a batch; the built-in model needs none.

    Raises:
        ConfigError: a model's provider takes no batches; the message names the model.
    """
    for name, settings in models.items():
        provider, colon, _ = settings.use.partition(":")
        if settings.use != BUILT_IN and not (colon and provider in BATCHED):
            raise ConfigError(
                f"model {name!r} ({settings.use}) can't be asked in batches, as only models of"
                f" {' and '.join(BATCHED)} can; leave --lane batch out"
            )
