"""Three seats, one a villain's: whatever it does, the others hear, do and are logged as if it had only failed."""

import asyncio
import gc
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage, StopMessage, TextMessage
from autogen_core import CancellationToken
from autogen_core.models import RequestUsage
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, EnglishRules, Item, houses
from harbor._core.basics.actions import LONGEST
from harbor._core.basics.errors import ModelError, RunPaused
from harbor._core.log.acts import Tried
from harbor._core.log.events import Answered, ModelCalled, SaleClosed, SeatFailed
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import Entry, encode
from harbor._games.english.events import ItemSold
from harbor.evaluation._metrics.behaviour import bids
from support.processes import LONG
from support.speaker import Speaker

Deed = Callable[[Sequence[BaseChatMessage], CancellationToken], Any]
LOT = [Item(name="Lot A", start=1_000, true_value=2_000)]
PATIENCE = 0.15
"""Seconds that the villain has."""


class Doer(Speaker):
    """An agent that does what it is told with each turn, the last deed from then on, and keeps what it heard."""

    def __init__(self, *deeds: Deed) -> None:
        super().__init__("somebody")
        self.deeds = list(deeds)
        self.heard: list[tuple[str, dict[str, str]]] = []

    def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Any:
        self.heard += [(message.to_text(), dict(message.metadata)) for message in messages]
        return (self.deeds.pop(0) if len(self.deeds) > 1 else self.deeds[0])(messages, cancellation_token)

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        raise RuntimeError("I do not forget")

    async def close(self) -> None:
        raise RuntimeError("I stay")


def said(words: str, **more: Any) -> Response:
    return Response(chat_message=TextMessage(content=words, source="somebody"), **more)


async def bids_once(messages: Sequence[BaseChatMessage], token: CancellationToken) -> Response:
    return said("I bid $1,100." if "Lot A" in messages[-1].to_text() else "I withdraw.")


async def fails_plainly(messages: Sequence[BaseChatMessage], token: CancellationToken) -> Response:
    raise RuntimeError("no more")


def held(*deeds: Deed, lots: str = "AB", patience: float = 120) -> tuple[Sequence[Entry], Doer]:
    """Hold a sale with a villain; give its log and the agent beside it."""
    honest = Doer(bids_once)
    items = [Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in lots]
    villain, ben = Bidder("Vic", agent=True, timeout_seconds=patience), Bidder("Ben", rule="minimum-raise", max_bids=1)
    auction = Auction(items=items, bidders=[Bidder("Ann", agent=True), villain, ben], rules=EnglishRules(reasks=1))
    return auction.run(agents={"Ann": honest, "Vic": Doer(*deeds)}).log, honest


def told(log: Sequence[Entry]) -> list[bytes]:
    """The lines of a log without clocks, and without why a seat has failed."""
    opened = replace(log[0].event, run="", token="")
    events = [opened, *(entry.event for entry in log[1:])]
    plain = [replace(one, kind="error", detail="") if isinstance(one, SeatFailed) else one for one in events]
    return [encode(Entry(seq, 0.0, event), "")[0] for seq, event in enumerate(plain)]


def failures(log: Sequence[Entry]) -> set[tuple[str, str]]:
    return {(failure.kind, failure.detail) for failure in of_type(log, SeatFailed)}


@pytest.fixture(scope="module")
def plainly() -> tuple[list[bytes], list[tuple[str, dict[str, str]]]]:
    """The log, and what the agent beside it heard, of a sale in which the villain fails plainly."""
    log, honest = held(fails_plainly)
    assert [sold.winner for sold in of_type(log, ItemSold)] == ["Ann", "Ben"]
    return told(log), honest.heard


# ---------------------------------------------------------------- what it can do in a turn


def ends(*_: Any) -> Any:
    raise SystemExit(3)


class Unshown(Exception):
    __str__ = ends


async def cancels_its_task(messages: Any, token: Any) -> Any:
    asyncio.current_task().cancel()  # type: ignore[union-attr]
    return said("I bid $5,000.")


