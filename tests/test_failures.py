"""Models that fail, are slow or talk nonsense: what is lost, and what must not be."""

from __future__ import annotations

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from harbor import Auction, Bidder, Item, ModelSettings, Simulated, SimulatedChat, houses
from harbor._core.basics.errors import ModelError
from harbor._core.log.events import CLOCK_FIELDS, ModelCalled, SaleClosed, SeatFailed, ThoughtFailed
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import encode
from harbor._core.log.thoughts import Believed, Mirrored, Profiled
from harbor._games.english.events import ItemSold
from harbor._models.simulated.chat_model import read_facts

ITEMS = [Item(name=f"Item {number}", start=1000, true_value=2000) for number in (1, 2, 3)]


class Moody(SimulatedChat):
    """The built-in model, but some tasks fail: they raise, or get a fixed answer instead."""

    fails: tuple[str, ...] = ()
    says: dict[str, str] = Field(default_factory=dict)

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        text = str(messages[1].content)
        task = next(task for task in ("replan", "plan", "believe", "bid") if f'"task":"{task}"' in text)
        if task in self.fails:
            await asyncio.sleep(0)
            raise RuntimeError(f"no {task} today")
        if task in self.says:
            return ChatResult(generations=[ChatGeneration(message=AIMessage(self.says[task]))])
        return await super()._agenerate(messages, stop, run_manager, **kwargs)


def held(*, latency=0.0, out=None, timeout=120.0, **mood):
    mind = {"model": "moody", "budget": 10_000, "timeout_seconds": timeout, "bidding": "call"}
    bidders, models = [Bidder(name, **mind) for name in ("Ann", "Ben")], {"moody": ModelSettings(repairs=0)}
    auction = Auction(items=ITEMS, bidders=bidders, models=models, failed_calls="play on")
    return auction.run(models={"moody": Moody(settings=Simulated(latency_seconds=latency), **mood)}, out=out).log


def timeless(log):
    lines = [json.loads(encode(entry, "")[0]) for entry in log]
    return [{key: value for key, value in line.items() if key not in CLOCK_FIELDS} for line in lines]


def test_a_failing_replan_leaves_the_belief_beside_it_alone_at_any_latency():
    log, slow = (held(latency=latency, fails=("replan",)) for latency in (0.0, 0.02))
    assert [believed.bidder for believed in of_type(log, Believed)] == ["Ann", "Ben"] * 2
    assert {failed.purpose for failed in of_type(log, ThoughtFailed)} == {"replan"}
    assert not of_type(log, SeatFailed)
    assert timeless(slow) == timeless(log)


def test_every_call_of_a_seat_that_ran_out_of_time_is_in_the_ledger(tmp_path):
    with pytest.raises(ModelError, match="no model has answered any of"):
        held(latency=30, timeout=0.05, out=tmp_path / "run")
    log = read_log(tmp_path / "run" / "events.jsonl").entries
    raw = (tmp_path / "run" / "calls.jsonl").read_text().splitlines()
    assert len(of_type(log, ModelCalled)) == len(raw) > 0
    assert isinstance(log[-1].event, SaleClosed)


def test_a_reply_nested_beyond_all_bounds_is_an_unreadable_one():
    log = held(says={"bid": '{"a":' * 100_000})
    assert {call.outcome for call in of_type(log, ModelCalled) if call.purpose == "bid"} == {"unreadable"}
    assert not of_type(log, SeatFailed)


def test_half_a_character_in_a_reply_is_written_as_a_mark(tmp_path):
    log = held(says={"bid": '{"reasons": "\\ud83d", "action": "withdraw"}'}, out=tmp_path / "run")
    assert isinstance(log[-1].event, SaleClosed)
    text = (tmp_path / "run" / "events.jsonl").read_text(encoding="utf-8")
    assert "\\ufffd" in text or "\ufffd" in text


class Distracted(SimulatedChat):
    """The built-in model, but the first profile of Ben, mirror and belief fail; Cho's profiles come first."""

    failed: list[str] = Field(default_factory=list)

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        facts = read_facts("\n".join(str(message.content) for message in messages))
        task, of_ben = facts["task"], facts["task"] == "profile" and facts["bidder"] == "Ben"
        if task not in self.failed and (of_ben or task in ("mirror", "believe")):
            self.failed.append(task)
            raise RuntimeError("not now")
        if of_ben and self.settings.latency_seconds:
            await asyncio.sleep(self.settings.latency_seconds)
        return await super()._agenerate(messages, stop, run_manager, **kwargs)


def profiled_sale(latency=0.0):
    ann = Bidder("Ann", model="distracted", theory_of_mind="second")
    bidders = [ann, Bidder("Ben", persona="downsizing"), Bidder("Cho")]
    auction = Auction(items=houses(3), bidders=bidders, failed_calls="play on")
    return auction.run(models={"distracted": Distracted(settings=Simulated(latency_seconds=latency))}).log


def test_profiles_pictures_and_a_belief_that_failed_are_caught_up_with_at_the_next_pause():
    log = profiled_sale()
    first, second, third = (sold.item for sold in of_type(log, ItemSold))
    profiles = [(profiled.closed, profiled.rival) for profiled in of_type(log, Profiled)]
    assert profiles == [
        (first, "Cho"), (first, "Ben"), (second, "Ben"), (second, "Cho"), (third, "Ben"), (third, "Cho"),
    ]  # fmt: skip
    assert {failed.purpose for failed in of_type(log, ThoughtFailed)} == {"profile", "mirror", "believe"}
    # after the last item nobody asks for pictures
    assert [mirrored.closed for mirrored in of_type(log, Mirrored)] == [second, second]
    beliefs = [believed for believed in of_type(log, Believed) if believed.bidder == "Ann"]
    assert beliefs[0].closed == (first, second)
    assert sum(believed.errors_self + believed.errors_others for believed in beliefs) == 0


@pytest.mark.slow
def test_profiles_stand_in_seat_order_however_fast_each_was():
    assert timeless(profiled_sale(latency=0.02)) == timeless(profiled_sale())
