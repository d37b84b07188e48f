"""The doorway to models: every call is counted, every reply validated, every complaint sent back."""

import asyncio
import gc
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from harbor import Auction, Bidder, ModelSettings, SimulatedChat
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import ConfigError, ModelError, UnreadableReply
from harbor._core.log.events import ModelCalled
from harbor._games.english.thoughts import PROMPTS
from harbor._models.calls.client import Call, ModelClient
from harbor._models.calls.prompt import Prompt
from harbor._models.providers import settings_of
from harbor._models.replies.replay import RawCall
from harbor.graphs._context.prompting import fill
from support.scripted_chat import PROMPT, Guess, Scripted

GOOD = '{"number": 7}'


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


def a_bid_prompt() -> Prompt:
    facts = {"budget": 5_000, "minimum": 1_000, "items": [{"item": "Lot A", "start": 1_000, "estimate": 2_200}]}
    return fill(PROMPTS / "bid.md", {"you": "Ann", "personas": [], "objective": "profit"}, facts, PROMPTS / "system.md")


# ---------------------------------------------------------------- replies and repairs


def test_a_good_reply_is_one_call_in_which_the_model_is_told_the_shape_and_which_is_freed_at_once():
    chat = Scripted(replies=[GOOD])
    gc.collect()
    gc.disable()
    try:
        desk = Desk(chat)
        assert desk.ask() == Guess(number=7)
        assert not [one for one in gc.get_objects() if isinstance(one, Call)]
    finally:
        gc.enable()
    used = {"input_tokens": 0, "output_tokens": 0, "cost_dollars": None, "cached": False, "began": 0.0, "seconds": 1.0}
    asked = {"bidder": "Ann", "purpose": "guess", "model": "mine", "prompt": "0123456789ab", "attempt": 1}
    assert desk.called == [ModelCalled(**asked, **used, outcome="ok", form="text")]
    assert "number" in " ".join(str(message.content) for message in chat.heard[0]).replace("Guess a number.", "")


@pytest.mark.parametrize(("settings", "repairs"), [({}, 0), ({}, 3), ({"repairs": 4}, None)])
def test_an_unreadable_reply_is_repaired_as_often_as_is_asked_or_set(settings, repairs):
    desk = Desk(Scripted(replies=["Hm."] * 9), **settings)
    complaint = 'the reply can\'t be used: it is not a JSON object; reply with one JSON object with "number"'
    with pytest.raises(UnreadableReply, match=f"^{complaint}$"):
        desk.ask(repairs=repairs)
    attempts = settings.get("repairs", repairs) + 1
    assert [(call.outcome, call.attempt) for call in desk.called] == [("unreadable", 1 + n) for n in range(attempts)]


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("Hm.", "it is not a JSON object"), ('{"number": 7', "its JSON is broken"), ("{}", "'number' is missing"),
        ('{"number": "seven"}', "'number' is \"seven\"; give a plain number"), ("[7]", ""), ("", "it is empty"),
        ('{"number": 8}', "it is not seven"),
    ],
)  # fmt: skip
def test_the_complaint_of_the_shape_or_a_check_is_kept_and_sent_back_with_the_models_own_words(reply, complaint):
    chat = Scripted(replies=[reply, reply, GOOD])
    desk = Desk(chat)
    assert desk.ask(lambda guess: "it is not seven" if guess.number != 7 else "", repairs=2) == Guess(number=7)
    kinds = ["".join(message.type[0] for message in messages) for messages in chat.heard]
    assert kinds == ["sh", "shah", "shahah"]
    assert chat.heard[2][:2] == chat.heard[0]
    *_, own_words, told = chat.heard[1]
    assert own_words.content == reply
    assert "That reply can't be used" in str(told.content)
    assert complaint in str(told.content)
    error = desk.raw[0].error
    assert complaint in error
    assert [(call.reply, call.error, call.attempt) for call in desk.raw] == [
        (reply, error, 1), (reply, error, 2), (GOOD, "", 3),
    ]  # fmt: skip
    assert ("You guess." in desk.raw[0].prompt[0], "Guess a number." in desk.raw[0].prompt[1]) == (True, True)
    assert desk.outcomes == ["unreadable", "unreadable", "ok"]


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("said", [[], ["Hm."]], ids=["first", "later"])
def test_an_error_of_the_provider_is_counted_not_repaired_and_told_without_a_key(said, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-private-value")
    error = RuntimeError("a-very-private-value and sk-proj-abcdefgh12345678 were refused")
    desk = Desk(Scripted(replies=[*said, error, GOOD]))
    with pytest.raises(ModelError) as caught:
        desk.ask()
    assert str(caught.value) == "model 'mine' failed: RuntimeError: [redacted] and [redacted] were refused"
    assert desk.outcomes == ["unreadable"] * len(said) + ["failed"]
    assert desk.raw[-1].error == str(caught.value)


# ---------------------------------------------------------------- the ledger


@pytest.mark.parametrize(
    ("reply", "prices", "dollars"),
    [
        (used(1_000_000, 500_000), (2, 10), 7.0), (used(10, 10), (0, 0), 0), (used(10, 10), (), None),
        (used(10, 10), (1, None), None), (used(10, 10), (None, 1), None), (GOOD, (2, 10), None),
    ],
    ids=["tokens and prices", "a price of nothing", "no price", "no output price", "no input price", "no tokens"],
)  # fmt: skip
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
    called = chat.bind_tools([BidReply]).invoke(asked)
    assert called.usage_metadata["input_tokens"] > read
    assert called.usage_metadata["output_tokens"] == -(-len(json.dumps(called.tool_calls[0]["args"])) // 4)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("opnai:gpt-4o", "model 'opnai:gpt-4o': unknown provider 'opnai'; did you mean 'openai'?"),
        ("mine", "model 'opnai:x': unknown provider 'opnai'; did you mean 'openai'?"),
        ("openai:", "unknown model 'openai:'; choose one of: PROVIDER:MODEL, cheap, mine, simulated"),
        ("cheep", "unknown model 'cheep'; did you mean 'cheap'?"),
    ],
)
def test_an_unknown_model_is_refused_with_the_nearest_name_and_writes_nothing(name, complaint, tmp_path):
    models = {"cheap": ModelSettings(use="openai:gpt-4o-mini"), "mine": ModelSettings(use="opnai:x")}
    with pytest.raises(ConfigError) as caught:
        settings_of(name, models)
    assert str(caught.value) == complaint
    with pytest.raises(ConfigError):
        Auction(bidders=[Bidder("Ann", model=name)], models=models).run(out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