def raises(error: BaseException) -> Deed:
    async def deed(messages: Any, token: Any) -> Any:
        raise error

    return deed


def raises_at_once(messages: Any, token: Any) -> Any:
    raise RuntimeError("not even a coroutine")


def replies(response: Any) -> Deed:
    async def deed(messages: Any, token: Any) -> Any:
        return response

    return deed


def text(give: Callable[[], Any]) -> Deed:
    return replies(SimpleNamespace(chat_message=SimpleNamespace(to_text=give, models_usage=None), inner_messages=None))


def usage(read: Any, written: Any = 1) -> Deed:
    words = TextMessage(content="I bid $5,000.", source="somebody")
    words.models_usage = RequestUsage(prompt_tokens=read, completion_tokens=written)
    return replies(Response(chat_message=words))


async def cancels_its_token(messages: Any, token: CancellationToken) -> Any:
    token.cancel()
    await asyncio.Event().wait()


async def hangs_errors_on_its_token(messages: Any, token: CancellationToken) -> Any:
    token.add_callback(ends)
    token.cancel()


def starts(background: Deed) -> Deed:
    async def deed(messages: Any, token: Any) -> Any:
        task = asyncio.ensure_future(background(messages, token))
        await asyncio.wait({task})
        task.exception()
        raise RuntimeError("no more")

    return deed


async def starts_one_that_ends(messages: Any, token: Any) -> None:
    with suppress(RuntimeError):
        await asyncio.gather(raises(SystemExit(5))(messages, token))


async def awaits_ctrl_c(messages: Any, token: Any) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.set_exception(KeyboardInterrupt())
    await future


async def throws_ctrl_c(messages: Any, token: Any) -> None:
    generator = (number for number in range(2))
    next(generator)
    generator.throw(KeyboardInterrupt())


FAILING: dict[str, tuple[Deed, str]] = {
    "cancels its token": (cancels_its_token, "cancelled itself"),
    "cancels its task": (cancels_its_task, "cancelled itself"),
    "hangs an exit on its token": (hangs_errors_on_its_token, "cancelled itself"),
    "is cancelled": (raises(asyncio.CancelledError()), "cancelled itself"),
    "exits": (raises(SystemExit(2)), "SystemExit: 2"),
    "presses Ctrl-C": (raises(KeyboardInterrupt()), "KeyboardInterrupt: "),
    "awaits a Ctrl-C of its own": (awaits_ctrl_c, "KeyboardInterrupt: "),
    "throws Ctrl-C into a generator": (throws_ctrl_c, "KeyboardInterrupt: "),
    "ends its generator": (raises(GeneratorExit()), "GeneratorExit: "),
    "stops": (raises(StopIteration()), "RuntimeError: coroutine raised StopIteration"),
    "raises what nobody catches": (raises(BaseException("all")), "BaseException: all"),
    "refuses a model": (raises(ModelError("x")), "ModelError: x"),
    "pauses the run": (raises(RunPaused("x")), "RunPaused: x"),
    "raises before it can be awaited": (raises_at_once, "RuntimeError: not even a coroutine"),
    "raises what can't be shown": (raises(Unshown()), "an error that can't be shown"),
    "has no text": (text(lambda: None), "TypeError: the text of its answer is NoneType; give words"),
    "exits when it is read": (text(ends), "SystemExit: 3"),
    "gives nothing": (replies(None), "AttributeError: 'NoneType' object has no attribute 'chat_message'"),
    "is no coroutine": (lambda *_: said("I bid $5,000."), "TypeError: object Response can't be used in 'await'"),
    "has words inside": (replies(said("I bid $5,000.", inner_messages=["x"])), "AttributeError: 'str' object has no"),
    "has a number inside": (replies(said("I bid $5,000.", inner_messages=7)), "TypeError: "),
    "used less than nothing": (usage(-1), "ValueError: the models_usage of its answer has '-1'; give 0 to 10,000,000"),
    "used too much": (usage(10**7 + 1), "ValueError: the models_usage of its answer has '10000001'; give 0 to"),
    "used half a token": (usage(1, 0.5), "ValueError: the models_usage of its answer has '0.5'; give 0 to"),
    "starts a task that exits": (starts(raises(SystemExit(5))), "RuntimeError: no more"),
    "starts a task that starts one that exits": (starts(starts_one_that_ends), "RuntimeError: no more"),
}


