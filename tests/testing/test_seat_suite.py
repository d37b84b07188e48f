"""`check_seat` finds each fault that an agent may have, and says which promise it breaks and how that was seen."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harbor import Agent
from harbor._config.agents import AgentCommand
from harbor.testing import check_seat
from support.clerk import Clerk
from support.steady import decide

Turn = dict[str, Any]


def broken(agent: Any, **how: Any) -> str:
    """Give what the suite says of an agent that is not as it should be."""
    with pytest.raises(AssertionError) as caught:
        check_seat(agent, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------- agents that keep all promises


@pytest.mark.parametrize("game", ["english", "water", "beauty"])
def test_an_agent_that_goes_up_to_a_limit_keeps_all_promises_in_any_game(game, capsys):
    def agent(turn: Turn) -> Turn:
        print("turn", turn)
        least = turn["space"]["minimum"]
        return {"action": "bid", "amount": least} if least <= 1_500 else {"action": "withdraw"}

    check_seat(agent, game)
    assert capsys.readouterr().out == "", "what it prints is not shown"


def in_words(turn: Turn) -> str:
    taken = decide(turn)
    return f"I bid ${taken['amount']:,}." if taken["action"] == "bid" else "I withdraw."


@pytest.mark.parametrize("agent", [in_words, "support.steady:decide"])
def test_an_agent_may_answer_in_words_or_be_named_as_in_settings(agent, stranger):
    check_seat(agent, like=decide)


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(("answer", "why"), [
    ({"action": "bid", "amount": 1}, "in the seat of 'Ann': ('I bid $1.', '$1 is below the least bid"),
    (None, "nothing (None) is no answer"), ({"action": "bid", "amount": float("nan")}, "amount"),
    ({"words": "I would rather not say."}, "I would rather not say."), ({"words": "x" * 1_000_000}, "too long"),
    ({"action": "withdraw", "usage": "plenty"}, "usage"),
])  # fmt: skip
def test_an_answer_that_is_none_or_not_legal_is_shown(answer, why):
    found = broken(lambda turn: answer)
    assert "gives an answer that is refused" in found
    assert why in found


# ---------------------------------------------------------------- silence and death


def test_an_agent_that_gives_no_answer_in_time_is_told():
    async def waits(turn: Turn) -> Turn:
        await asyncio.Event().wait()
        return decide(turn)

    assert "gives no answer within 0.2 s, in the seat of 'Ann'" in broken(waits, seconds=0.2)


def program(each: str) -> AgentCommand:
    """Give a program that does this with each line that it reads, and has the policy at hand."""
    place = str(Path(__file__).parents[1])
    head = f"import json, os, sys, time; sys.path.insert(0, {place!r}); from support.steady import decide\n"
    return AgentCommand(command=(sys.executable, "-c", head + each))


UNFLUSHED = "for line in sys.stdin: print(json.dumps(decide(json.loads(line))))"
SHORT = "while line := sys.stdin.buffer.readline(65_536): print(json.dumps(decide(json.loads(line))), flush=True)"


@pytest.mark.parametrize(("each", "said", "seconds"), [
    ("input(); print('out of memory', file=sys.stderr); sys.exit(3)", "exit code 3.*out of memory", 120),
    ("print('Loading...', flush=True)\nfor line in sys.stdin: pass", "Loading.*write logs to stderr", 120),
    (UNFLUSHED, "no answer within 1.5 s; a program has to flush its output after each answer", 1.5),
    (SHORT, "fails instead of an answer to a turn of more than 70,000 bytes", 120),
], ids=["dies", "prints", "unflushed", "short-lines"])  # fmt: skip
def test_a_program_that_goes_wrong_is_shown_with_what_it_did(each, said, seconds):
    found = broken(program(each), seconds=seconds)
    assert re.search(said, found), found


# ---------------------------------------------------------------- what may come one day, and what plays otherwise


def raises(turn: Turn) -> Turn:
    raise RuntimeError("not today")


def knows_all_fields(turn: Turn) -> Turn:
    assert "later" not in turn or isinstance(turn["later"], str), "what is that?"
    return decide(turn)


def knows_all_events(turn: Turn) -> Turn:
    assert not [event for event in turn["seen"] if event["type"] == "rumour_heard"], "what is that?"
    return decide(turn)


def bears_no_refusal(turn: Turn) -> Turn:
    return {"action": "bid", "amount": 0} if turn["refusal"] else decide(turn)


def forgetful(bidder: str) -> Callable[[Turn], Turn]:
    known: list[Any] = []

    def agent(turn: Turn) -> Turn:
        known.extend(turn["seen"][-turn["new"] :])
        assert len(known) >= turn["turn"], "what was that about?"
        return decide(turn)

    return agent


CLERK = Clerk()
RESTARTED = "'keeper' fails instead of an answer in the middle of a game, as after a restart"


@pytest.mark.parametrize(("agent", "said"), [
    (raises, "fails instead of an answer, in the seat of 'Ann': ('RuntimeError: not today, at line "),
    (knows_all_fields, "fails instead of an answer to a turn with a field and an event that are new to it"),
    (knows_all_events, "fails instead of an answer to a turn with a field and an event that are new to it"),
    (bears_no_refusal, "gives an answer that is refused when it is told that its last answer failed"),
    (Agent(name="keeper", description="It keeps what it hears.", make=forgetful), RESTARTED),
    (Agent(name="clerk", description="A clerk.", make=lambda _: CLERK), "'clerk' is one for two bidders: 'Ben'"),
    (5, "is a int; give a function of one turn"),
    (CLERK, "one AutoGen agent; give an Agent whose make gives one for each bidder and game"),
    ("no-such-agent", "unknown agent 'no-such-agent'"), ({"url": "nowhere"}, "is no address of a server"),
    ({"command": ["no-such-program"]}, "no program 'no-such-program'"),
])  # fmt: skip
def test_an_agent_that_breaks_a_promise_or_is_none_is_shown(agent, said):
    assert said in broken(agent)


def test_two_agents_that_play_differently_are_shown_with_where_they_differ():
    found = broken(lambda turn: {"action": "withdraw"} if turn["bidder"] == "Ben" else decide(turn), like=decide)
    assert "the agent 'decide' differ" in found
    assert "I withdraw." in found


# ---------------------------------------------------------------- what is nobody else's affair


def own(turn: Turn) -> list[str]:
    return [text for event in turn["seen"] for text in event.get("personas", ())]


@pytest.mark.parametrize("place", ["words", "usage"])
def test_an_agent_that_tells_one_seat_what_another_knows_is_found(place):
    heard: list[str] = []

    def agent(turn: Turn) -> Turn:
        heard.extend(own(turn))
        if place == "usage":
            return {**decide(turn), "usage": [{"model": heard[0], "input_tokens": 1}]}
        return {"words": "I withdraw." if turn["bidder"] == "Ann" else f"I withdraw. {heard[0]}"}

    found = broken(agent)
    assert "tells in the seat of 'Ben' what only 'Ann' may know" in found
    assert place == "usage" or "'I withdraw. You are careful with money." in found


def test_an_agent_that_mixes_up_two_games_is_found():
    heard: dict[str, str] = {}

    def agent(turn: Turn) -> Turn:
        told = heard.setdefault(turn["bidder"], own(turn)[0])
        return {**decide(turn), "usage": [{"model": told, "input_tokens": 1}]}

    assert "tells in the seat of 'Ann' what only 'Ann' of an earlier game may know" in broken(agent)
