"""What earlier sessions have submitted: a call that is asked again takes the answer that is already paid for."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping

from harbor._core.errors import ModelError
from harbor._models.batch.job_records import JobRecords
from harbor._models.batch.jobs import JobFailed, Jobs, Outcome
from harbor._models.batch.sending import NO_ANSWER, Sender

_Place = tuple[str, int]


class EarlierJobs:
    """The requests of jobs that were out when an earlier session ended, and of those that it had collected.

    A job is collected when one of its requests is first asked again. `spent` names answers that games have recorded:
    they are not handed out again, because the same may be asked several times on purpose.
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
        """Say whether a game has asked anything."""
        return game in self._games

    async def take(self, digest: str, games: Iterable[str], jobs: Jobs) -> Outcome | None:
        """Give an answer that was asked for by one of these games, the first that has any; None: there is none."""
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
        """Collect the job of a request; one that this account can't have, or that failed, has no answer."""
        if token not in self._collecting:
            self._collecting[token] = asyncio.ensure_future(self._sender.collect(jobs, token))
        try:
            outcomes = await asyncio.shield(self._collecting[token])
        except (JobFailed, ModelError):
            return NO_ANSWER
        return outcomes.get(self._records.jobs[token].item(number), NO_ANSWER)
