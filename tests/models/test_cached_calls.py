"""Calls of a model client with a cache: what is found there is no call, and counts as one all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel

from harbor import ModelSettings, ReplyCache
from harbor._core.basics.errors import ModelError, RunPaused, UnreadableReply
from harbor._models.calls.client import ModelClient
from harbor._models.calls.prompt import Prompt
from harbor._models.replies.cache import GameCache
from harbor._models.replies.replay import RawCall, ReplayCache
from harbor._models.replies.reply_folder import ReplyFolder

PROMPT = Prompt("guess", "You guess.", "Guess a number.", "0123456789ab")
PRICED = ModelSettings(
    use="openai:gpt", temperature=1.0, input_price=10.0, output_price=10.0, repairs=1, retry_seconds=0
)


class Guess(BaseModel):
    number: int


class Teller(BaseChatModel):
    """Gives these replies, or raises these errors, one after the other; usage is told too."""

    replies: list[Any]

    @property
    def _llm_type(self) -> str:
        return "teller"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        usage: Any = {"input_tokens": 100, "output_tokens": 7, "total_tokens": 107}
        usage |= {"input_token_details": {"cache_read": 64}, "output_token_details": {"reasoning": 3}}
        message = AIMessage(
            reply, usage_metadata=usage, response_metadata={"finish_reason": "stop", "model_name": "gpt-1"}
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


class Purse:
    """A budget that counts."""

    def __init__(self) -> None:
        self.admitted, self.charged = 0, 0

    async def admit(self) -> None:
        self.admitted += 1

    def charge(self, _: RawCall) -> None:
        self.charged += 1


class Desk:
    """A client with a cache, what comes out of it, and its budget."""

    def __init__(self, cache: GameCache, replies: Sequence[object] = (), recorded: Sequence[RawCall] = ()) -> None:
        self.raw: list[RawCall] = []
        self.purse = Purse()
        self.model = ModelClient("Ann", "mine", Teller(replies=list(replies)), PRICED, keep=self.raw.append)
        self.model.cache, self.model.budget, self.model.replay = cache, self.purse, ReplayCache((), recorded)

    def guess(self) -> int:
        return asyncio.run(self.model.ask(PROMPT, Guess)).number


@pytest.fixture
def cache(tmp_path) -> ReplyCache:
    return ReplyCache(tmp_path / "replies")


def number(value: int) -> str:
    return f'{{"number": {value}}}'


def test_a_reply_that_is_found_costs_nothing_and_tells_what_the_call_told(cache):
    paying, finding = Desk(cache.of_game(1), [number(7)]), Desk(cache.of_game(1))
    assert paying.guess() == finding.guess() == 7
    [paid], [found] = paying.raw, finding.raw
    assert (paid.cached, paid.cost_dollars) == (False, pytest.approx(0.00107))
    assert found == replace(paid, cached=True, cost_dollars=0.0, began=found.began, seconds=found.seconds)
    assert found.address == paid.address != ""
    assert (found.input_tokens, found.output_tokens, found.outcome) == (100, 7, "ok")
    assert (paying.purse.admitted, paying.purse.charged) == (1, 1)
    assert (finding.purse.admitted, finding.purse.charged) == (0, 0)


def test_all_that_a_message_tells_is_kept(cache):
    Desk(cache.of_game(1), [number(7)]).guess()
    [(_, entry)] = ReplyFolder(cache.folder).files()
    kept = entry.reply
    assert (kept.cached_tokens, kept.reasoning_tokens, kept.finish, kept.answered_by) == (64, 3, "stop", "gpt-1")


def test_a_reply_that_could_not_be_read_is_found_too_and_repaired_as_before(cache):
    paying, finding = Desk(cache.of_game(1), ["Hm.", number(7)]), Desk(cache.of_game(1))
    assert paying.guess() == finding.guess() == 7
    assert [call.outcome for call in finding.raw] == ["unreadable", "ok"]
    assert [call.error for call in finding.raw] == [call.error for call in paying.raw]
    hopeless = Desk(cache.of_game(2), ["Hm.", "Hm."])
    with pytest.raises(UnreadableReply):
        hopeless.guess()
    with pytest.raises(UnreadableReply):
        Desk(cache.of_game(2)).guess()


def test_a_call_that_fails_keeps_nothing(cache):
    with pytest.raises((ModelError, RunPaused)):
        Desk(cache.of_game(1), [ConnectionError("reset")]).guess()
    assert cache.is_empty
    assert Desk(cache.of_game(1), [number(8)]).guess() == 8


def test_a_request_that_a_game_repeats_is_asked_again_and_both_replies_are_found(cache):
    paying, finding = Desk(cache.of_game(1), [number(1), number(2)]), Desk(cache.of_game(1))
    assert [paying.guess(), paying.guess()] == [finding.guess(), finding.guess()] == [1, 2]


def test_a_call_that_is_replayed_counts_among_the_requests_of_its_game(cache):
    paying = Desk(cache.of_game(1), [number(1), number(2)])
    assert [paying.guess(), paying.guess()] == [1, 2]
    resumed = Desk(cache.of_game(1), recorded=paying.raw[:1])
    assert [resumed.guess(), resumed.guess()] == [1, 2]
    assert [call.address for call in resumed.raw] == [paying.raw[1].address]


def test_bidders_of_a_game_share_its_numbers(cache):
    game = cache.of_game(1)
    assert [Desk(game, [number(1)]).guess(), Desk(game, [number(2)]).guess()] == [1, 2]
