"""What a provider says is kept word for word, and a call that is replayed says the same again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from harbor import ModelSettings, ReplyCache
from harbor._core.basics.errors import ModelError, RunPaused, UnreadableReply
from harbor._models.budget import RunBudget
from harbor._models.calls.client import ModelClient
from harbor._models.calls.messages import LONGEST_REPLY, as_kept, beyond, in_words, message_of, written
from harbor._models.calls.reply_shapes import Reading, read
from harbor._models.replies.cache import GameCache
from harbor._models.replies.replay import RawCall, ReplayCache
from harbor._models.replies.reply_folder import CachedReply, ReplyFolder, new_entry, numbered, place_of, read_entry
from harbor._runs.raw_calls import line_of, read_calls, recorded_calls
from support.scripted_chat import PROMPT, Guess, Scripted

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
PLAIN = [
    AIMessage('{"number": 7}'),
    AIMessage([{"type": "text", "text": '{"number": 7}'}]),
    AIMessage("", tool_calls=[CALL]),
    AIMessage([{"type": "tool_use", "id": "one", "name": "Guess", "input": {"number": 7}}], tool_calls=[CALL]),
]


class Teller(Scripted):
    """Gives its replies to any shape that is asked for."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


class Purse(RunBudget):
    """A budget that counts what it is asked."""

    admitted, charged = 0, 0

    async def admit(self) -> None:
        self.admitted += 1
        await super().admit()

    def charge(self, call: RawCall) -> None:
        self.charged += 1
        super().charge(call)


def client(*replies: AIMessage | Exception, recorded: Sequence[RawCall] = (), game: GameCache | None = None):
    kept: list[RawCall] = []
    prices = {"input_price": 10.0, "output_price": 10.0}
    settings = ModelSettings(use="openai:gpt", temperature=1.0, repairs=1, retry_seconds=0, **prices)
    chat = Teller(replies=list(replies), heard=[])
    model = ModelClient("Ann", "mine", chat, settings, keep=kept.append, replay=ReplayCache((), recorded))
    model.cache, model.budget = game, Purse(1.0, {})
    return model, chat, kept


def number(value: int) -> AIMessage:
    usage: Any = {"input_tokens": 100, "output_tokens": 7, "total_tokens": 107}
    usage |= {"input_token_details": {"cache_read": 64}, "output_token_details": {"reasoning": 3}}
    told = {"finish_reason": "stop", "model_name": "gpt-1"}
    return AIMessage(f'{{"number": {value}}}', usage_metadata=usage, response_metadata=told)


def ask(model):
    checking = model.ask(PROMPT, Guess, lambda guess: "it is odd" if guess.number == 7 else "")
    return asyncio.run(checking).number


def client_asked(*replies: AIMessage | Exception, **more: Any):
    model, chat, kept = client(*replies, **more)
    assert ask(model) == 8
    return model, chat, kept


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_what_is_said_beside_the_reply_is_recorded_and_shown_to_a_repair_and_the_same_again_when_replayed(
    odd, tmp_path
):
    cache = ReplyCache(tmp_path)
    _, chat, kept = client_asked(odd, number(8), game=cache.of_game(1))
    (tmp_path / "calls.jsonl").write_bytes(b"".join(map(line_of, kept)))
    first, second = read_calls(tmp_path / "calls.jsonl")
    assert (first, second) == tuple(kept)
    assert first.message.content == odd.content
    for kind in ("tool_calls", "invalid_tool_calls"):
        assert [call.args for call in getattr(first.message, kind)] == [call["args"] for call in getattr(odd, kind)]
    assert (second.message, b'"message"' in line_of(second)) == (None, False)

    shown = str(chat.heard[-1][-2].content)
    beside = ["I take 7.", '{"number": 7', '"number": 8'] if len(odd.tool_calls) == 2 else ["I take 7."]
    assert all(words in shown for words in beside if words in str(odd))
    assert all(broken["args"] in shown for broken in odd.invalid_tool_calls)

    _, silent, none = client_asked(recorded=kept)
    assert (silent.heard, none) == ([], [])
    _, silent, found = client_asked(game=cache.of_game(1))
    assert silent.heard == []
    said, asked = ([(call.prompt, call.reply, call.message) for call in calls] for calls in (found, kept))
    assert said == asked


