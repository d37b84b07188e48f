"""A door to an agent that comes by itself."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from harbor._core.asking.asks import Amount, Ask, Bid, Unreadable, Withdraw
from harbor._doors.door import Door, SeatTurns, Turn
from harbor._doors.open_doors import OpenSeat, OutOfTurn
from harbor._games.english.events import ItemOpened

ASK = Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
TOO_LONG = "an answer of more than 65,536 characters is not read"
OPENED = ItemOpened("Vase", Decimal(100), Decimal(10))


@pytest.fixture
def seat() -> OpenSeat:
    return OpenSeat()


def turn(number: int) -> Turn:
    return SeatTurns("english", "s1").of(ASK, [OPENED] * number)


async def asked(seat: OpenSeat, number: int = 1) -> asyncio.Task[object]:
    """Ask a seat that somebody has called for, and wait until it holds the turn."""
    await seat.next_turn(0)
    asking = asyncio.ensure_future(seat.ask(turn(number)))
    assert (await seat.next_turn(5)).number == number
    return asking


async def test_a_turn_is_given_to_whoever_waits_and_its_answer_to_whoever_asked():
    seat: Door = OpenSeat()
    waiting = asyncio.ensure_future(seat.next_turn(5))
    await asyncio.sleep(0)
    asking = asyncio.ensure_future(seat.ask(turn(1)))
    assert (await waiting).number == 1
    assert seat.answer(1, {"action": "bid", "amount": 120}) == ""
    assert (await asking).answer == Bid(Decimal(120))


@pytest.mark.parametrize(("given", "answer", "why"), [
    ('{"action": "withdraw"}', Withdraw(), ""), ({"action": "withdraw"}, Withdraw(), ""),
    ("I bid $501.", "I bid $501.", "$501 is above the greatest bid of $500"),
    ({"words": "Maybe."}, "Maybe.", "neither a bid nor a withdrawal"),
    ({"action": "bid"}, Unreadable("a bid needs an amount"), "a bid needs an amount"),
    ({"action": "bid", "amount": 99}, Bid(Decimal(99)), "$99 is below the least bid of $100"),
    ({"action": "bid", "amount": "x" * 70_000}, Unreadable(TOO_LONG), TOO_LONG),
])  # fmt: skip
async def test_an_answer_is_read_as_at_any_door_and_its_giver_hears_why_it_is_a_failed_bid(given, answer, why, seat):
    asking = await asked(seat)
    assert seat.answer(1, given) == why
    assert (await asking).answer == answer


async def test_the_same_turn_is_given_again_until_it_is_answered_as_whoever_read_it_may_have_gone(seat):
    asking = await asked(seat)
    assert [(await seat.next_turn(0)).number for _ in range(3)] == [1, 1, 1]
    seat.answer(1, "I withdraw.")
    await asking
    assert await seat.next_turn(0) is None


async def test_only_the_first_answer_to_the_turn_that_is_asked_counts(seat):
    asking = await asked(seat)
    with pytest.raises(OutOfTurn, match="asked to answer turn 1, not 3"):
        seat.answer(3, "I bid $120.")
    assert not asking.done()
    seat.answer(1, "I bid $120.")
    with pytest.raises(OutOfTurn, match="turn 1 was answered before, and the first answer counts"):
        seat.answer(1, "I bid $400.")
    assert (await asking).answer == "I bid $120."


async def test_an_answer_that_comes_after_its_time_is_refused_as_late(seat):
    asking = await asked(seat)
    asking.cancel()
    await asyncio.wait({asking})
    with pytest.raises(OutOfTurn, match="turn 1 is over, as its time ran out"):
        seat.answer(1, "I bid $120.")


async def test_an_answer_before_anything_was_asked_and_one_after_the_end_are_refused(seat):
    with pytest.raises(OutOfTurn, match="there is no turn 7 to answer now"):
        seat.answer(7, "I bid $120.")
    await seat.close()
    with pytest.raises(OutOfTurn, match="the auction is over"):
        seat.answer(8, "I bid $120.")


async def test_whoever_waits_is_let_go_when_the_seat_is_closed(seat):
    waiting = asyncio.ensure_future(seat.next_turn(60))
    await asyncio.sleep(0)
    await seat.close()
    assert await waiting is None
    assert seat.is_closed


async def test_one_that_has_not_called_since_its_last_turn_is_not_waited_for_until_it_comes_back(seat):
    with pytest.raises(TimeoutError, match="no client has called for this seat"):
        await seat.ask(turn(1))
    await seat.next_turn(0)
    first = asyncio.ensure_future(seat.ask(turn(1)))
    await asyncio.sleep(0)
    first.cancel()  # its time is over, and nobody has read it
    await asyncio.wait({first})
    with pytest.raises(TimeoutError):
        await seat.ask(turn(2))
    again = await asked(seat, 3)
    seat.answer(3, "I withdraw.")
    assert (await again).answer == "I withdraw."
