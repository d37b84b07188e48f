"""The sender submits a job once, polls it until it has ended, and wakes the calls with its outcomes.

A call that is asked again takes the answer of a job that an earlier session has submitted and paid for.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import TypeVar

from harbor._core.basics.errors import HarborError, ModelError, RunPaused
from harbor._core.basics.loops import running_seconds
from harbor._core.basics.numbers import counted
from harbor._models.batch.job_records import JobRecord, JobRecords
from harbor._models.batch.jobs import Item, JobFailed, Jobs, Outcome
from harbor._models.calls.faults import FOR_GOOD, end_of_pause, fault_of, is_unconnected, status_in_words, status_of
from harbor._models.calls.line import ODD_TRIES, backoff
from harbor._models.governor.local import governor
from harbor._models.governor.terms import Wait

T = TypeVar("T")
FIRST_LOOK, LONGEST_LOOK, SLOWER = 0.1, 60.0, 1.5
"""Seconds between two polls of a job: first and longest; the last number is the factor of growth."""
RETRY_SECONDS = 600.0
"""Seconds of retries before the run pauses."""
TURNED_AWAY = (429, 503, 529)
"""HTTP statuses of a request that has begun no job; any other failure may come after a job has begun."""
SLACK = 300.0
"""Seconds by which a provider's clock may differ from ours."""
NO_ANSWER = Outcome(503, {"error": {"message": "the job has ended without an answer to this request"}})


@dataclass(eq=False, slots=True)
class BatchCall:
    """A call that waits for a job.

    `together` is the key that calls of one job have in common. `digest` is the digest of provider, endpoint and body.
    """

    game: str
    jobs: Jobs
    endpoint: str
    together: str
    body: bytes
    digest: str
    outcome: asyncio.Future[Outcome]

    def fail(self, error: Exception) -> None:
        """End the call with an error."""
        if not self.outcome.done():
            self.outcome.set_exception(error)