def test_what_the_reply_says_in_full_is_kept_once_as_is_one_that_is_far_too_long():
    for plain in PLAIN:
        assert beyond(plain) is None
        assert in_words(plain) == written(plain)
        assert read(as_kept(plain), Guess) == Reading(Guess(number=7))
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
    model, _, kept = client(ODD["two tool calls"], number(8))
    ask(model)
    told = json.loads(line_of(kept[0]))
    del told["digest"]
    for message in (5, {}, {**told["message"], "content": 5}, {**told["message"], "tool_calls": [5]}):
        (tmp_path / "calls.jsonl").write_text(json.dumps({**told, "message": message}))
        assert recorded_calls(tmp_path / "calls.jsonl").calls == ()


# ---------------------------------------------------------------- what is found is no call, and counts as one


@pytest.fixture
def cache(tmp_path) -> ReplyCache:
    return ReplyCache(tmp_path / "replies")


def test_a_reply_that_is_found_costs_nothing_and_tells_all_that_the_call_told(cache):
    paying, _, [paid] = client_asked(number(8), game=cache.of_game(1))
    finding, _, [found] = client_asked(game=cache.of_game(1))
    assert (paid.cached, paid.cost_dollars) == (False, pytest.approx(0.00107))
    assert found == replace(paid, cached=True, cost_dollars=0.0, began=found.began, seconds=found.seconds)
    assert (paid.address != "", found.input_tokens, found.output_tokens, found.outcome) == (True, 100, 7, "ok")
    assert [(one.budget.admitted, one.budget.charged) for one in (paying, finding)] == [(1, 1), (0, 0)]
    [(_, entry)] = ReplyFolder(cache.folder).files()
    kept = entry.reply
    assert (kept.cached_tokens, kept.reasoning_tokens, kept.finish, kept.answered_by) == (64, 3, "stop", "gpt-1")


def test_a_reply_that_could_not_be_used_is_found_too_and_repaired_as_before(cache):
    odd = number(7)
    (_, _, paid), (_, _, found) = (client_asked(*said, game=cache.of_game(1)) for said in ([odd, number(8)], []))
    assert [call.outcome for call in found] == ["unreadable", "ok"]
    assert [call.error for call in found] == [call.error for call in paid]
    for replies in ([odd, odd], []):
        with pytest.raises(UnreadableReply):
            client_asked(*replies, game=cache.of_game(2))


def test_a_call_that_fails_keeps_nothing(cache):
    with pytest.raises((ModelError, RunPaused)):
        client_asked(ConnectionError("reset"), game=cache.of_game(1))
    assert cache.is_empty


def test_requests_that_a_game_repeats_have_replies_of_their_own_and_one_that_is_replayed_counts(cache):
    game = cache.of_game(1)  # which its bidders share
    paying, other = client(number(1), number(2), game=game), client(number(3), game=game)
    assert [ask(paying[0]), ask(paying[0]), ask(other[0])] == [1, 2, 3]
    finding, _, _ = client(game=cache.of_game(1))
    assert [ask(finding) for _ in range(3)] == [1, 2, 3]
    resumed, _, made = client(recorded=paying[2][:1], game=cache.of_game(1))
    assert [ask(resumed), ask(resumed)] == [1, 2]
    assert [call.address for call in made] == [paying[2][1].address]


def recorded(bidder: str, form: str, outcome: str = "ok") -> RawCall:
    return RawCall(bidder, "bid", "mine", "0", 1, outcome, 1, 1, 0.0, False, 0.0, 0.0, ["?"], "!", "", form=form)


@pytest.mark.parametrize(
    ("calls", "form"),
    [
        ([recorded("Ann", "text"), recorded("Ben", "tool")], "tool"),
        ([recorded("Ben", "words"), recorded("Ben", "json")], "json"),
        ([recorded("Ben", "tool", "failed"), recorded("Ben", "json")], "json"),
        ([recorded("Ann", "text"), recorded("Ben", "words")], None),
    ],
)
def test_a_resumed_run_knows_the_form_in_which_bidders_were_answered_who_leave_it_open(calls, form):
    assert ReplayCache((), calls).form("mine", ["Ben"]) == form


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
