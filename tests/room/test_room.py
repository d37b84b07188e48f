"""The room: real AutoGen agents of every temper sit in it, and the sale goes on."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from importlib import import_module
from random import Random
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response, TaskResult
from autogen_agentchat.conditions import ExternalTermination, FunctionalTermination, TextMentionTermination
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken
from autogen_core.models import CreateResult, RequestUsage

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
from support.replayed_chat import OfflineChat

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


class TinyClient(OfflineChat):
    """A model client that gives the same words whenever it is asked."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.asked: list[str] = []

    async def create(self, messages: Any, **_: Any) -> CreateResult:
        self.asked.append(str(messages[-1].content))
        usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
        return CreateResult(finish_reason="stop", content=self.words, usage=usage, cached=False)


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


def against_a_rule(bidder: Bidder, reasks: int = 3) -> Auction:
    """Two items, this bidder, and a rule bidder that bids once on each."""
    ben = Bidder("Ben", rule="minimum-raise", max_bids=1)
    return Auction(items=items(), bidders=[bidder, ben], rules=EnglishRules(reasks=reasks))


def sold_to_ben(log: Sequence[Any]) -> bool:
    winners = [sold.winner for sold in of_type(log, ItemSold)]
    return winners == ["Ben", "Ben"] and isinstance(log[-1].event, SaleClosed)


def room_of(
    agents: dict[str, BaseChatAgent], termination: Any = None, count: int = 2, reasks: int = 3
) -> tuple[Sale[Any], AuctionRoom]:
    """Furnish a room by hand, as a user of AutoGen would."""
    lots = tuple(english.ValuedLot(Lot(item.name, item.start), item.true_value) for item in items(count))
    rules = english.English(lots, {name: Decimal(10_000) for name in agents})
    sale = Sale(rules, tuple(agents), Log(), Random(0), acts="open")
    seats = [
        Seat(f"seat_{number}", name, player, 120, EventBuffer()) for number, (name, player) in enumerate(agents.items())
    ]
    return sale, AuctionRoom(sale, seats, [], reasks, termination)


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

    result = against_a_rule(agent()).run(agents={"Ann": Speaker(raising)})
    withdrawals = [(out.bidder, out.act.reason) for out in exits(result.log)]
    failures = of_type(result.log, SeatFailed)
    assert sold_to_ben(result.log)
    assert withdrawals == [("Ann", "fault")] * 2
    assert failures == [SeatFailed("Ann", "error", "RuntimeError: my model is gone")] * 2


def test_an_agent_that_hangs_withdraws_and_the_sale_goes_on():
    result = against_a_rule(agent(timeout_seconds=0.2)).run(agents={"Ann": Speaker(forever)})
    assert sold_to_ben(result.log)
    assert [out.act.reason for out in exits(result.log)] == ["fault"] * 2
    assert {failure.kind for failure in of_type(result.log, SeatFailed)} == {"timeout"}


def test_an_agent_that_swallows_its_cancellation_withdraws_and_the_sale_goes_on():
    async def stubborn(messages):
        try:
            return await forever(messages)
        except asyncio.CancelledError:
            return await forever(messages)

    result = against_a_rule(agent(timeout_seconds=0.1)).run(agents={"Ann": Speaker(stubborn)})
    assert sold_to_ben(result.log)
    assert [failure.kind for failure in of_type(result.log, SeatFailed)] == ["timeout"] * 2


def test_an_answer_after_the_time_is_up_is_no_bid():
    async def late(messages):
        try:
            return await forever(messages)
        except asyncio.CancelledError:
            return "I bid $5,000."

    result = against_a_rule(agent(timeout_seconds=0.1)).run(agents={"Ann": Speaker(late)})
    assert sold_to_ben(result.log)
    assert {bid.bidder for bid in bids(result.log)} == {"Ben"}


