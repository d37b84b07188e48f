"""The doorway to models: every call is counted, every reply validated, every complaint sent back."""

import asyncio
import gc
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel

from harbor import Auction, Bidder, Item, ModelSettings, Simulated, SimulatedChat
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import ConfigError, ModelError, NoReply, UnreadableReply
from harbor._core.basics.redaction import redact
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._games.english.thoughts import PROMPTS
from harbor._models.calls.client import Call, ModelClient
from harbor._models.calls.prompt import Prompt
from harbor._models.providers import settings_of
from harbor._models.replies.replay import RawCall
from harbor.graphs._context.prompting import fill

PROMPT = Prompt("guess", "You guess.", "Guess a number.", "0123456789ab")
GOOD = '{"number": 7}'


class Guess(BaseModel):
    number: int


class Scripted(BaseChatModel):
    """A chat model that gives these replies, or raises these errors, one after the other."""

    replies: list[Any]
    heard: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.heard.append(messages)
        reply = self.replies[len(self.heard) - 1]
        if isinstance(reply, BaseException):
            raise reply
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


class Desk:
    """A mouthpiece with everything that comes out of it; its clock ticks once whenever it is read."""

    def __init__(self, chat: BaseChatModel, **settings: Any) -> None:
        self.called: list[Any] = []
        self.raw: list[RawCall] = []
        own, ticks = ModelSettings(**settings), itertools.count()
        note, keep = self.called.append, self.raw.append
        self.model = ModelClient("Ann", "mine", chat, own, note, keep, lambda: float(next(ticks)))

    def ask(self, check: Callable[[Guess], str] = lambda _: "", repairs: int | None = None) -> Guess:
        return asyncio.run(self.model.ask(PROMPT, Guess, check, repairs))

    def bid(self) -> BidReply:
        return asyncio.run(self.model.ask(a_bid_prompt(), BidReply))

    @property
    def outcomes(self) -> list[str]:
        return [call.outcome for call in self.called]


def used(read: int, written: int, text: str = GOOD) -> AIMessage:
    usage: Any = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return AIMessage(text, usage_metadata=usage)


def by_tool(**args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[tool_call(name="Guess", args=args, id="1")])


def a_bid_prompt() -> Prompt:
    facts = {"budget": 5_000, "minimum": 1_000, "items": [{"item": "Lot A", "start": 1_000, "estimate": 2_200}]}
    return fill(PROMPTS / "bid.md", {"you": "Ann", "personas": [], "objective": "profit"}, facts, PROMPTS / "system.md")


# ---------------------------------------------------------------- replies and repairs


def test_a_good_reply_is_one_call():
    desk = Desk(Scripted(replies=[GOOD]))
    assert desk.ask() == Guess(number=7)
    used = {"input_tokens": 0, "output_tokens": 0, "cost_dollars": None, "cached": False, "began": 0.0, "seconds": 1.0}
    asked = {"bidder": "Ann", "purpose": "guess", "model": "mine", "prompt": "0123456789ab", "attempt": 1}
    assert desk.called == [ModelCalled(**asked, **used, outcome="ok", form="text")]


def test_a_call_that_has_ended_is_freed_at_once():
    gc.collect()
    gc.disable()
    try:
        Desk(Scripted(replies=[GOOD]), use="mine").ask()
        assert not [one for one in gc.get_objects() if isinstance(one, Call)]
    finally:
        gc.enable()


@pytest.mark.parametrize(("settings", "repairs"), [({}, 0), ({}, 1), ({}, 3), ({"repairs": 4}, None)])
def test_an_unreadable_reply_is_repaired_as_often_as_is_asked_or_set(settings, repairs):
    desk = Desk(Scripted(replies=["Hm."] * 9), **settings)
    complaint = 'the reply can\'t be used: it is not a JSON object; reply with one JSON object with "number"'
    with pytest.raises(UnreadableReply, match=f"^{complaint}$"):
        desk.ask(repairs=repairs)
    attempts = settings.get("repairs", repairs) + 1
    assert desk.outcomes == ["unreadable"] * attempts
    assert [call.attempt for call in desk.called] == list(range(1, attempts + 1))


def test_an_unreadable_reply_is_play_and_no_error_of_the_model():
    assert issubclass(UnreadableReply, NoReply)
    assert not issubclass(UnreadableReply, ModelError)


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("Hm.", "it is not a JSON object"), ('{"number": 7', "its JSON is broken"), ("{}", "'number' is missing"),
        ('{"number": "seven"}', "'number' is \"seven\"; give a plain number"), ("[7]", ""), ("", "it is empty"),
    ],
)  # fmt: skip
def test_the_complaint_is_sent_back_to_the_model_with_its_own_words(reply, complaint):
    chat = Scripted(replies=[reply, GOOD])
    assert Desk(chat).ask() == Guess(number=7)
    *_, own_words, told = chat.heard[1]
    assert own_words.content == reply
    assert "That reply can't be used" in str(told.content)
    assert complaint in str(told.content)


