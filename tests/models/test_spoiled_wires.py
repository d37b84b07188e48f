"""Replies that are malformed, refuse, call another tool or are spoiled: none is misread, and each is counted."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from harbor import Simulated, SimulatedChat
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import Unanswered
from harbor._core.basics.numbers import derive
from harbor._core.log.acts import Acted, Tried
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type, read_log
from harbor._models.calls.messages import as_kept, beyond, message_of, written
from harbor._models.calls.reply_shapes import read
from harbor._runs.deep_verification import play_again
from harbor.evaluation._running.runner import run_experiment
from support.cases import crossed, some
from support.commands import harbor
from support.folders import calls
from support.formats import FORMATS, SEED, auction, config, experiment_of, spoken, told
from support.providers import Faults, provider
from support.spoiled import KINDS, Spoiler

MALFORMED: dict[str, Any] = {
    "a string": json.dumps,
    "a list": lambda args: [args],
    "cut": lambda args: json.dumps(args)[:-9],
    "empty": lambda _: "",
}


def parts(reply: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Find the calls of tools in a reply of any format: what holds the arguments, and under which name."""
    for part in reply if isinstance(reply, list) else reply.values() if isinstance(reply, dict) else ():
        yield from parts(part)
    if isinstance(reply, dict):
        named = reply.keys() & {"arguments", "input", "args"}
        yield from ((reply, name) for name in named if "name" in reply)


@pytest.mark.parametrize(("form", "how"), crossed(FORMATS, [*MALFORMED]))
def test_malformed_arguments_of_a_tool_never_stop_a_run_and_stand_in_the_ledger(form, how, tmp_path, server):
    turn = iter(range(10**6))

    def spoil(_: Any, reply: Any) -> Any:
        if next(turn) % 3 == 1:
            found = list(parts(reply))
            assert found
            for place, name in found:
                args = json.loads(place[name]) if isinstance(place[name], str) else place[name]
                wrong = MALFORMED[how](args)
                place[name] = wrong if isinstance(wrong, str) or not form.startswith("openai") else json.dumps(wrong)
        return reply

    server.rewrite = spoil
    run = auction(spoken(form, server), reply="tool").run(tmp_path / "run")
    served = [heard for heard in server.requests if heard.status == 200]
    made = of_type(run.log, ModelCalled)
    assert {call.outcome for call in made} <= {"ok", "unreadable"}
    assert len(served) == sum(call.retries + 1 for call in made)
    read, lost = sum(call.input_tokens for call in made), sum(call.lost.requests for call in made)
    told = sum(heard.read for heard in served)
    assert (read == told) if not lost else (read < told <= read + sum(call.lost.input_tokens for call in made))


WORDS = "I'm sorry, but I can't help with that."
MESSAGE = {"role": "assistant", "content": None, "refusal": WORDS}
PART = {"type": "refusal", "refusal": WORDS}
TOLD = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [PART]}
CONTENT = {"parts": [{"text": WORDS}], "role": "model"}
REFUSED: dict[str, dict[str, Any]] = {
    "openai chat": {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]},
    "openai responses": {"output": [TOLD]},
    "anthropic": {"content": [{"type": "text", "text": WORDS}], "stop_reason": "refusal"},
    "google": {"candidates": [{"content": CONTENT, "finishReason": "SAFETY", "index": 0}]},
    "ollama": {"message": {"role": "assistant", "content": WORDS}},
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_refusal_is_an_outcome_of_its_own_with_its_words_in_every_format(form, tmp_path, server):
    refusal = REFUSED[form]
    server.rewrite = lambda _, reply: [a | refusal for a in reply] if form == "ollama" else reply | refusal
    with pytest.raises(Unanswered, match=r"\d+ refused"):
        auction(spoken(form, server), reply="tool", repairs=0).run(tmp_path / "run")
    made = calls(tmp_path / "run")
    assert {call["outcome"] for call in made} == {"refused"}
    said = [json.dumps([call["reply"], call.get("message"), call["error"]]) for call in made]
    assert all("can't help with that" in words for words in said)
    logged = of_type(read_log(tmp_path / "run" / "events.jsonl").entries, ModelCalled)
    assert [call.outcome for call in logged] == ["refused"] * len(made)


