"""What a provider says is kept word for word, and a call that is replayed says the same again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel

from harbor import ModelSettings, ReplyCache
from harbor._models.calls.client import ModelClient
from harbor._models.calls.messages import LONGEST_REPLY, as_kept, beyond, in_words, message_of, written
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reply_shapes import Reading, read
from harbor._models.replies.replay import RawCall
from harbor._models.replies.replay import ReplayCache as Recorded
from harbor._models.replies.reply_folder import CachedReply, new_entry, numbered, place_of, read_entry
from harbor._runs.raw_calls import line_of, read_calls, recorded_calls

PROMPT = Prompt("guess", "You guess.", "Guess a number.", "0123456789ab")
BROKEN = invalid_tool_call(name="Guess", args='{"number": 7', id="two", error="it ends too early")
CALL = tool_call(name="Guess", args={"number": 7}, id="one")
ODD = {
    "text beside a tool call": AIMessage("I take 7.", tool_calls=[CALL]),
    "two tool calls": AIMessage("", tool_calls=[tool_call(name="Guess", args={"number": 8}, id="eight"), CALL]),
    "a malformed tool call": AIMessage("", invalid_tool_calls=[BROKEN]),
    "a malformed one beside a good one": AIMessage("", tool_calls=[CALL], invalid_tool_calls=[BROKEN]),
    "thoughts in blocks": AIMessage(
        [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": '{"number": 7}'}]
    ),
}
PLAIN = {
    "text": AIMessage('{"number": 7}'),
    "text in a block": AIMessage([{"type": "text", "text": '{"number": 7}'}]),
    "a tool call": AIMessage("", tool_calls=[CALL]),
    "a tool call in a block": AIMessage(
        [{"type": "tool_use", "id": "one", "name": "Guess", "input": {"number": 7}}], tool_calls=[CALL]
    ),
}


class Guess(BaseModel):
    number: int


class Teller(BaseChatModel):
    """Says these messages, one after the other, to any shape that is asked for."""

    replies: list[Any]
    heard: list[list[str]] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "teller"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.heard.append([str(message.content) for message in messages])
        return ChatResult(generations=[ChatGeneration(message=self.replies.pop(0))])


def client(*replies: AIMessage, recorded: list[RawCall] = [], cache: ReplyCache | None = None):  # noqa: B006
    kept: list[RawCall] = []
    settings = ModelSettings(use="openai:gpt", input_price=1.0, output_price=1.0, repairs=1)
    chat = Teller(replies=list(replies), heard=[])
    model = ModelClient("Ann", "mine", chat, settings, keep=kept.append, replay=Recorded((), recorded))
    model.cache = cache.of_game(1) if cache else None
    return model, chat, kept


def ask(model):
    checking = model.ask(PROMPT, Guess, lambda guess: "it is odd" if guess.number == 7 else "")
    return asyncio.run(checking).number


@pytest.mark.parametrize("name", ODD)
def test_what_is_said_beside_the_reply_is_in_the_record_word_for_word(name, tmp_path):
    model, _, kept = client(ODD[name], AIMessage('{"number": 8}'))
    assert ask(model) == 8
    (tmp_path / "calls.jsonl").write_bytes(b"".join(map(line_of, kept)))
    first, second = read_calls(tmp_path / "calls.jsonl")
    assert (first, second) == tuple(kept)
    assert first.message.content == ODD[name].content
    for kind in ("tool_calls", "invalid_tool_calls"):
        said = [call["args"] for call in getattr(ODD[name], kind)]
        assert [call.args for call in getattr(first.message, kind)] == said
    assert second.message is None
    assert b'"message"' not in line_of(second)


@pytest.mark.parametrize("name", ODD)
def test_a_repair_shows_all_that_was_said_and_is_the_same_when_it_is_replayed(name):
    model, chat, kept = client(ODD[name], AIMessage('{"number": 8}'))
    assert ask(model) == 8
    shown = chat.heard[-1][-2]
    for words in ("I take 7.", '{"number": 7', '"number": 8')[: 3 if name == "two tool calls" else 1]:
        assert words in shown or words not in str(ODD[name])
    for broken in ODD[name].invalid_tool_calls:
        assert broken["args"] in shown
    again, silent, none = client(recorded=kept)
    assert ask(again) == 8
    assert (silent.heard, none) == ([], [])


@pytest.mark.parametrize("name", ODD)
def test_a_reply_of_the_cache_says_the_same_again(name, tmp_path):
    cache = ReplyCache(tmp_path)
    model, _, kept = client(ODD[name], AIMessage('{"number": 8}'), cache=cache)
    assert ask(model) == 8
    again, silent, found = client(cache=cache)
    assert ask(again) == 8
    assert silent.heard == []
    said, asked = ([(call.prompt, call.reply, call.message) for call in calls] for calls in (found, kept))
    assert said == asked


@pytest.mark.parametrize("name", PLAIN)
def test_what_the_reply_says_in_full_is_kept_once(name):
    assert beyond(PLAIN[name]) is None
    assert in_words(PLAIN[name]) == written(PLAIN[name])
    assert read(as_kept(PLAIN[name]), Guess) == Reading(Guess(number=7))


def test_a_message_of_a_million_letters_is_kept_as_the_reply_that_ends_in_the_middle():
    long = AIMessage("a" * 1_000_000, invalid_tool_calls=[BROKEN])
    assert beyond(long) is None
    assert len(in_words(as_kept(long))) == LONGEST_REPLY + 1


def test_an_entry_of_an_earlier_version_is_read_and_one_with_no_message_is_what_it_was():
    asked = {"model": {"use": "openai:gpt"}, "number": 1}
    address = numbered(place_of(asked), asked)
    line = new_entry(asked, CachedReply("8", address=address)).line
    assert b'"message"' not in line
    assert read_entry(line).reply == CachedReply("8", address=address)


def test_a_line_with_a_message_that_nobody_could_have_said_is_damaged(tmp_path):
    model, _, kept = client(ODD["two tool calls"], AIMessage('{"number": 8}'))
    ask(model)
    told = json.loads(line_of(kept[0]))
    del told["digest"]
    for message in (5, {}, {**told["message"], "content": 5}, {**told["message"], "tool_calls": [5]}):
        (tmp_path / "calls.jsonl").write_text(json.dumps({**told, "message": message}))
        assert recorded_calls(tmp_path / "calls.jsonl").calls == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
TEXT = st.text(st.characters(codec=None), max_size=12)
BLOCKS = st.fixed_dictionaries({"type": st.sampled_from(["text", "thinking", "tool_use", "image"]), "text": TEXT})


@given(
    content=TEXT | st.lists(TEXT | BLOCKS, max_size=3),
    calls=st.lists(st.builds(tool_call, name=TEXT, args=st.dictionaries(TEXT, JSON, max_size=2), id=TEXT), max_size=2),
    broken=st.lists(st.builds(invalid_tool_call, name=TEXT, args=st.none() | TEXT, id=TEXT, error=TEXT), max_size=2),
)
def test_whatever_is_said_is_told_alike_live_and_replayed(content, calls, broken):
    live = as_kept(AIMessage.model_construct(content=content, tool_calls=calls, invalid_tool_calls=broken))
    replayed = message_of(written(live), beyond(live))
    for view in (written, in_words, lambda message: read(message, Guess)):
        assert repr(view(live)) == repr(view(replayed))
