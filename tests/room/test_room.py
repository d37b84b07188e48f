"""The room: real AutoGen agents of every temper sit in it, and the sale goes on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from autogen_agentchat.base import Response, TaskResult
from autogen_agentchat.conditions import ExternalTermination, FunctionalTermination
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken

from harbor import Auction, Bidder, EnglishRules, Item
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Bid, Pause
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.events import EVERYONE, BiddersAsked, Event, Lot, SaleClosed
from harbor._core.log.log import Log, of_type
from harbor._core.log.players import EventBuffer
from harbor._games.english import rules as english
from harbor._games.policies import MinimumRaise, Truthful
from harbor._house.auctioneer import Sale, announce
from harbor._house.watchdog import READY
from harbor._room.room import AuctionRoom
from harbor._room.seats import AUCTIONEER, UNASKED, PlayerAgent, Seat, ask_message
from harbor.evaluation._metrics.behaviour import bids
from support import speaker
from support.processes import LONG

Answering = Callable[[Sequence[BaseChatMessage]], Awaitable[str]]
ITEMS = tuple(Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in "ABC")


class Speaker(speaker.Speaker):
    """An agent that knows nothing of Harbor: it hears words and answers in words."""

    def __init__(self, answer: Answering, name: str = "somebody") -> None:
        super().__init__(name)
        self.answer = answer
        self.heard: list[list[BaseChatMessage]] = []

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        self.heard.append(list(messages))
        return Response(chat_message=TextMessage(content=await self.answer(messages), source=self.name))


def saying(*words: str) -> Answering:
    """Say these words one after the other, the last of them from then on."""
    left = list(words)

    async def answer(messages: Sequence[BaseChatMessage]) -> str:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def agent(name: str = "Ann", timeout_seconds: float = 120) -> Bidder:
    return Bidder(name, agent=True, timeout_seconds=timeout_seconds)


async def forever(messages: Sequence[BaseChatMessage]) -> str:
    await asyncio.Event().wait()
    return "I withdraw."


def room_of(agents: dict[str, Any], termination: Any = None) -> tuple[Sale[Any], AuctionRoom]:
    """Furnish a room by hand, as a user of AutoGen would."""
    lots = tuple(english.ValuedLot(Lot(item.name, item.start), item.true_value) for item in ITEMS)
    rules = english.English(lots, {name: Decimal(10_000) for name in agents})
    sale = Sale(rules, tuple(agents), Log(), Random(0), acts="open")
    seats = [Seat(f"seat_{at}", name, player, 120, EventBuffer()) for at, (name, player) in enumerate(agents.items())]
    return sale, AuctionRoom(sale, seats, [], 3, termination)


def raiser(name: str, max_bids: int) -> PlayerAgent:
    """A bidder that needs no memory of its own: it makes so many bids in all."""
    made: list[Event] = []

    class Counting(MinimumRaise):
        async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Any:
            answer = await MinimumRaise.act(self, ask, tuple(made))
            if isinstance(ask, Ask):
                made.append(Acted(ask.bidder, ask.item, Bid(ask.minimum), ask.round))
            return answer

    return PlayerAgent(name, Counting(max_bids), lambda: ())


def test_a_babbling_agent_is_told_what_was_wrong_and_who_has_bid_is_not_asked_again():
    babbler = Speaker(saying("Hm.", "I bid $10.", "I bid $99,000,000.", "I withdraw."))
    steady = Speaker(saying("I bid $1,000.", "I withdraw."), "steady")
    auction = Auction(items=ITEMS[:1], bidders=[agent("Ann"), agent("Bea")], rules=EnglishRules(reasks=3))
    auction.run(agents={"Ann": babbler, "Bea": steady})
    assert len(steady.heard) == 1
    calls = [messages[-1].to_text() for messages in babbler.heard]
    wrong = "neither a bid nor a withdrawal", "below the least bid of $1,000", "above the greatest bid of $1,000,000"
    assert [part in words for part, words in zip(("failed", *wrong), calls, strict=True)] == [False, True, True, True]


SIGNAL = Signal("Ann", {"Lot A": Decimal(900)}, noisy=True)


@pytest.mark.parametrize(
    ("player", "told", "words"),
    [
        (MinimumRaise(4), [1_000], "I bid $1,000."),
        (MinimumRaise(4), [1_000, 1_100], "I bid $1,100."),
        (Truthful(), [1_000], "I withdraw."),
        (MinimumRaise(4), "Hello?", UNASKED),
        (MinimumRaise(4), [None], READY),
    ],
    ids=["an ask", "the last of several", "what it has seen", "nobody asked", "a pause"],
)
def test_a_bidder_of_harbor_answers_in_a_stock_team(player, told, words):
    asks = [Ask("Ann", "Lot A", 1, Amount(Decimal(one), Decimal(5_000))) if one else Pause("Ann") for one in told
            if not isinstance(one, str)]  # fmt: skip
    bidder = PlayerAgent("ann", player, lambda: (SIGNAL,))
    task = [ask_message(ask) for ask in asks] or told
    result = asyncio.run(RoundRobinGroupChat([bidder], max_turns=1).run(task=task))
    assert result.messages[-1].to_text() == words


# ---------------------------------------------------------------- who thinks when, and who hears what


async def test_bidders_think_at_the_same_moment_and_are_heard_in_seat_order_whoever_is_first():
    last_has_spoken = asyncio.Event()

    async def slow(messages):
        await last_has_spoken.wait()
        return "I bid $1,000."

    async def quick(messages):
        last_has_spoken.set()
        return "I bid $1,000."

    bidders = [agent("Ann", LONG), agent("Bea", LONG)]
    agents = {"Ann": Speaker(slow, "ann"), "Bea": Speaker(quick, "bea")}
    result = await Auction(items=ITEMS[:1], bidders=bidders).arun(agents=agents)
    assert [bid.bidder for bid in bids(result.log)][:2] == ["Ann", "Bea"]


def test_an_agent_never_hears_the_words_of_another_nor_what_it_is_asked():
    ann = Speaker(saying("I bid $1,000. Zebra!", "I bid $1,200. Zebra!", "I withdraw. Zebra!"), "ann")
    bea = Speaker(saying("I bid $1,000. Okapi!", "I bid $1,100. Okapi!", "I withdraw. Okapi!"), "bea")
    bidders = [Bidder("Ann", agent=True, budget=31_337), Bidder("Bea", agent=True, budget=27_182)]
    Auction(items=ITEMS[:2], bidders=bidders).run(agents={"Ann": ann, "Bea": bea})
    heard = {one.name: [message for messages in one.heard for message in messages] for one in (ann, bea)}
    assert {message.source for messages in heard.values() for message in messages} == {AUCTIONEER}
    texts = {name: str([message.model_dump() for message in messages]) for name, messages in heard.items()}
    words = ("31337", "31,337", "Zebra", "27182", "27,182", "Okapi")
    assert [word in texts["ann"] for word in words] == [True] * 3 + [False] * 3
    assert [word in texts["bea"] for word in words] == [False] * 3 + [True] * 3


# ---------------------------------------------------------------- AutoGen itself


async def test_a_room_streams_the_announcements_alone_and_its_termination_condition_sees_the_words_of_everyone():
    shown: list[tuple[str, str]] = []

    def look(messages: Sequence[Any]) -> bool:
        shown.extend((message.source, message.to_text()) for message in messages)
        return False

    sale, room = room_of({"Ann": raiser("ann", 2), "Ben": raiser("ben", 1)}, FunctionalTermination(look))
    *messages, end = [message async for message in room.run_stream()]
    assert isinstance(end, TaskResult)
    assert end.stop_reason == "The sale is closed."
    streamed = [message.to_text() for message in messages if isinstance(message, TextMessage)]
    assert {message.source for message in messages if isinstance(message, TextMessage)} == {AUCTIONEER}
    public = [announce(entry.event) for entry in sale.log.entries if entry.event.audience == EVERYONE]
    assert " ".join(streamed) == " ".join(filter(None, public))
    assert len(streamed) > 3
    assert [words for who, words in shown if who == AUCTIONEER][: len(streamed) - 1] == streamed[:-1]
    assert {who for who, _ in shown} >= {"seat_0", "seat_1"}


async def test_leaving_a_stream_early_stops_the_auction():
    stream = Auction(items=ITEMS, bidders=[agent()]).stream(agents={"Ann": Speaker(forever)})
    async for entry in stream:
        if isinstance(entry.event, BiddersAsked):
            break
    await stream.aclose()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    pending = (await asyncio.wait(others, timeout=LONG))[1] if others else set()
    assert pending == set()


async def test_an_external_termination_stops_the_room_between_two_turns():
    stop = ExternalTermination()

    async def stopping(messages):
        stop.set()
        return "I bid $1,000."

    sale, room = room_of({"Ann": Speaker(stopping, "ann"), "Ben": raiser("ben", 1)}, stop)
    async with asyncio.timeout(LONG):
        await room.run_to_end()
    assert len(of_type(sale.log.entries, BiddersAsked)) == 1
    assert not isinstance(sale.log.entries[-1].event, SaleClosed)


async def test_what_breaks_the_script_comes_out_of_the_room_as_it_was():
    sale, room = room_of({"Ann": raiser("ann", 1)})

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("the rules are broken")

    sale.settle = broken  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError, match="the rules are broken"):
        await room.run_to_end()