def test_an_answer_in_json_that_was_cut_off_is_unreadable_with_its_tokens_and_stops_no_run(tmp_path, server):
    with pytest.raises(Unanswered):
        auction(spoken("openai chat", server), reply="json", repairs=0, max_tokens=8).run(tmp_path / "run")
    served = [heard for heard in server.requests if heard.status == 200]
    made = calls(tmp_path / "run")
    assert {(call["outcome"], call["finish"], call["retries"]) for call in made} == {("unreadable", "length", 0)}
    assert sum(call["input_tokens"] for call in made) == sum(heard.read for heard in served)
    assert not any(call["lost"]["requests"] for call in made)


# ---------------------------------------------------------------- which of several tools is wanted


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


@pytest.mark.parametrize("form", ["openai chat", "anthropic"])
def test_a_model_whose_server_passes_over_the_choice_of_a_tool_calls_the_one_that_the_text_names(form, offline):
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


def test_a_call_of_another_tool_that_is_offered_is_asked_again_and_the_model_is_told_which_is_wanted(tmp_path):
    with provider(answer=first_another) as server:
        auction(spoken("openai chat", server)).run(out=tmp_path / "run")
    made = calls(tmp_path / "run")
    assert {call["purpose"] for call in made} >= {"plan", "bid"}
    assert all(call["outcome"] == ("ok" if is_told(call["prompt"][-1]) else "unreadable") for call in made)
    assert {call["form"] for call in made} == {"tool"}
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


# ---------------------------------------------------------------- whole auctions of a model that spoils all its replies


GAME = """
seed = 41
models.odd = {{ use = "openai:gpt-4o-mini", base_url = "{url}", repairs = 0 }}
items = [{{ name = "Lamp", start = 1000, true_value = 2000 }}, {{ name = "Vase", start = 2000, true_value = 3700 }}]
bidders = [{{ name = "Ann", model = "odd", budget = 6000, bidding = "call" }},
  {{ name = "Ben", rule = "minimum-raise", budget = 6000 }}]
"""
BY_HARBOR = ("failed bids", "cannot afford")
"""Why bidders leave who are not asked."""


def play(kind, folder):
    """Play an auction; return what the command did, and for each bid call: what was meant, its call and its event."""
    with provider(seed=41, name="odd") as server:
        server.rewrite = spoiler = Spoiler(kind)
        (folder / "game.toml").write_text(GAME.format(url=server.openai_url))
        done = harbor("auction", "game.toml", "--out", "run", "--json", "--no-cache", cwd=folder)
    made = [call for call in calls(folder / "run") if call["purpose"] == "bid"]
    events = [entry.event for entry in read_log(folder / "run" / "events.jsonl").entries if is_anns(entry.event)]
    return done, [(spoiler.meant[tuple(call["prompt"][1:])], call, one) for call, one in zip(made, events, strict=True)]


def is_anns(event):
    decides = isinstance(event, Acted | Tried)
    act = getattr(event, "act", None)
    return decides and event.bidder == "Ann" and getattr(act, "reason", "") not in BY_HARBOR


def became(meant, call, event):
    """Say what became of a bid; "misread" if something else was done than was meant."""
    if call["outcome"] != "ok":
        return call["outcome"] if isinstance(event, Tried) else "misread"
    if isinstance(event, Tried):
        return "rules"
    bids = meant["action"] == "bid" and event.act == Bid(Decimal(str(meant["amount"])))
    leaves = meant["action"] == "withdraw" and event.act == Withdraw()
    return "as meant" if bids or leaves else "misread"