def test_an_error_after_the_time_is_up_troubles_nobody(caplog):
    async def late(messages):
        try:
            return await forever(messages)
        except asyncio.CancelledError:
            raise RuntimeError("too late") from None

    result = against_a_rule(agent(timeout_seconds=0.1)).run(agents={"Ann": Speaker(late)})
    gc.collect()
    assert sold_to_ben(result.log)
    assert "never retrieved" not in caplog.text


def test_an_agent_that_cancels_itself_withdraws_and_the_sale_goes_on():
    async def quitting(messages):
        raise asyncio.CancelledError

    result = against_a_rule(agent()).run(agents={"Ann": Speaker(quitting)})
    assert sold_to_ben(result.log)
    assert [failure.kind for failure in of_type(result.log, SeatFailed)] == ["error"] * 2


def test_an_agent_that_gives_nothing_back_withdraws_and_the_sale_goes_on():
    class Mute(Speaker):
        async def on_messages(self, messages, cancellation_token):
            return None

    result = against_a_rule(agent()).run(agents={"Ann": Mute(forever)})
    assert sold_to_ben(result.log)
    assert [failure.kind for failure in of_type(result.log, SeatFailed)] == ["error"] * 2


def test_an_agent_that_raises_before_it_can_be_awaited_withdraws_and_the_sale_goes_on():
    class Sync(Speaker):
        def on_messages(self, messages, cancellation_token):
            raise RuntimeError("not even a coroutine")

    result = against_a_rule(agent()).run(agents={"Ann": Sync(forever)})
    assert sold_to_ben(result.log)
    assert [failure.kind for failure in of_type(result.log, SeatFailed)] == ["error"] * 2


@pytest.mark.parametrize("reasks", [0, 1, 3])
def test_a_babbling_agent_is_asked_again_a_bounded_number_of_times(reasks):
    babbler = Speaker(saying("Well, between $1,000 and $3,000, I would say."))
    result = against_a_rule(agent(), reasks).run(agents={"Ann": babbler})
    asked = [ask.attempt for ask in of_type(result.log, BiddersAsked) if ask.item == "Lot A" and "Ann" in ask.bidders]
    failed = [failure.attempt for failure in of_type(result.log, Tried) if failure.item == "Lot A"]
    assert asked == failed == list(range(1, reasks + 2))
    assert [out.act.reason for out in exits(result.log)] == ["failed bids"] * 2
    assert sold_to_ben(result.log)


def test_a_babbling_agent_is_told_what_was_wrong():
    babbler = Speaker(saying("Hm.", "I bid $10.", "I bid $99,000,000.", "I bid $1,000 or $2,000.", "I withdraw."))
    against_a_rule(agent()).run(agents={"Ann": babbler})
    calls = [messages[-1].to_text() for messages in babbler.heard]
    assert "failed" not in calls[0]
    assert "neither a bid nor a withdrawal" in calls[1]
    assert "below the least bid of $1,000" in calls[2]
    assert "above the greatest bid of $1,000,000" in calls[3]


def test_who_has_bid_is_not_asked_again_when_another_babbles():
    steady = Speaker(saying("I bid $1,000.", "I withdraw."), "steady")
    auction = Auction(items=items(1), bidders=[agent("Ann"), agent("Bea")], rules=EnglishRules(reasks=2))
    auction.run(agents={"Ann": Speaker(saying("Hm.")), "Bea": steady})
    assert len(steady.heard) == 1


