"""The room: real AutoGen agents of every temper sit in it, and the sale goes on."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response, TaskResult
from autogen_agentchat.conditions import ExternalTermination, FunctionalTermination
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken

from harbor import Auction, Bidder, EnglishRules, Item
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Bid, Pause, Withdraw
from harbor._core.log.acts import Acted, Signal, Tried
from harbor._core.log.events import EVERYONE, BiddersAsked, Event, Lot, SaleClosed, SeatFailed
from harbor._core.log.log import Log, of_type, read_log
from harbor._core.log.players import EventBuffer
from harbor._games.english import rules as english
from harbor._games.english.events import ItemSold
from harbor._games.policies import MinimumRaise, Truthful
from harbor._house.auctioneer import Sale, announce
from harbor._house.watchdog import READY
from harbor._room.room import AuctionRoom
from harbor._room.seats import AUCTIONEER, UNASKED, PlayerAgent, Seat, ask_message
from harbor.evaluation._metrics.behaviour import bids

Answering = Callable[[Sequence[BaseChatMessage]], Awaitable[str]]
LONG = 60  # seconds until a test that should have ended long ago is given up


class Speaker(BaseChatAgent):
    """An agent that knows nothing of Harbor: it hears words and answers in words."""

    def __init__(self, answer: Answering, name: str = "somebody") -> None:
        super().__init__(name, "An agent.")
        self.answer = answer
        self.heard: list[list[BaseChatMessage]] = []

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        self.heard.append(list(messages))
        return Response(chat_message=TextMessage(content=await self.answer(messages), source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        pass


def saying(*words: str) -> Answering:
    """Say these words one after the other, the last of them from then on."""
    left = list(words)

    async def answer(messages: Sequence[BaseChatMessage]) -> str:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


async def forever(messages: Sequence[BaseChatMessage]) -> str:
    await asyncio.Event().wait()
    return "I withdraw."


def items(count: int = 2) -> tuple[Item, ...]:
    return tuple(Item(name=f"Lot {'ABCDEF'[number]}", start=1_000, true_value=2_000) for number in range(count))


def agent(name: str = "Ann", timeout_seconds: float = 120) -> Bidder:
    return Bidder(name, agent=True, timeout_seconds=timeout_seconds)


def against_a_rule(words: Any, timeout_seconds: float = 120, reasks: int = 3) -> Any:
    """Hold a sale of two items between an agent and a rule bidder that bids once on each; return the log."""
    ben = Bidder("Ben", rule="minimum-raise", max_bids=1)
    rules = EnglishRules(reasks=reasks)
    auction = Auction(items=items(), bidders=[agent("Ann", timeout_seconds), ben], rules=rules)
    return auction.run(agents={"Ann": Speaker(words)}).log


def sold_to_ben(log: Sequence[Any]) -> bool:
    winners = [sold.winner for sold in of_type(log, ItemSold)]
    return winners == ["Ben", "Ben"] and isinstance(log[-1].event, SaleClosed)


def room_of(agents: dict[str, Any], termination: Any = None, count: int = 2) -> tuple[Sale[Any], AuctionRoom]:
    """Furnish a room by hand, as a user of AutoGen would."""
    lots = tuple(english.ValuedLot(Lot(item.name, item.start), item.true_value) for item in items(count))
    rules = english.English(lots, {name: Decimal(10_000) for name in agents})
    sale = Sale(rules, tuple(agents), Log(), Random(0), acts="open")
    seats = [Seat(f"seat_{at}", name, player, 120, EventBuffer()) for at, (name, player) in enumerate(agents.items())]
    return sale, AuctionRoom(sale, seats, [], 3, termination)


def exits(log: Any) -> list[Acted]:
    """The withdrawals in a log, with their reasons."""
    return [act for act in of_type(log, Acted) if isinstance(act.act, Withdraw)]


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


# ---------------------------------------------------------------- agents that fail


def test_an_agent_that_raises_withdraws_and_the_sale_goes_on():
    async def raising(messages):
        raise RuntimeError("my model is gone")

    log = against_a_rule(raising)
    assert sold_to_ben(log)
    assert [(out.bidder, out.act.reason) for out in exits(log)] == [("Ann", "fault")] * 2
    assert of_type(log, SeatFailed) == [SeatFailed("Ann", "error", "RuntimeError: my model is gone")] * 2


def test_an_error_after_the_time_is_up_troubles_nobody(caplog):
    async def late(messages):
        try:
            return await forever(messages)
        except asyncio.CancelledError:
            raise RuntimeError("too late") from None

    log = against_a_rule(late, timeout_seconds=0.1)
    gc.collect()
    assert sold_to_ben(log)
    assert "never retrieved" not in caplog.text


@pytest.mark.parametrize("reasks", [0, 3])
def test_a_babbling_agent_is_asked_again_a_bounded_number_of_times(reasks):
    log = against_a_rule(saying("Well, between $1,000 and $3,000, I would say."), reasks=reasks)
    asked = [ask.attempt for ask in of_type(log, BiddersAsked) if ask.item == "Lot A" and "Ann" in ask.bidders]
    failed = [failure.attempt for failure in of_type(log, Tried) if failure.item == "Lot A"]
    assert asked == failed == list(range(1, reasks + 2))
    assert [out.act.reason for out in exits(log)] == ["failed bids"] * 2
    assert sold_to_ben(log)


def test_a_babbling_agent_is_told_what_was_wrong_and_who_has_bid_is_not_asked_again():
    babbler = Speaker(saying("Hm.", "I bid $10.", "I bid $99,000,000.", "I withdraw."))
    steady = Speaker(saying("I bid $1,000.", "I withdraw."), "steady")
    auction = Auction(items=items(1), bidders=[agent("Ann"), agent("Bea")], rules=EnglishRules(reasks=3))
    auction.run(agents={"Ann": babbler, "Bea": steady})
    assert len(steady.heard) == 1
    calls = [messages[-1].to_text() for messages in babbler.heard]
    wrong = "neither a bid nor a withdrawal", "below the least bid of $1,000", "above the greatest bid of $1,000,000"
    assert [part in words for part, words in zip(("failed", *wrong), calls, strict=True)] == [False, True, True, True]


def test_a_key_in_the_error_of_an_agent_or_of_what_it_gives_back_is_blanked_out(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-private-value")

    async def leaking(messages):
        raise RuntimeError("401: a-very-private-value and sk-proj-abcdefgh12345678 were refused")

    class Broken:
        @property
        def chat_message(self):
            raise RuntimeError("a-very-private-value")

    class Odd(Speaker):
        async def on_messages(self, messages, cancellation_token):
            return Broken()

    details = [failure.detail for failure in of_type(against_a_rule(leaking), SeatFailed)]
    assert details == ["RuntimeError: 401: [redacted] and [redacted] were refused"] * 2
    log = Auction(items=items(1), bidders=[agent()]).run(agents={"Ann": Odd(forever)}).log
    assert [failure.detail for failure in of_type(log, SeatFailed)] == ["RuntimeError: [redacted]"]


# ---------------------------------------------------------------- agents of any make


@pytest.mark.parametrize(
    ("words", "paid"),
    [("I bid $1,250!", 1_250), ("1250", 1_250), ('{"action": "bid", "amount": 1250}', 1_250), ("I\u2019m out.", None)],
)
def test_an_agent_that_answers_in_words_can_bid_and_withdraw(words, paid):
    log = Auction(items=items(1), bidders=[agent()]).run(agents={"Ann": Speaker(saying(words))}).log
    assert [(sold.winner, sold.price) for sold in of_type(log, ItemSold)] == ([("Ann", paid)] if paid else [])
    assert [out.act.reason for out in exits(log)] == ([] if paid else ["declined"])


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


async def test_all_bidders_of_a_round_think_at_the_same_moment():
    names = ["Ann", "Bea", "Cho", "Dan"]
    barrier = asyncio.Barrier(len(names))

    async def together(messages):
        await barrier.wait()
        return "I withdraw."

    auction = Auction(items=items(), bidders=[agent(name, timeout_seconds=LONG) for name in names])
    result = await auction.arun(agents={name: Speaker(together, name.lower()) for name in names})
    assert of_type(result.log, SeatFailed) == []


async def test_answers_are_heard_in_seat_order_whoever_is_first():
    last_has_spoken = asyncio.Event()

    async def slow(messages):
        await last_has_spoken.wait()
        return "I bid $1,000."

    async def quick(messages):
        last_has_spoken.set()
        return "I bid $1,000."

    bidders = [agent("Ann", LONG), agent("Bea", LONG)]
    result = await Auction(items=items(1), bidders=bidders).arun(
        agents={"Ann": Speaker(slow, "ann"), "Bea": Speaker(quick, "bea")}
    )
    assert [bid.bidder for bid in bids(result.log)][:2] == ["Ann", "Bea"]


def test_an_agent_never_hears_the_words_of_another_nor_what_it_is_asked():
    ann = Speaker(saying("I bid $1,000. Zebra!", "I bid $1,200. Zebra!", "I withdraw. Zebra!"), "ann")
    bea = Speaker(saying("I bid $1,000. Okapi!", "I bid $1,100. Okapi!", "I withdraw. Okapi!"), "bea")
    bidders = [Bidder("Ann", agent=True, budget=31_337), Bidder("Bea", agent=True, budget=27_182)]
    Auction(items=items(), bidders=bidders).run(agents={"Ann": ann, "Bea": bea})
    heard = {one.name: [message for messages in one.heard for message in messages] for one in (ann, bea)}
    assert {message.source for messages in heard.values() for message in messages} == {AUCTIONEER}
    texts = {name: str([message.model_dump() for message in messages]) for name, messages in heard.items()}
    words = ("31337", "31,337", "Zebra", "27182", "27,182", "Okapi")
    assert [word in texts["ann"] for word in words] == [True] * 3 + [False] * 3
    assert [word in texts["bea"] for word in words] == [False] * 3 + [True] * 3


# ---------------------------------------------------------------- AutoGen itself


async def test_a_room_streams_the_announcements_and_nothing_else():
    sale, room = room_of({"Ann": raiser("ann", 2), "Ben": raiser("ben", 1)})
    streamed = [message async for message in room.run_stream()]
    messages, end = streamed[:-1], streamed[-1]
    assert isinstance(end, TaskResult)
    assert end.stop_reason == "The sale is closed."
    assert {message.source for message in messages if isinstance(message, TextMessage)} == {AUCTIONEER}
    spoken = " ".join(message.to_text() for message in messages if isinstance(message, TextMessage))
    assert spoken == " ".join(
        words for e in sale.log.entries if e.event.audience == EVERYONE and (words := announce(e.event))
    )


async def test_cancelling_an_auction_stops_it_and_its_agents_within_a_moment_and_leaves_a_readable_log(tmp_path):
    thinking, stopped = asyncio.Event(), asyncio.Event()

    async def pondering(messages):
        if "Lot A" in messages[-1].to_text():
            return "I withdraw."
        thinking.set()
        try:
            return await forever(messages)
        finally:
            stopped.set()

    auction = Auction(items=items(), bidders=[agent(), Bidder("Ben", rule="minimum-raise", max_bids=1)])
    held = asyncio.ensure_future(auction.arun(out=tmp_path / "run", agents={"Ann": Speaker(pondering)}))
    await asyncio.wait_for(thinking.wait(), LONG)
    held.cancel()
    await asyncio.wait({held}, timeout=LONG)  # the agent itself has 120 s
    assert (held.cancelled(), stopped.is_set()) == (True, True)
    reading = read_log(tmp_path / "run" / "events.jsonl")
    assert "before the sale closed" in reading.warning
    assert [sold.winner for sold in of_type(reading.entries, ItemSold)] == ["Ben"]


async def test_leaving_a_stream_early_stops_the_auction():
    stream = Auction(items=items(), bidders=[agent()]).stream(agents={"Ann": Speaker(forever)})
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


async def test_a_termination_condition_sees_every_announcement_before_the_last_and_the_words_of_everyone():
    shown: list[tuple[str, str]] = []

    def look(messages: Sequence[Any]) -> bool:
        shown.extend((message.source, message.to_text()) for message in messages)
        return False

    agents = {"Ann": raiser("ann", 2), "Ben": raiser("ben", 1), "Cho": raiser("cho", 1)}
    _, room = room_of(agents, FunctionalTermination(look), count=3)
    streamed = [m.to_text() async for m in room.run_stream() if isinstance(m, TextMessage)]
    assert len(streamed) > 3
    assert [words for who, words in shown if who == AUCTIONEER][: len(streamed) - 1] == streamed[:-1]
    assert {who for who, _ in shown} >= {"seat_0", "seat_1", "seat_2"}


async def test_what_breaks_the_script_comes_out_of_the_room_as_it_was():
    sale, room = room_of({"Ann": raiser("ann", 1)})

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("the rules are broken")

    sale.settle = broken  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError, match="the rules are broken"):
        await room.run_to_end()