def test_a_repair_keeps_what_was_asked():
    chat = Scripted(replies=["Hm.", "Well.", GOOD])
    Desk(chat).ask()
    assert [[message.type for message in messages] for messages in chat.heard] == [
        ["system", "human"],
        ["system", "human", "ai", "human"],
        ["system", "human", "ai", "human", "ai", "human"],
    ]
    assert chat.heard[2][:2] == chat.heard[0]


def test_the_complaint_of_a_check_is_sent_back_to_the_model():
    chat = Scripted(replies=['{"number": 8}', GOOD])
    desk = Desk(chat)
    assert desk.ask(check=lambda guess: "it is not seven" if guess.number != 7 else "") == Guess(number=7)
    assert "it is not seven" in str(chat.heard[1][-1].content)
    assert desk.outcomes == ["unreadable", "ok"]


@pytest.mark.parametrize(
    "chat",
    [
        Scripted(replies=[by_tool(number=7)]),
        GenericFakeChatModel(messages=iter([AIMessage(GOOD)])),
        *(
            FakeListChatModel(responses=[text])
            for text in (GOOD, f"```json\n{GOOD}\n```", f"Here it is:\n```\n{GOOD}\n```")
        ),
    ],
    ids=["a tool call", "a stock fake of LangChain", "text", "a fence", "a fence after words"],
)
def test_any_chat_model_answers_by_a_tool_or_in_json_text(chat):
    assert Desk(chat).ask() == Guess(number=7)


def test_a_tool_call_that_is_no_reply_is_complained_about():
    chat = Scripted(replies=[by_tool(count=7), GOOD])
    assert Desk(chat).ask() == Guess(number=7)
    assert [json.loads(str(chat.heard[1][2].content))] == [{"count": 7}]


def test_a_model_without_tools_is_told_the_shape_of_the_reply():
    chat = Scripted(replies=[GOOD])
    Desk(chat).ask()
    assert "number" in " ".join(str(message.content) for message in chat.heard[0]).replace("Guess a number.", "")


def test_a_model_with_tools_is_bound_once_for_each_shape(monkeypatch):
    bound: list[str] = []
    bind = SimulatedChat.bind_tools

    def counting(self: SimulatedChat, tools: Any, **named: Any) -> Any:
        bound.append(tools[0].__name__)
        return bind(self, tools, **named)

    monkeypatch.setattr(SimulatedChat, "bind_tools", counting)
    desk = Desk(SimulatedChat())
    for _ in range(3):
        desk.bid()
    assert bound == ["BidReply"]


# ---------------------------------------------------------------- failures


FAILED = "model 'mine' failed: RuntimeError: 503: overloaded"


@pytest.mark.parametrize(
    ("said", "outcomes"), [([], ["failed"]), (["Hm."], ["unreadable", "failed"])], ids=["first", "later"]
)
def test_an_error_of_the_provider_is_a_model_error_that_is_counted_and_not_repaired(said, outcomes):
    desk = Desk(Scripted(replies=[*said, RuntimeError("503: overloaded"), GOOD]))
    with pytest.raises(ModelError, match=FAILED):
        desk.ask()
    assert desk.outcomes == outcomes
    assert desk.raw[-1].error == FAILED


async def test_a_cancelled_call_is_counted_too():
    begun = asyncio.Event()

    class Slow(Scripted):
        async def _agenerate(self, *_: Any, **__: Any) -> ChatResult:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

    desk = Desk(Slow(replies=[]))
    asking = asyncio.ensure_future(desk.model.ask(PROMPT, Guess))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert desk.outcomes == ["failed"]


def test_a_key_in_an_error_is_blanked_out(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-private-value")
    desk = Desk(Scripted(replies=[RuntimeError("a-very-private-value and sk-proj-abcdefgh12345678 were refused")]))
    with pytest.raises(ModelError) as caught:
        desk.ask()
    assert str(caught.value) == "model 'mine' failed: RuntimeError: [redacted] and [redacted] were refused"
    assert desk.raw[0].error == str(caught.value)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "MY_SECRET", "DB_PASSWORD", "lower_key"])
def test_the_value_of_a_secret_variable_is_blanked_out(monkeypatch, name):
    monkeypatch.setenv(name, "private-value-of-mine")
    assert redact("it is private-value-of-mine, they say") == "it is [redacted], they say"


@pytest.mark.parametrize(
    "key", ["sk-abcdefgh12345678", "sk-proj-a_b-c-12345678", "gsk_abcdefgh1234", "xai-abcdefgh1234"]
)
def test_what_looks_like_a_key_is_blanked_out(key):
    assert redact(f"Incorrect API key provided: {key}.").startswith("Incorrect API key provided: [redacted]")


@pytest.mark.parametrize("text", ["a task-oriented answer", "the house at 12 Key Street", "risk-averse bidders"])
def test_ordinary_words_are_not_blanked_out(text):
    assert redact(text) == text


# ---------------------------------------------------------------- the ledger


def test_a_raw_record_is_kept_of_every_call():
    desk = Desk(Scripted(replies=["Hm.", GOOD]))
    desk.ask()
    kept = [(call.reply, call.error, call.attempt) for call in desk.raw]
    assert kept == [("Hm.", "it is not a JSON object", 1), (GOOD, "", 2)]
    assert "You guess." in desk.raw[0].prompt[0]
    assert "Guess a number." in desk.raw[0].prompt[1]