@pytest.mark.parametrize(("deed", "detail"), FAILING.values(), ids=FAILING)
def test_an_agent_that_misbehaves_costs_itself_the_turn_and_nobody_else_anything(deed, detail, plainly):
    log, honest = held(deed)
    assert (told(log), honest.heard) == plainly
    assert [(kind, found[: len(detail)]) for kind, found in failures(log)] == [("error", detail)]


@settings(max_examples=8)
@given(st.lists(st.sampled_from(sorted(FAILING)), min_size=4, max_size=4))
def test_an_agent_that_misbehaves_otherwise_in_every_turn_costs_itself_these_turns_alone(names):
    wild, beside = held(*(FAILING[name][0] for name in names), lots="ABCD")
    plain, beside_plain = held(fails_plainly, lots="ABCD")
    assert told(wild) == told(plain)
    assert beside.heard == beside_plain.heard


# ---------------------------------------------------------------- taking for ever


async def waits(messages: Any, token: Any) -> Any:
    await asyncio.Event().wait()


async def swallows_cancellation(messages: Any, token: Any) -> Any:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def answers_late(messages: Any, token: Any) -> Any:
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return said("I bid $5,000.")


async def fails_late(messages: Any, token: Any) -> Any:
    with suppress(asyncio.CancelledError):
        await waits(messages, token)
    raise RuntimeError("too late")


async def never_gives_the_thread_back(messages: Any, token: Any) -> Any:
    reads_for_ever()


async def does_not_let_itself_be_interrupted(messages: Any, token: Any) -> Any:
    with suppress(BaseException):
        await never_gives_the_thread_back(messages, token)
    return said("I bid $5,000.")


async def sleeps_in_c(messages: Any, token: Any) -> Any:
    time.sleep(2 * PATIENCE)
    return said("I bid $5,000.")


async def has_a_task_that_blocks(messages: Any, token: Any) -> Any:
    await asyncio.ensure_future(never_gives_the_thread_back(messages, token))


async def tidies_up_for_ever(messages: Any, token: CancellationToken) -> Any:
    token.add_callback(reads_for_ever)
    try:
        await asyncio.Event().wait()
    finally:
        reads_for_ever()


def reads_for_ever() -> str:
    while True:
        pass


ENDLESS = [
    waits, swallows_cancellation, answers_late, fails_late, never_gives_the_thread_back,
    does_not_let_itself_be_interrupted, sleeps_in_c, has_a_task_that_blocks, tidies_up_for_ever, text(reads_for_ever),
]  # fmt: skip


@pytest.mark.parametrize("deed", ENDLESS)
def test_an_agent_that_takes_for_ever_runs_out_of_time_and_costs_nobody_else_anything(deed, plainly, caplog):
    log, honest = held(deed, patience=PATIENCE)
    gc.collect()
    assert "never retrieved" not in caplog.text
    assert (told(log), honest.heard) == plainly
    assert {kind for kind, _ in failures(log)} == {"timeout"}
    assert all(f"no answer within {PATIENCE:g} s" in detail for _, detail in failures(log))


def test_the_time_for_which_an_agent_blocks_everybody_is_not_taken_from_the_others():
    seconds = 0.5  # far more than it needs, also on a busy machine

    async def unhurried(messages: Any, token: Any) -> Any:
        await asyncio.sleep(seconds / 100)
        return said("I withdraw.")

    async def sleeps_longer(messages: Any, token: Any) -> Any:
        time.sleep(1.5 * seconds)
        return said("I withdraw.")

    bidders = [Bidder("Vic", agent=True), Bidder("Ann", agent=True, timeout_seconds=seconds)]
    log = Auction(items=LOT, bidders=bidders).run(agents={"Vic": Doer(sleeps_longer), "Ann": Doer(unhurried)}).log
    assert of_type(log, SeatFailed) == []


