"""The line of a call that goes in a batch: nobody is asked when it may start, and it may take a day."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from harbor._core.errors import HarborError
from harbor._models.calls.faults import Fault, chain_of, fault_of
from harbor._models.calls.line import Attempt, Line

T = TypeVar("T")


class BatchLine(Line):
    """As a line, but a call starts with the next job, and so does one that has failed in a way that passes."""

    is_live = False

    async def _once(self, attempt: Attempt[T], tokens: int) -> T:
        try:
            answer, _ = await attempt()
        except Exception as error:
            if (ours := next((one for one in chain_of(error) if isinstance(one, HarborError)), None)) is not None:
                raise ours from None  # what the lane has said; the provider's package takes it for a lost connection
            fault = self._judged(fault_of(error))
            raise self._failure(fault, self._verdict(fault)) from error
        self._note_answer()
        return answer

    async def ask(self, request: Awaitable[T]) -> T:
        """Wait for the answer to one request, for as long as its job takes."""
        return await request

    def may_be_charged(self, error: BaseException) -> bool:
        """Say no: a job goes on without the run, and the run that is resumed takes its answers."""
        return False

    def _pause(self, fault: Fault, failures: int, trouble: float) -> float:
        super()._pause(fault, failures, trouble)
        return 0.0