@pytest.mark.parametrize(
    ("reply", "prices", "dollars"),
    [
        pytest.param(used(1_000_000, 500_000), (2, 10), 7.0, id="tokens and prices"),
        pytest.param(used(10, 10), (0, 0), 0, id="a price of nothing"),
        *(pytest.param(used(10, 10), prices, None, id=f"prices {prices}") for prices in ((), (1, None), (None, 1))),
        pytest.param(GOOD, (2, 10), None, id="no word of tokens"),
    ],
)
def test_cost_follows_from_tokens_and_both_prices_and_is_unknown_without_them(reply, prices, dollars):
    desk = Desk(Scripted(replies=[reply]), **dict(zip(("input_price", "output_price"), prices, strict=False)))
    desk.ask()
    assert desk.called[0].cost_dollars == (dollars and pytest.approx(dollars))


@pytest.mark.parametrize("cache", [InMemoryCache(), None], ids=["cache", "no cache"])
def test_the_second_of_two_equal_calls_comes_from_the_cache_if_there_is_one_says_so_and_costs_nothing(cache):
    desk = Desk(SimulatedChat(cache=cache), input_price=2, output_price=10)
    assert desk.bid() == desk.bid()
    assert [call.cached for call in desk.called] == [False, cache is not None]
    assert [call.cost_dollars > 0 for call in desk.called] == [True, cache is None]
    assert desk.called[1].cost_dollars >= 0


def test_the_built_in_model_counts_four_characters_a_token_and_the_shape_of_the_reply_as_read():
    prompt, chat = a_bid_prompt(), SimulatedChat()
    asked = [("system", prompt.system), ("human", prompt.human)]
    message = chat.invoke(asked)
    read, written = (-(-len(text) // 4) for text in (f"{prompt.system}\n{prompt.human}", str(message.text)))
    used = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    assert used.items() <= message.usage_metadata.items()
    assert chat.bind_tools([BidReply]).invoke(asked).usage_metadata["input_tokens"] > read


LOT = Item(name="Lot A", start=1_000, true_value=2_000)


def test_the_ledger_of_an_auction_counts_every_raw_call(tmp_path):
    faulty = ModelSettings(simulated=Simulated(unreadable_rate=0.3))
    items = [LOT.model_copy(update={"name": f"Lot {letter}"}) for letter in "ABC"]
    bidders = [Bidder("Ann", budget=9_000), Bidder("Ben", budget=9_000)]
    result = Auction(items=items, bidders=bidders, models={"simulated": faulty}).run(out=tmp_path / "run")
    called = of_type(result.log, ModelCalled)
    raw = [json.loads(line) for line in (tmp_path / "run" / "calls.jsonl").read_text().splitlines()]
    assert {call.outcome for call in called} == {"ok", "unreadable"}
    kept = sorted((call["bidder"], call["purpose"], call["attempt"]) for call in raw)
    assert sorted((call.bidder, call.purpose, call.attempt) for call in called) == kept
    assert result.metrics().calls.count == len(raw)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("simulatd", "unknown model 'simulatd'; did you mean 'simulated'?"),
        ("opnai:gpt-4o", "model 'opnai:gpt-4o': unknown provider 'opnai'; did you mean 'openai'?"),
        ("openai:", "unknown model 'openai:'; choose one of: PROVIDER:MODEL, cheap, simulated"),
        ("cheep", "unknown model 'cheep'; did you mean 'cheap'?"),
        ("zzz", "unknown model 'zzz'; choose one of: PROVIDER:MODEL, cheap, simulated"),
    ],
)
def test_an_unknown_model_is_refused_with_the_nearest_name(name, complaint):
    with pytest.raises(ConfigError) as caught:
        settings_of(name, {"cheap": ModelSettings(use="openai:gpt-4o-mini")})
    assert str(caught.value) == complaint


def test_an_unknown_model_behind_a_name_of_yours_is_refused():
    with pytest.raises(ConfigError, match="'opnai:x': unknown provider 'opnai'; did you mean 'openai'"):
        settings_of("mine", {"mine": ModelSettings(use="opnai:x")})


def test_an_unknown_model_writes_nothing(tmp_path):
    with pytest.raises(ConfigError, match="simulatd"):
        Auction(items=[LOT], bidders=[Bidder("Ann", model="simulatd")]).run(out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_chat_model_of_yours_plays_under_its_name_and_keeps_the_settings_under_it():
    bid = used(1_000_000, 0, '{"reasons": "", "action": "bid", "amount": 1500}')
    auction = Auction(
        items=[LOT],
        bidders=[Bidder("Ann", model="mine", planning="none", bidding="call")],
        models={"mine": ModelSettings(use="openai:gpt", input_price=3, output_price=3)},
    )
    run = auction.run(models={"mine": Scripted(replies=[bid, '{"budget": 0}'])})
    assert run.standings[0].spent == 1_500
    called = of_type(run.log, ModelCalled)
    assert {call.model for call in called} == {"mine"}
    assert called[0].cost_dollars == 3.0