@pytest.mark.parametrize("name", some(KINDS, {"two fences", *[*KINDS][::3]}))
def test_every_bid_of_a_model_that_spoils_its_replies_is_read_as_meant_or_refused_and_counted(name, tmp_path):
    kind = KINDS[name]
    done, bids = play(kind, tmp_path)
    assert bids
    assert {became(*bid) for bid in bids} == {kind.becomes}
    assert all(call["outcome"] == "ok" or not call["marks"] for _, call, _ in bids)
    if kind.bids or kind.becomes == "as meant":
        assert done.returncode == 0, done.stderr
        assert name != "two fences" or {tuple(call["marks"]) for _, call, _ in bids} == {("drafts",)}
        return
    assert done.returncode == 2
    assert "could be used" in done.stderr
    assert (" refused)" in done.stderr) == (kind.becomes == "refused")


# ---------------------------------------------------------------- models of which no answer can be used


PRICES = {"input_price": 1.0, "output_price": 2.0, "repairs": 0}
WAYS: dict[str, tuple[dict[str, Any], str, str]] = {
    # in plain words, which no field and no finish reason tells
    "a refusal in words": ({"answer": lambda _: AIMessage(WORDS)}, " (10 refused)", WORDS),
    "prose": ({"faults": Faults("prose")}, "", "it is not a JSON object"),
}


@pytest.mark.parametrize(("way", "beside"), [("a refusal in words", False), ("prose", True)])
def test_an_auction_of_a_model_that_never_answers_to_the_point_is_an_error_in_each_command(way, beside, tmp_path):
    def error(*command):
        done = harbor(*command, cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        return done.stderr.splitlines()[-1].removeprefix("harbor: error: ")

    how, count, reason = WAYS[way]
    with provider(seed=SEED, **how) as server:
        values = config(spoken("openai chat", server) | PRICES)
        values["bidders"] += [{"name": "Cho", "model": "simulated"}] if beside else []
        (tmp_path / "auction.json").write_text(json.dumps(values))
        told = error("auction", "auction.json", "--trust", "--out", "out")
    assert re.match(f"none of 10 answers of model 'mine' could be used{re.escape(count)}, so", told)
    assert (reason in told, "resume" in told) == (True, False)
    assert [error(command, "out") for command in ("resume", "replay")] == [told, told]
    for command in (["verify"], ["view"], ["score"], ["verify", "--deep"]):
        assert harbor(*command, "out", cwd=tmp_path).returncode == 0


def test_a_game_of_a_model_that_never_answers_to_the_point_has_failed_and_the_others_go_on(tmp_path):
    with provider(seed=SEED, faults=Faults("prose")) as server:
        sale = config({"use": "simulated"})
        sale["models"]["bad"] = spoken("openai chat", server) | PRICES
        bad = {"auction": {"bidders": {"Ann": {"model": "bad"}}}}
        design = experiment_of(sale, arms=[{"name": "good"}, {"name": "beside", **bad}], repeats=2, same_seed=False)
        asyncio.run(run_experiment(design, tmp_path / "out"))
        asked = len(server.requests)
        resumed = harbor("experiment", "resume", "out", cwd=tmp_path)
        assert len(server.requests) == asked > 0
    games = json.loads((tmp_path / "out" / "results.json").read_text())["games"]
    assert Counter((game["arm"], game["status"]) for game in games) == {
        ("good", "finished"): 2,
        ("beside", "failed"): 2,
    }
    failed, _ = (game["detail"] for game in games if game["status"] == "failed")
    assert re.match(r"none of \d+ answers of model 'bad' could be used.*it is not a JSON object", failed)
    assert (resumed.returncode, "Traceback" in resumed.stderr) == (1, False)
    assert [f"harbor: failed: beside all {number}: {failed}" in resumed.stderr for number in (1, 2)] == [True, True]
    for command in ("verify", "report"):
        done = harbor(command, "out", cwd=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
