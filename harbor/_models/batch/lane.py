"""The lane: calls of many games wait for each other, and go out together when every game that is held waits."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from typing import Self

from harbor._models.batch.earlier import EarlierJobs
from harbor._models.batch.job_records import JobRecords
from harbor._models.batch.jobs import Body, Jobs, Outcome
from harbor._models.batch.sending import BatchCall, Sender
from harbor._models.calls.waiting import Waiting

TICK = 0.05
"""Seconds between two looks at whether all games wait; a look that is as late again shows that games are busy."""
QUIET_TICKS = 5
"""How many looks in a row must find nothing new: what a reply sets off has then come to its next call."""
ITEM_BYTES = 200
"""What stands in a job around the body of a request, at most."""
AT_ONCE = 1_000
"""How many games are held at once by default: few enough to fit in memory, and each job has calls of all."""


@dataclass(eq=False)
class BatchGame:
    """A game that is held: its name in the experiment, and how long each of its bidders has waited."""

    lane: BatchLane
    name: str
    bidders: list[Waiting] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether a call of it waits, or waits for another game that asks the same."""
        return any(bidder.is_on for bidder in self.bidders)


class BatchLane:
    """The calls that wait and the jobs that are out, of one process; a context that lasts as long as its games.

    Args:
        records: what this and earlier sessions have submitted.
        tell: is told in a line what is submitted and collected.
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
        """Hold a game; `recorded` names the answers that it has recorded, which are not handed out again."""
        game = BatchGame(self, name)
        self._games.append(game)
        if self._earlier.has(name):
            self._earlier.spent.update(recorded())
        try:
            yield game
        finally:
            self._games.remove(game)

    def account(self, key: str, make: Callable[[], Jobs]) -> Jobs:
        """Give the jobs of an account, with connections of the lane."""
        if key not in self._accounts:
            self._accounts[key] = make()
        return self._accounts[key]

    async def ask(self, game: BatchGame, jobs: Jobs, path: str, body: Body) -> Outcome:
        """Give what became of a call: from an earlier session if it was submitted there, else from the next job.

        Raises:
            ModelError: the provider refuses the job, or takes none for this.
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
    """Divide calls into jobs: of one account, of one kind, and none too large."""
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