# ---------------------------------------------------------------- touching what it was handed


def test_what_an_agent_does_to_the_messages_that_it_was_handed_reaches_nobody():
    kept: list[BaseChatMessage] = []

    async def rewrites(messages: Any, token: Any) -> Any:
        kept.extend(messages)
        answer = await bids_once(messages, token)
        for message in kept:
            message.content, message.metadata["ask"], message.source = "Lot A is sold to Vic for $1.", "{}", "Ann"
        messages.clear()
        return answer

    (wild, beside), (plain, beside_plain) = held(rewrites), held(bids_once)
    assert kept
    assert told(wild) == told(plain)
    assert beside.heard == beside_plain.heard


def test_what_an_agent_changes_in_its_answer_afterwards_changes_nothing():
    given = said("I bid $1,000.")
    given.inner_messages = []

    async def changes_its_mind(messages: Any, token: Any) -> Any:
        given.chat_message.content = "I bid $1,000."  # type: ignore[attr-defined]
        asyncio.get_running_loop().call_soon(setattr, given.chat_message, "content", "I bid $9,000.")
        return given

    log, _ = held(changes_its_mind)
    assert {bid.amount for bid in bids(log) if bid.bidder == "Vic"} == {Decimal(1_000)}


# ---------------------------------------------------------------- answers of other kinds


def test_only_the_words_of_an_answer_count_whatever_kind_of_message_they_come_in():
    words = "I bid $1,000."
    plain, beside_plain = held(replies(said(words)))
    assert isinstance(plain[-1].event, SaleClosed)
    stop, of_the_house = StopMessage(content=words, source="somebody"), TextMessage(content=words, source="auctioneer")
    for message in (stop, HandoffMessage(content=words, target="Ann", source="somebody"), of_the_house):
        kinds, honest = held(replies(Response(chat_message=message)))
        assert (told(kinds), honest.heard) == (told(plain), beside_plain.heard)


def test_an_answer_without_end_is_a_failed_bid_and_only_its_beginning_is_kept():
    log, _ = held(text(lambda: "I bid $1,000. " * 1_000_000))
    assert {len(one.words) for one in of_type(log, Answered) if one.bidder == "Vic"} == {LONGEST + 1}
    assert {one.bidder for one in of_type(log, Tried)} == {"Vic"}


def test_an_answer_that_tells_of_too_many_calls_or_has_messages_without_end_is_refused_before_they_fill_the_memory():
    def inside(used: Any) -> Any:
        return TextMessage(content="x", source="x", models_usage=used)

    one, given = RequestUsage(prompt_tokens=1, completion_tokens=1), []

    def without_end(used: Any) -> Iterator[TextMessage]:
        while len(given) < 100_000:
            given.append(1)
            yield inside(used)

    log, _ = held(replies(said("I bid $5,000.", inner_messages=[inside(one)] * 2_000)))
    assert failures(log) == {("error", "ValueError: it tells of more than 1,000 model calls in one answer")}
    assert of_type(log, ModelCalled) == []
    for used in (None, one):
        given.clear()
        message = SimpleNamespace(chat_message=said("I bid $5,000.").chat_message, inner_messages=without_end(used))
        assert failures(held(replies(message))[0]) >= {
            ("error", "ValueError: it has more than 10,000 inner messages in one answer")
        }
        assert len(given) < 100_000


def test_a_text_of_a_class_of_its_own_is_taken_as_plain_words():
    class Tricky(str):
        __getitem__ = encode = ends

    log, _ = held(text(lambda: Tricky("I withdraw.")))
    assert {one.words for one in of_type(log, Answered) if one.bidder == "Vic"} == {"I withdraw."}


# ---------------------------------------------------------------- the user


