"""Which of several tools is wanted: the text says it too, and a call of another one is no reply."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from harbor import Simulated, SimulatedChat
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.numbers import derive
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.messages import as_kept, beyond, message_of, written
from harbor._models.calls.reply_shapes import read
from harbor._runs.deep_verification import play_again
from support.formats import SEED, auction, spoken, told
from support.providers import provider

FORCING = ("openai chat", "openai responses", "anthropic", "google")
"""Wire formats in which one tool of several is forced by its name."""
MODEL = SimulatedChat(seed=derive(SEED, "model", "simulated"), settings=Simulated())
BID = {"reasons": "It is cheap.", "action": "bid", "amount": 1_200}
BROKEN = invalid_tool_call(name="PlanReply", args=json.dumps(BID), id="1", error="cut")


def answer(asked, name):
    """Answer as the built-in model does, and call the tool of this name, whatever is forced."""
    return MODEL.bind_tools(asked.tools, tool_choice=name).invoke(asked.messages)


def named_in(asked):
    """Name the tool that the last text names last: a model whose server passes over `tool_choice` has no more."""
    text = str(asked.messages[-1].content)
    return max((tool["function"]["name"] for tool in asked.tools), key=text.rfind)


@pytest.mark.parametrize("form", FORCING)
def test_a_model_whose_server_passes_over_the_choice_of_a_tool_calls_the_one_that_the_text_names(form):
    offline = auction({}).run()
    with provider(answer=lambda asked: answer(asked, named_in(asked))) as server:
        run = auction(spoken(form, server)).run()
    assert told(run.log) == told(offline.log)
    assert {call.outcome for call in of_type(run.log, ModelCalled)} == {"ok"}


def first_another(asked):
    """Call another tool than the wanted one, until the text says that this can't be used."""
    wanted = named_in(asked)
    others = (tool["function"]["name"] for tool in asked.tools if tool["function"]["name"] != wanted)
    return answer(asked, wanted if is_told(asked.messages[-1].content) else next(others))


def is_told(text):
    return "can't be used: it calls the tool 'BeliefReply'; call '" in text


@pytest.mark.parametrize("form", ["openai chat", "anthropic"])
def test_a_call_of_another_tool_that_is_offered_is_asked_again_and_the_model_is_told_which_is_wanted(form, tmp_path):
    with provider(answer=first_another) as server:
        auction(spoken(form, server)).run(out=tmp_path / "run")
    calls = [json.loads(line) for line in (tmp_path / "run" / "calls.jsonl").read_text().splitlines()]
    assert {call["purpose"] for call in calls} >= {"plan", "bid"}
    assert all(call["outcome"] == ("ok" if is_told(call["prompt"][-1]) else "unreadable") for call in calls)
    assert {call["form"] for call in calls} == {"tool"}
    assert play_again(tmp_path / "run").follows


def called(name, values=BID):
    return tool_call(name=name, args=values, id=name)


@pytest.mark.parametrize(
    ("message", "is_read"),
    [
        (AIMessage("", tool_calls=[called("BidReply")]), True),
        (AIMessage("", tool_calls=[called("think_aloud")]), True),
        (AIMessage("", tool_calls=[called("PlanReply")]), False),
        (AIMessage(json.dumps(BID), tool_calls=[called("PlanReply")]), False),
        (AIMessage("", tool_calls=[called("PlanReply", {"plan": "None."}), called("BidReply")]), True),
        (AIMessage("", invalid_tool_calls=[BROKEN]), False),
    ],
)
def test_a_call_of_a_tool_that_nobody_offers_is_read_and_one_of_another_that_is_offered_is_not(message, is_read):
    live = as_kept(message, frozenset({"PlanReply"}))
    assert (read(live, BidReply).reply is not None) == is_read
    assert read(message_of(written(live), beyond(live)), BidReply) == read(live, BidReply)