class Sender:
    """Sends jobs, and records each step before it waits."""

    def __init__(self, records: JobRecords, tell: Callable[[str], object]) -> None:
        self._records = records
        self._tell = tell

    async def send(self, calls: Sequence[BatchCall]) -> None:
        """Send calls as one job, or as halves one after the other if the job is too large for the account."""
        try:
            outcomes = await self._sent(calls)
        except JobFailed as error:
            if error.too_large and (half := len(calls) // 2):
                await self.send(calls[:half])
                await self.send(calls[half:])
                return
            _fail(calls, RunPaused(str(error)) if error.too_large else ModelError(str(error)))
        except HarborError as error:
            _fail(calls, error)
        except Exception as error:  # no error may leave a call waiting for ever
            _fail(calls, ModelError(f"a batch can't be read: {fault_of(error).words}"))
        else:
            for call, outcome in zip(calls, outcomes, strict=True):
                if not call.outcome.done():
                    call.outcome.set_result(outcome)

    async def _sent(self, calls: Sequence[BatchCall]) -> list[Outcome]:
        jobs = calls[0].jobs
        job = JobRecord(
            token_hex(8), "sending", when=time.time(), items=tuple((call.game, call.digest) for call in calls)
        )
        self._records.add(job)
        items = [Item(job.item(number), call.body) for number, call in enumerate(calls)]
        name = await self._submitted(jobs, job, calls[0].endpoint, items)
        self._records.add(JobRecord(job.token, "sent", name))
        self._tell(f"batch {name}: submitted {len(calls)} calls; {_many(self._records.out)} out")
        outcomes = await self.collect(jobs, job.token)
        return [outcomes.get(item.name, NO_ANSWER) for item in items]

    async def _submitted(self, jobs: Jobs, job: JobRecord, endpoint: str, items: Sequence[Item]) -> str:
        lost = False  # whether the job may have arrived, and only the answer was lost

        async def submit() -> str:
            nonlocal lost
            if lost and (arrived := await self._found(jobs, job)):
                return arrived
            try:
                lost = False
                return await jobs.submit(job.token, endpoint, items)
            except Exception as error:
                lost = status_of(error) not in TURNED_AWAY
                raise

        try:
            return await _until_answered(submit, jobs.provider)
        except ModelError:
            self._records.add(JobRecord(job.token, "failed"))
            raise

    async def collect(self, jobs: Jobs, token: str) -> Mapping[str, Outcome]:
        """Wait for a job to end, and return the outcomes by request name; none if the job never arrived.

        Raises:
            JobFailed: the job was refused as a whole.
            ModelError: the provider refuses to tell.
            RunPaused: the provider can't be reached.
        """
        job = self._records.jobs[token]
        name: str | None = job.name
        if not name:
            name = await _until_answered(lambda: self._found(jobs, job), jobs.provider)
        out = Wait(jobs.provider, "", f"a batch of {counted(len(job.items), 'call')}", time.time() - job.when)
        governor().note(token, out)
        try:
            outcomes = await _ended(jobs, name) if name else {}
        except JobFailed:
            self._records.add(JobRecord(token, "failed"))
            raise
        finally:
            governor().note(token, None)
        if job.step != "collected":
            self._records.add(JobRecord(token, "collected", name or ""))
        good = sum(outcome.status == 200 for outcome in outcomes.values())
        self._tell(f"batch {name}: collected {good} of {len(job.items)} calls; {_many(self._records.out)} out")
        return outcomes

    async def _found(self, jobs: Jobs, job: JobRecord) -> str | None:
        known = {other.name for other in self._records.jobs.values()}
        return await jobs.find(job.token, len(job.items), job.when - SLACK, known)


async def _ended(jobs: Jobs, name: str) -> Mapping[str, Outcome]:
    pause = FIRST_LOOK
    while True:
        await asyncio.sleep(pause)
        if (outcomes := await _until_answered(lambda: jobs.outcomes(name), jobs.provider)) is not None:
            return outcomes
        pause = min(pause * SLOWER, LONGEST_LOOK)


async def _until_answered(ask: Callable[[], Awaitable[T]], provider: str) -> T:
    """Ask until the provider answers.

    Raises:
        ModelError: the provider refuses the request.
        RunPaused: the request was retried for `RETRY_SECONDS`.
    """
    began, failures, odd, request = running_seconds(), 0, 0, token_hex(8)
    try:
        while True:
            try:
                return await ask()
            except HarborError:
                raise
            except Exception as error:
                fault, passed = fault_of(error), running_seconds() - began
                failures, odd = failures + 1, odd + 1 if fault.kind == "odd" else 0
                pause = fault.retry_after or backoff(failures)
                if fault.kind in FOR_GOOD or odd == ODD_TRIES:
                    raise ModelError(f"a batch is refused: {fault.words}") from error
                if passed + pause > RETRY_SECONDS:
                    until = f" until {end_of_pause(fault.retry_after)}" if fault.retry_after else ""
                    raise RunPaused(f"batches can't be reached{until}, last: {fault.words}") from error
                told, left = status_in_words(fault, error), RETRY_SECONDS - passed
                asked, lost = fault.retry_after or 0.0, is_unconnected(error)
                governor().note(request, Wait(provider, "", told, passed, left, failures, asked, lost))
                await asyncio.sleep(pause)
    finally:
        governor().note(request, None)


def _fail(calls: Sequence[BatchCall], error: Exception) -> None:
    for call in calls:
        call.fail(error)


def _many(jobs: int) -> str:
    return "1 batch is" if jobs == 1 else f"{jobs} batches are"


_Place = tuple[str, int]  # token of a job, number of a request in it


class EarlierJobs:
    """Holds the requests of jobs that earlier sessions submitted, with or without results so far.

    A job is collected when one of its requests is first asked again. `spent` names answers that games have recorded.
    They are not handed out again, because a game may repeat a request on purpose.
    """

    def __init__(self, records: JobRecords, sender: Sender) -> None:
        self.spent = set[str]()
        self._records, self._sender = records, sender
        self._places: dict[str, dict[str, list[_Place]]] = defaultdict(lambda: defaultdict(list))
        self._collecting: dict[str, asyncio.Task[Mapping[str, Outcome]]] = {}
        self._games = set[str]()
        for job in records.jobs.values():
            if job.step != "failed":
                for number, (game, digest) in enumerate(job.items):
                    self._places[digest][game].append((job.token, number))
                    self._games.add(game)

    def has(self, game: str) -> bool:
        """Say whether a game has requests in these jobs."""
        return game in self._games

    async def take(self, digest: str, games: Iterable[str], jobs: Jobs) -> Outcome | None:
        """Return an answer to a request of the first of these games that has one; None if there is none."""
        if digest not in self._places:
            return None
        places = self._places[digest]
        for game in games:
            while places.get(game):
                outcome = await self._outcome(*places[game].pop(0), jobs)
                if outcome.status == 200 and outcome.name not in self.spent:
                    return outcome
        return None

    async def _outcome(self, token: str, number: int, jobs: Jobs) -> Outcome:
        """Collect the job of a request. Return no answer if the job failed, or if the account can't read it."""
        if token not in self._collecting:
            self._collecting[token] = asyncio.ensure_future(self._sender.collect(jobs, token))
        try:
            outcomes = await asyncio.shield(self._collecting[token])
        except (JobFailed, ModelError):
            return NO_ANSWER
        return outcomes.get(self._records.jobs[token].item(number), NO_ANSWER)