def test_ctrl_c_stops_the_sale_also_while_code_of_an_agent_runs():
    async def thinks(messages: Any, token: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        held(thinks)


async def test_cancelling_an_auction_cancels_its_agents_and_their_tokens_and_leaves_a_readable_log(tmp_path):
    tokens: list[CancellationToken] = []
    stopped: list[CancellationToken] = []
    thinking = asyncio.Event()

    async def thinks(messages: Any, token: CancellationToken) -> Any:
        tokens.append(token)
        token.add_callback(ends)
        thinking.set()
        try:
            await waits(messages, token)
        finally:
            stopped.append(token)

    auction = Auction(items=houses(2), bidders=[Bidder(name, agent=True) for name in ("Ann", "Vic")])
    agents = {"Ann": Doer(thinks), "Vic": Doer(thinks)}
    sale = asyncio.ensure_future(auction.arun(tmp_path / "run", agents=agents))
    await asyncio.wait_for(thinking.wait(), LONG)
    sale.cancel()
    await asyncio.wait({sale}, timeout=LONG)  # the agents themselves have 120 s
    assert sale.cancelled()
    assert [token.is_cancelled() for token in tokens] == [True, True]
    assert tokens[0] is not tokens[1]
    assert {*stopped} == {*tokens}
    assert "before the sale closed" in read_log(tmp_path / "run" / "events.jsonl").warning


def test_a_sale_leaves_no_task_of_its_own_behind():
    async def hold() -> set[str]:
        hasty = Bidder("Vic", agent=True, timeout_seconds=PATIENCE)
        await Auction(items=LOT, bidders=[hasty]).arun(agents={"Vic": Doer(waits)})
        gc.collect()
        return {str(task) for task in asyncio.all_tasks() - {asyncio.current_task()}}

    assert asyncio.run(hold()) == set()


# ---------------------------------------------------------------- keys that an agent says

KEY = "hunter2hunter3xyzzy"
WITH_KEY = TextMessage(content=f"I bid $1,000. My key {KEY}", source="somebody", metadata={"model": KEY})
WITH_KEY.models_usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
says_the_key = replies(Response(chat_message=WITH_KEY))


def test_a_key_that_an_agent_says_is_in_no_file_and_no_event(monkeypatch, tmp_path):
    monkeypatch.setenv("BIDDER_KEY", KEY)
    auction = Auction(items=LOT, bidders=[Bidder("Vic", agent=True), Bidder("Ben", rule="minimum-raise")])
    log = auction.run(tmp_path / "run", agents={"Vic": Doer(says_the_key)}).log
    assert of_type(log, Answered)
    assert {call.model for call in of_type(log, ModelCalled)} == {"[redacted]"}
    files = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert files
    assert not [name for name, content in files.items() if KEY[:8].encode() in content]


def test_a_key_in_the_error_of_an_agent_or_of_what_it_gives_back_is_blanked_out(monkeypatch):
    monkeypatch.setenv("BIDDER_KEY", KEY)

    def fails() -> Any:
        raise RuntimeError(KEY)

    leaks = raises(RuntimeError(f"401: {KEY} and sk-proj-abcdefgh12345678 were refused"))
    assert failures(held(leaks)[0]) == {("error", "RuntimeError: 401: [redacted] and [redacted] were refused")}
    assert failures(held(text(fails))[0]) == {("error", "RuntimeError: [redacted]")}


def test_a_bid_that_reads_like_a_key_stands(monkeypatch):
    monkeypatch.setenv("BIDDER_TOKEN", "bid $1,100")
    log, _ = held(bids_once)
    assert "I bid $1,100." in {answer.words for answer in of_type(log, Answered)}
    assert Decimal(1_100) in {bid.amount for bid in bids(log)}
    monkeypatch.delenv("BIDDER_TOKEN")
    assert told(held(bids_once)[0]) == told(log)


def test_what_is_heard_of_words_with_a_key_does_not_depend_on_the_key(monkeypatch):
    monkeypatch.setenv("BIDDER_KEY", KEY)
    hidden = of_type(held(says_the_key)[0], Tried)
    assert hidden
    assert all(failure.reason.startswith("$1,000 is below the least bid") for failure in hidden)
    monkeypatch.delenv("BIDDER_KEY")
    assert of_type(held(says_the_key)[0], Tried) == hidden
