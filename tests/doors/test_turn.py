"""A turn as JSON and what comes back, and a door to an agent that comes by itself."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal

import pytest
from pydantic import BaseModel

from harbor._core.asking.asks import Amount, Ask, Bid, Unreadable, Withdraw
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.events import BidderSeated
from harbor._doors.door import Door, SeatTurns, Turn, answer_in
from harbor._doors.open_doors import OpenSeat, OutOfTurn
from harbor._games.english.events import ItemOpened

ASK = Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
OPENED = ItemOpened("Vase", Decimal(100), Decimal(10))
SEEN = BidderSeated("Ann", Decimal(500), {}, "profit"), Signal("Ann", {"Vase": Decimal(440)}, noisy=True), OPENED


def test_what_one_gets_of_a_turn_is_its_own_down_to_what_events_hold():
    turns = SeatTurns("english", "s1")
    turn = turns.of(ASK, SEEN)
    mine = turn.as_json()
    mine["seen"][1]["values"]["Vase"] = mine["seen"][2]["start"] = mine["space"]["minimum"] = 7
    mine["answer"]["anyOf"].clear()
    assert turn.as_json() == json.loads(turn.line)
    again = turns.of(ASK, SEEN).as_json()
    assert again["seen"] == turn.as_json()["seen"] != mine["seen"]
    assert again["answer"]["anyOf"]


AS_DESCRIBED = 'give words, or a dict as the schema under "answer" in the turn describes it'


class Bidding(BaseModel):
    """An answer as frameworks give one of a shape."""

    action: str
    amount: int | None = None


def test_the_next_turn_tells_what_is_new_and_repeats_what_was_seen():
    turns = SeatTurns("english", "s1")
    first = turns.of(ASK, SEEN).as_json()
    news = Acted("Ben", "Vase", Bid(Decimal(100)))
    second = turns.of(ASK, (*SEEN, news)).as_json()
    assert (second["new"], len(second["seen"])) == (1, 4)
    assert second["words"].startswith("Ben bids $100 on Vase.")
    assert second["so_far"] in first["words"]


@pytest.mark.parametrize(("given", "answer"), [
    ({"action": "withdraw"}, Withdraw()), (Bidding(action="bid", amount=120), Bid(Decimal(120))),
    ('{"action": "bid", "amount": 120}', Bid(Decimal(120))),
    (b'```json\n{"action": "bid", "amount": 120}\n```\n', Bid(Decimal(120))),
    ({"words": "I bid $120."}, "I bid $120."), ("```\nI bid $120.\n```", "```\nI bid $120.\n```"),
    ('["bid", 120]', '["bid", 120]'), ({"action": "bid"}, Unreadable("a bid needs an amount")),
    ([1], Unreadable(f"a value of type list is no answer; {AS_DESCRIBED}")),
])  # fmt: skip
def test_an_answer_is_words_or_what_the_schema_asks_for(given, answer):
    assert answer_in(given, ASK).answer == answer


@pytest.mark.parametrize(("usage", "why"), [
    ([{"input_tokens": 10**7 + 1}], "usage.0.input_tokens: Input should be less than or equal to 10000000"),
    ([{"output_tokens": 10**7}] * 11, "usage: Value error, it tells of more than 100,000,000 tokens in one answer"),
    ([{}] * 1_001, "usage: Value error, it tells of more than 1,000 model calls in one answer"),
    ([{"input_tokens": 1}, {"input_tokens": -1}], "usage.1.input_tokens: Input should be greater than or equal"),
])  # fmt: skip
def test_an_answer_with_usage_that_can_not_be_is_unreadable_as_a_whole(usage, why):
    given = answer_in({"action": "withdraw", "usage": usage}, ASK)
    assert isinstance(given.answer, Unreadable)
    assert given.answer.reason.startswith(why)
    assert given.usage == ()


# ---------------------------------------------------------------- an agent that comes by itself


TOO_LONG = "an answer of more than 65,536 characters is not read"


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
    ('{"action": "withdraw"}', Withdraw(), ""),
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
