"""An open seat: a door to an agent that comes by itself, asks what its turn is, and answers by the turn's number."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from harbor._core.asks import Unreadable
from harbor._core.errors import HarborError
from harbor._core.running_time import running_seconds
from harbor._doors.door import Door
from harbor._doors.given import LONGEST_ANSWER, Given, answer_in
from harbor._doors.turn import Turn
from harbor._house.auctioneer import answer_to, judged
from harbor._house.hearing import in_words


class OutOfTurn(HarborError):
    """An answer came that nothing asks for."""


class OpenSeat(Door):
    """A door to whoever comes: it holds one turn at a time, and takes the first answer to it.

    Nothing is kept per connection, so an agent may go and come back. One that has not called since the turn before is
    taken to be gone: its next turn fails at once, so that it costs the sale one time-out, and not one per turn.
    """

    def __init__(self) -> None:
        self._turn: Turn | None = None
        self._given: asyncio.Future[Given] | None = None
        self._asked_at = 0.0
        self._last = self._answered = -1
        self._called = asyncio.Event()
        self._changed = asyncio.Event()
        self._left = asyncio.Event()
        self.is_closed = False

    async def ask(self, turn: Turn) -> Given:
        """Hold a turn until it is answered.

        Raises:
            TimeoutError: nobody has called for this seat since the turn before.
        """
        if not self._called.is_set():
            raise TimeoutError("no client has called for this seat since its last turn")
        self._called.clear()
        given: asyncio.Future[Given] = asyncio.get_running_loop().create_future()
        self._turn, self._given, self._asked_at, self._last = turn, given, running_seconds(), turn.number
        self._wake()
        try:
            return await given
        finally:
            self._turn = None

    async def close(self) -> None:
        """Ask nothing more."""
        self.is_closed = True
        self._wake()

    async def taken(self) -> None:
        """Wait until somebody has called for this seat."""
        await self._called.wait()

    async def left(self) -> None:
        """Wait until whoever plays here has been told that nothing more is asked; at once if nobody is here."""
        if self._called.is_set():
            await self._left.wait()

    @property
    def last_turn(self) -> int:
        """The number of the last turn, which is how many events its bidder had seen; 0 before the first."""
        return max(self._last, 0)

    @property
    def asked_for(self) -> float:
        """For how many seconds the turn has been held."""
        return running_seconds() - self._asked_at

    async def next_turn(self, seconds: float) -> Turn | None:
        """Give the turn that is to be answered, once there is one; None: the time is over, or the seat is closed."""
        self._called.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._turn is None and not self.is_closed:
                    await self._changed.wait()
        self._called.set()  # it was waiting when the turn came
        if self.is_closed:
            self._left.set()
        return self._turn

    def answer(self, number: int, given: object) -> str:
        """Answer the turn of this number, with words or JSON, and hear why it is a failed bid; empty if it is none.

        Raises:
            OutOfTurn: that turn is not asked now; it says what to do.
        """
        self._called.set()
        turn, waiting = self._turn, self._given
        if turn is None or waiting is None or waiting.done() or turn.number != number:
            raise OutOfTurn(self._why_not(number))
        if len(str(given)) > LONGEST_ANSWER:
            taken = Given(Unreadable(f"an answer of more than {LONGEST_ANSWER:,} characters is not read"))
        else:
            taken = answer_in(given, turn.ask)
        self._turn, self._answered = None, number
        waiting.set_result(taken)
        judgement = judged(turn.ask, answer_to(turn.ask, in_words(taken.answer, turn.ask)))
        return judgement if isinstance(judgement, str) else ""

    def _why_not(self, number: int) -> str:
        if number == self._answered:
            return f"turn {number} was answered before, and the first answer counts; call wait_for_turn for the next"
        if self.is_closed:
            return "the auction is over, and nothing more is asked"
        if self._turn is not None:
            return f"you are asked to answer turn {self._turn.number}, not {number}; call wait_for_turn to read it"
        if number <= self._last:
            return f"turn {number} is over, as its time ran out; call wait_for_turn for the next"
        return f"there is no turn {number} to answer now; call wait_for_turn, and answer the turn that it gives"

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
