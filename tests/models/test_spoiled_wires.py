"""Malformed tool calls and refusals over every wire format: none stops a run, and each is counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from harbor._core.basics.errors import Unanswered
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type, read_log
from support.folders import calls
from support.formats import FORMATS, auction, spoken
from support.providers import provider

SEED = 5
MALFORMED: dict[str, Any] = {
    "a string": json.dumps,
    "a list": lambda args: [args],
    "cut": lambda args: json.dumps(args)[:-9],
    "empty": lambda _: "",
}


def parts(form: str, reply: Any) -> list[tuple[dict[str, Any], str]]:
    """Find the calls of tools in a reply: what holds the arguments, and under which name."""
    if form == "openai chat":
        tools = reply["choices"][0]["message"].get("tool_calls") or []
        return [(one["function"], "arguments") for one in tools]
    if form == "openai responses":
        return [(one, "arguments") for one in reply["output"] if one["type"] == "function_call"]
    if form == "anthropic":
        return [(one, "input") for one in reply["content"] if one["type"] == "tool_use"]
    if form == "google":
        found = reply["candidates"][0]["content"]["parts"]
        return [(one["functionCall"], "args") for one in found if "functionCall" in one]
    return [(one["function"], "arguments") for line in reply for one in line["message"].get("tool_calls") or []]


@pytest.mark.parametrize("how", MALFORMED)
@pytest.mark.parametrize("form", FORMATS)
def test_malformed_arguments_of_a_tool_never_stop_a_run_and_stand_in_the_ledger(form, how, tmp_path):
    turn = iter(range(10**6))

    def spoil(_: Any, reply: Any) -> Any:
        if next(turn) % 3 == 1:
            for place, name in parts(form, reply):
                args = json.loads(place[name]) if isinstance(place[name], str) else place[name]
                wrong = MALFORMED[how](args)
                place[name] = wrong if isinstance(wrong, str) or not form.startswith("openai") else json.dumps(wrong)
        return reply

    with provider(seed=SEED) as server:
        server.rewrite = spoil
        run = auction(spoken(form, server), reply="tool").run(tmp_path / "run")
        served = [heard for heard in server.requests if heard.status == 200]
    made = of_type(run.log, ModelCalled)
    assert {call.outcome for call in made} <= {"ok", "unreadable"}
    assert len(served) == sum(call.retries + 1 for call in made)
    read, lost = sum(call.input_tokens for call in made), sum(call.lost.requests for call in made)
    told = sum(heard.read for heard in served)
    assert (read == told) if not lost else (read < told <= read + sum(call.lost.input_tokens for call in made))


def refusing(form: str) -> Any:
    words = "I'm sorry, but I can't help with that."

    def refuse(_: Any, reply: Any) -> Any:
        if form == "openai chat":
            message = {"role": "assistant", "content": None, "refusal": words}
            reply["choices"][0] |= {"message": message, "finish_reason": "stop"}
        elif form == "openai responses":
            refusal = {"type": "refusal", "refusal": words}
            told = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [refusal]}
            reply["output"] = [told]
        elif form == "anthropic":
            reply |= {"content": [{"type": "text", "text": words}], "stop_reason": "refusal"}
        elif form == "google":
            reply["candidates"][0] |= {
                "content": {"parts": [{"text": words}], "role": "model"},
                "finishReason": "SAFETY",
            }
        else:
            for line in reply:
                line["message"] = {"role": "assistant", "content": words}
        return reply

    return refuse


@pytest.mark.parametrize("form", FORMATS)
def test_a_refusal_is_an_outcome_of_its_own_with_its_words_in_every_format(form, tmp_path):
    with provider(seed=SEED) as server:
        server.rewrite = refusing(form)
        with pytest.raises(Unanswered, match=r"\d+ refused"):
            auction(spoken(form, server), reply="tool", repairs=0).run(tmp_path / "run")
    made = calls(tmp_path / "run")
    assert Counter(call["outcome"] for call in made) == {"refused": len(made)}
    assert all(
        "can't help with that" in json.dumps([call["reply"], call.get("message"), call["error"]]) for call in made
    )
    logged = of_type(read_log(tmp_path / "run" / "events.jsonl").entries, ModelCalled)
    assert {call.outcome for call in logged} == {"refused"}


def test_an_answer_in_json_that_was_cut_off_is_unreadable_with_its_tokens_and_stops_no_run(tmp_path):
    with provider(seed=SEED) as server:
        with pytest.raises(Unanswered):
            auction(spoken("openai chat", server), reply="json", repairs=0, max_tokens=8).run(tmp_path / "run")
        served = [heard for heard in server.requests if heard.status == 200]
    made = calls(tmp_path / "run")
    assert {(call["outcome"], call["finish"], call["retries"]) for call in made} == {("unreadable", "length", 0)}
    assert sum(call["input_tokens"] for call in made) == sum(heard.read for heard in served)
    assert not any(call["lost"]["requests"] for call in made)