def test_a_key_in_the_error_of_an_agent_is_blanked_out(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-private-value")

    async def leaking(messages):
        raise RuntimeError("401: a-very-private-value and sk-proj-abcdefgh12345678 were refused")

    result = against_a_rule(agent()).run(agents={"Ann": Speaker(leaking)})
    details = {failure.detail for failure in of_type(result.log, SeatFailed)}
    assert details == {"RuntimeError: 401: [redacted] and [redacted] were refused"}


def test_a_key_in_what_an_unreadable_agent_gives_back_is_blanked_out(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-private-value")

    class Odd(Speaker):
        async def on_messages(self, messages, cancellation_token):
            class Broken:
                @property
                def chat_message(self):
                    raise RuntimeError("a-very-private-value")

            return Broken()

    result = against_a_rule(agent()).run(agents={"Ann": Odd(forever)})
    assert {failure.detail for failure in of_type(result.log, SeatFailed)} == {"RuntimeError: [redacted]"}


# ---------------------------------------------------------------- agents of any make


@pytest.mark.parametrize(
    "words",
    [
        "I bid $1,250!",
        "1250",
        "My bid: $1.25k",
        "I'll bid $1,250 for Lot A, please.",
        '{"action": "bid", "amount": 1250}',
    ],
)
def test_an_agent_that_answers_in_words_can_bid(words):
    auction = Auction(items=items(1), bidders=[agent()])
    result = auction.run(agents={"Ann": Speaker(saying(words))})
    assert of_type(result.log, ItemSold) == [ItemSold("Lot A", "Ann", Decimal(1_250))]


@pytest.mark.parametrize("words", ["I'm out", "I\u2019m out.", "I withdraw.", "Pass"])
def test_an_agent_that_answers_in_words_can_withdraw(words):
    result = against_a_rule(agent()).run(agents={"Ann": Speaker(saying(words))})
    assert {out.act.reason for out in exits(result.log)} == {"declined"}
    assert sold_to_ben(result.log)


def test_a_stock_assistant_agent_can_buy():
    client = TinyClient("I bid $1,250!")
    assistant = AssistantAgent("assistant", model_client=client)
    auction = Auction(items=items(1), bidders=[agent(), Bidder("Ben", rule="minimum-raise", max_bids=1)])
    result = auction.run(agents={"Ann": assistant})
    assert of_type(result.log, ItemSold) == [ItemSold("Lot A", "Ann", Decimal(1_250))]
    assert "your call on Lot A" in client.asked[0]


def test_a_bidder_of_harbor_joins_a_stock_team():
    bidder = PlayerAgent("ann", MinimumRaise(4), lambda: ())
    ask = Ask("Ann", "Lot A", 1, Amount(Decimal(1_000), Decimal(5_000)))
    result = asyncio.run(RoundRobinGroupChat([bidder], max_turns=1).run(task=ask_message(ask)))
    assert isinstance(result, TaskResult)
    assert result.messages[-1].to_text() == "I bid $1,000."


def test_a_bidder_of_harbor_knows_in_a_stock_team_what_it_has_seen():
    signal = Signal("Ann", {"Lot A": Decimal(900)}, noisy=True)
    bidder = PlayerAgent("ann", Truthful(), lambda: (signal,))
    ask = Ask("Ann", "Lot A", 1, Amount(Decimal(1_000), Decimal(5_000)))
    result = asyncio.run(RoundRobinGroupChat([bidder], max_turns=1).run(task=ask_message(ask)))
    assert result.messages[-1].to_text() == "I withdraw."


def test_a_bidder_of_harbor_answers_the_last_of_several_asks():
    bidder = PlayerAgent("ann", MinimumRaise(4), lambda: ())
    asks = [ask_message(Ask("Ann", "Lot A", 1, Amount(Decimal(least), Decimal(5_000)))) for least in (1_000, 1_100)]
    response = asyncio.run(bidder.on_messages(asks, CancellationToken()))
    assert response.chat_message.to_text() == "I bid $1,100."


def test_a_bidder_of_harbor_says_so_when_nobody_asked_it():
    bidder = PlayerAgent("ann", MinimumRaise(4), lambda: ())
    result = asyncio.run(RoundRobinGroupChat([bidder], max_turns=1).run(task="Hello?"))
    assert result.messages[-1].to_text() == UNASKED


def test_a_bidder_of_harbor_says_at_a_pause_that_it_is_ready():
    bidder = PlayerAgent("ann", MinimumRaise(4), lambda: ())
    response = asyncio.run(bidder.on_messages([ask_message(Pause("Ann"))], CancellationToken()))
    assert response.chat_message.to_text() == READY


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


def test_an_agent_never_hears_the_words_of_another():
    ann = Speaker(saying("I bid $1,000. Zebra!", "I bid $1,200. Zebra!", "I withdraw. Zebra!"), "ann")
    bea = Speaker(saying("I bid $1,000. Okapi!", "I bid $1,100. Okapi!", "I withdraw. Okapi!"), "bea")
    Auction(items=items(), bidders=[agent("Ann"), agent("Bea")]).run(agents={"Ann": ann, "Bea": bea})
    heard = {speaker.name: [m for ms in speaker.heard for m in ms] for speaker in (ann, bea)}
    assert {message.source for messages in heard.values() for message in messages} == {AUCTIONEER}
    assert "Okapi" not in str([message.model_dump() for message in heard["ann"]])
    assert "Zebra" not in str([message.model_dump() for message in heard["bea"]])


def test_an_agent_never_hears_what_another_is_asked():
    ann, bea = Speaker(saying("I withdraw."), "ann"), Speaker(saying("I withdraw."), "bea")
    bidders = [Bidder("Ann", agent=True, budget=31_337), Bidder("Bea", agent=True, budget=27_182)]
    Auction(items=items(), bidders=bidders).run(agents={"Ann": ann, "Bea": bea})
    heard = {speaker.name: str([m.model_dump() for ms in speaker.heard for m in ms]) for speaker in (ann, bea)}
    assert "31337" in heard["ann"]
    assert "31,337" in heard["ann"]
    assert "31337" not in heard["bea"]
    assert "31,337" not in heard["bea"]


def test_an_agent_that_was_out_hears_all_announcements_when_it_is_next_asked():
    ann = Speaker(saying("I withdraw."), "ann")
    rivals = [Bidder(name, rule="minimum-raise", max_bids=4) for name in ("Ben", "Cho")]
    result = Auction(items=items(), bidders=[agent("Ann"), *rivals]).run(agents={"Ann": ann})
    spoken = [words for entry in result.log if entry.event.audience == EVERYONE and (words := announce(entry.event))]
    before_the_last_ask = " ".join(message.to_text() for messages in ann.heard for message in messages)
    lot_b = spoken.index("Lot B opens at $1,000, in steps of at least $100.")
    assert len(ann.heard) == 2
    assert len(spoken[:lot_b]) > 10
    assert [words for words in spoken[: lot_b + 1] if words not in before_the_last_ask] == []


def test_an_agent_hears_every_announcement_once():
    ann = Speaker(saying("I bid $1,000.", "I bid $1,200.", "I withdraw."), "ann")
    rivals = [Bidder(name, rule="minimum-raise", max_bids=4) for name in ("Ben", "Cho")]
    Auction(items=items(), bidders=[agent("Ann"), *rivals]).run(agents={"Ann": ann})
    announcements = [m.to_text() for messages in ann.heard for m in messages if "ask" not in m.metadata]
    assert len(announcements) == len(set(announcements)) > 1


# ---------------------------------------------------------------- AutoGen itself


@pytest.mark.parametrize(
    ("module", "name", "attributes"),
    [
        (
            "autogen_agentchat.teams._group_chat._base_group_chat_manager",
            "BaseGroupChatManager",
            "select_speaker update_message_thread validate_group_state reset _apply_termination_condition "
            "_signal_termination",
        ),
        (
            "autogen_agentchat.teams._group_chat._chat_agent_container",
            "ChatAgentContainer",
            "_log_message",
        ),
        (
            "autogen_agentchat.teams",
            "BaseGroupChat",
            "_create_group_chat_manager_factory _create_participant_factory run_stream",
        ),
    ],
)
def test_the_private_names_of_autogen_that_the_room_stands_on_exist(module, name, attributes):
    found = getattr(import_module(module), name)
    assert [attribute for attribute in attributes.split() if not hasattr(found, attribute)] == []


async def test_the_private_fields_of_autogen_that_the_room_stands_on_exist():
    _, room = room_of({"Ann": raiser("ann", 1)})
    await room.run_to_end()
    assert isinstance(room._group_chat_manager_topic_type, str)
    manager = room._auctioneer
    assert manager is not None
    assert manager._name == AUCTIONEER
    assert isinstance(manager._output_message_queue, asyncio.Queue)


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


async def test_cancelling_an_auction_cancels_it_within_a_moment():
    thinking = asyncio.Event()

    async def pondering(messages):
        thinking.set()
        return await forever(messages)

    held = asyncio.ensure_future(against_a_rule(agent()).arun(agents={"Ann": Speaker(pondering)}))
    await asyncio.wait_for(thinking.wait(), LONG)
    held.cancel()
    done, _ = await asyncio.wait({held}, timeout=LONG)  # the agent itself has 120 s
    assert done == {held}
    assert held.cancelled()


async def test_cancelling_an_auction_cancels_the_agents_that_think():
    thinking, stopped = asyncio.Event(), asyncio.Event()

    async def pondering(messages):
        thinking.set()
        try:
            return await forever(messages)
        finally:
            stopped.set()

    held = asyncio.ensure_future(against_a_rule(agent()).arun(agents={"Ann": Speaker(pondering)}))
    await asyncio.wait_for(thinking.wait(), LONG)
    held.cancel()
    await asyncio.wait({held}, timeout=LONG)
    assert stopped.is_set()


async def test_a_cancelled_auction_leaves_a_readable_log(tmp_path):
    thinking = asyncio.Event()

    async def pondering(messages):
        if "Lot B" in messages[-1].to_text():
            thinking.set()
            return await forever(messages)
        return "I withdraw."

    auction = against_a_rule(agent())
    held = asyncio.ensure_future(auction.arun(out=tmp_path / "run", agents={"Ann": Speaker(pondering)}))
    await asyncio.wait_for(thinking.wait(), LONG)
    held.cancel()
    await asyncio.wait({held}, timeout=LONG)
    reading = read_log(tmp_path / "run" / "events.jsonl")
    assert "before the sale closed" in reading.warning
    assert [sold.winner for sold in of_type(reading.entries, ItemSold)] == ["Ben"]


async def test_leaving_a_stream_early_stops_the_auction():
    stream = against_a_rule(agent()).stream(agents={"Ann": Speaker(forever)})
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


async def test_a_text_termination_hears_the_auctioneer():
    stop = TextMentionTermination("Lot A is sold")
    sale, room = room_of({"Ann": raiser("ann", 2), "Ben": raiser("ben", 1)}, stop, count=3)
    await room.run_to_end()
    assert not isinstance(sale.log.entries[-1].event, SaleClosed)


async def test_a_termination_condition_sees_every_announcement_before_the_last():
    shown: list[str] = []

    def look(messages: Sequence[Any]) -> bool:
        shown.extend(message.to_text() for message in messages if message.source == AUCTIONEER)
        return False

    _, room = room_of({"Ann": raiser("ann", 2), "Ben": raiser("ben", 1)}, FunctionalTermination(look), count=3)
    streamed = [m.to_text() async for m in room.run_stream() if isinstance(m, TextMessage)]
    assert len(streamed) > 3
    assert shown[: len(streamed) - 1] == streamed[:-1]


async def test_a_termination_condition_sees_the_words_of_everyone_in_a_turn():
    shown: set[str] = set()

    def look(messages: Sequence[Any]) -> bool:
        shown.update(message.source for message in messages)
        return False

    _, room = room_of({name: raiser(name.lower(), 1) for name in ("Ann", "Ben", "Cho")}, FunctionalTermination(look))
    await room.run_to_end()
    assert shown >= {"seat_0", "seat_1", "seat_2"}


async def test_what_breaks_the_script_comes_out_of_the_room_as_it_was():
    sale, room = room_of({"Ann": raiser("ann", 1)})

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("the rules are broken")

    sale.settle = broken  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError, match="the rules are broken"):
        await room.run_to_end()
