"""`check_seat` finds each fault that an agent may have, and says which promise it breaks and how that was seen."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from harbor import Agent
from harbor._config.agents import AgentCommand
from harbor.testing import check_seat
from support.clerk import Clerk
from support.speaker import Speaker
from support.steady import decide

Turn = dict[str, Any]


def broken(agent: Any, **how: Any) -> str:
    """Give what the suite says of an agent that is not as it should be."""
    with pytest.raises(AssertionError) as caught:
        check_seat(agent, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------- agents that keep all promises


@pytest.mark.parametrize("game", ["english", "first-price", "water", "beauty"])
def test_an_agent_that_goes_up_to_a_limit_keeps_all_promises_in_any_game(game):
    def agent(turn: Turn) -> Turn:
        least = turn["space"]["minimum"]
        return {"action": "bid", "amount": least} if least <= 1_500 else {"action": "withdraw"}

    check_seat(agent, game)


def test_an_agent_may_answer_in_words():
    def agent(turn: Turn) -> str:
        taken = decide(turn)
        return f"I bid ${taken['amount']:,}." if taken["action"] == "bid" else "I withdraw."

    check_seat(agent, like=decide)


def test_an_agent_of_autogens_is_checked_by_the_words_that_it_says():
    check_seat(Agent(name="speaker", description="It says what it decides.", make=Speaker), like=decide)


# ---------------------------------------------------------------- answers


def lowballer(turn: Turn) -> Turn:
    return {"action": "bid", "amount": 1}


def test_an_answer_that_is_not_legal_is_shown_with_the_reason_and_the_seat():
    said = "'lowballer' gives an answer that is refused, in the seat of 'Ann': ('I bid $1.', '$1 is below the least bid"
    assert said in broken(lowballer)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "nothing (None) is no answer"),
        (42, "a value of type int is no answer"),
        ({}, "action: Field required"),
        ({"action": "bid", "amount": "lots"}, "amount"),
        ({"action": "bid", "amount": float("nan")}, "amount"),
        ({"words": "I would rather not say."}, "I would rather not say."),
        ({"words": "x" * 1_000_000}, "too long"),
        ({"action": "withdraw", "usage": "plenty"}, "usage"),
    ],
)
def test_an_answer_that_is_none_is_shown(answer, why):
    found = broken(lambda turn: answer)
    assert "gives an answer that is refused" in found
    assert why in found


# ---------------------------------------------------------------- silence and death


async def waits(turn: Turn) -> Turn:
    await asyncio.Event().wait()
    return decide(turn)


def blocks(turn: Turn) -> Turn:
    threading.Event().wait()
    return decide(turn)


async def holds_the_thread(turn: Turn) -> Turn:
    while True:
        pass


@pytest.mark.parametrize("agent", [waits, blocks, holds_the_thread])
def test_an_agent_that_gives_no_answer_in_time_is_told(agent):
    assert "gives no answer within 0.2 s, in the seat of 'Ann'" in broken(agent, seconds=0.2)


def test_a_program_that_keeps_its_answers_in_its_buffer_is_told_to_flush():
    each = "for line in sys.stdin: print(json.dumps(decide(json.loads(line))))"
    found = broken(program(each), seconds=1.5)
    assert "gives no answer within 1.5 s; a program has to flush its output after each answer" in found


def test_what_an_agent_prints_is_not_shown(capsys):
    def agent(turn: Turn) -> Turn:
        print("turn", turn)
        return decide(turn)

    check_seat(agent)
    assert capsys.readouterr().out == ""


def test_an_agent_that_raises_is_shown_with_its_error():
    def agent(turn: Turn) -> Turn:
        raise RuntimeError("not today")

    assert "fails instead of an answer, in the seat of 'Ann': ('RuntimeError: not today, at line " in broken(agent)


def test_a_fault_in_the_middle_of_the_game_is_found():
    def agent(turn: Turn) -> Turn:
        if turn["item"] == "Second House" and turn["bidder"] == "Cho":
            raise SystemExit(3)
        return decide(turn)

    assert "in the seat of 'Cho': ('SystemExit: 3',)" in broken(agent)


def program(each: str) -> AgentCommand:
    """Give a program that does this with each line that it reads, and has the policy at hand."""
    place = str(Path(__file__).parents[1])
    head = f"import json, os, sys, time; sys.path.insert(0, {place!r}); from support.steady import decide\n"
    return AgentCommand(command=(sys.executable, "-c", head + dedent(each)))


PROGRAMS = {
    "dies": ("input(); print('out of memory', file=sys.stderr); sys.exit(3)", "exit code 3.*out of memory"),
    "is killed": ("input(); os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    "prints": ("print('Loading...', flush=True)\nfor line in sys.stdin: pass", "Loading.*write logs to stderr"),
    "shouts": ("input(); print('x' * 70_000, flush=True); input()", "more than 65,536 bytes"),
    "answers ahead": (
        "for line in sys.stdin: print(json.dumps({'turn': 10**6, **decide(json.loads(line))}), flush=True)",
        r"answers the turn .*1000000",
    ),
    "nests": ("input(); print('[' * 10_000, flush=True); input()", "is no answer"),
    "names twice": ('input(); print(\'{"action": "bid", "action": "withdraw"}\', flush=True); input()', "twice"),
    "closes its output": ("input(); os.close(1); input(); input()", "closed its standard output"),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_program_that_goes_wrong_is_shown_with_what_it_did(what):
    each, said = PROGRAMS[what]
    assert re.search(said, found := broken(program(each))), found


def test_a_program_that_is_not_there_is_told():
    assert "no program 'no-such-program'" in broken({"command": ["no-such-program"]})


def test_a_server_that_is_not_there_is_told():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "start it, or mend its address" in broken({"url": f"http://127.0.0.1:{port}/"})


# ---------------------------------------------------------------- what may come one day


def knows_all_fields(turn: Turn) -> Turn:
    assert "later" not in turn or isinstance(turn["later"], str), "what is that?"
    return decide(turn)


def knows_all_events(turn: Turn) -> Turn:
    assert not [event for event in turn["seen"] if event["type"] == "rumour_heard"], "what is that?"
    return decide(turn)


@pytest.mark.parametrize("agent", [knows_all_fields, knows_all_events])
def test_an_agent_that_bears_nothing_new_is_found(agent):
    assert "fails instead of an answer to a turn with a field and an event that are new to it" in broken(agent)


def test_an_agent_that_breaks_when_its_answer_was_refused_is_found():
    def agent(turn: Turn) -> Turn:
        return {"action": "bid", "amount": 0} if turn["refusal"] else decide(turn)

    assert "gives an answer that is refused when it is told that its last answer failed" in broken(agent)


def test_an_agent_that_needs_what_it_was_told_before_a_restart_is_found():
    def make(bidder: str) -> Callable[[Turn], Turn]:
        known: list[Any] = []

        def agent(turn: Turn) -> Turn:
            known.extend(turn["seen"][-turn["new"] :])
            assert len(known) >= turn["turn"], "what was that about?"
            return decide(turn)

        return agent

    kept = Agent(name="keeper", description="It keeps what it hears.", make=make)
    assert "'keeper' fails instead of an answer in the middle of a game, as after a restart" in broken(kept)


def test_a_program_that_reads_short_lines_alone_is_found():
    each = """
        while line := sys.stdin.buffer.readline(65_536):
            print(json.dumps(decide(json.loads(line))), flush=True)
    """
    assert "fails instead of an answer to a turn of more than 70,000 bytes" in broken(program(each))


# ---------------------------------------------------------------- what is nobody else's affair


def test_an_agent_that_tells_one_seat_what_another_knows_is_found():
    heard: list[str] = []

    def agent(turn: Turn) -> Turn:
        heard.extend(text for event in turn["seen"] for text in event.get("personas", ()))
        return {"words": "I withdraw."} if turn["bidder"] == "Ann" else {"words": f"I withdraw. {heard[0]}"}

    found = broken(agent)
    assert "tells in the seat of 'Ben' what only 'Ann' may know" in found
    assert "'I withdraw. You are careful with money." in found


def test_what_an_agent_tells_of_its_calls_is_looked_at_too():
    heard: list[str] = []

    def agent(turn: Turn) -> Turn:
        heard.extend(text for event in turn["seen"] for text in event.get("personas", ()))
        return {**decide(turn), "usage": [{"model": heard[0], "input_tokens": 1}]}

    assert "tells in the seat of 'Ben' what only 'Ann' may know" in broken(agent)


def test_an_agent_that_mixes_up_two_games_is_found():
    heard: dict[str, str] = {}

    def agent(turn: Turn) -> Turn:
        mine = [text for event in turn["seen"] for text in event.get("personas", ())]
        told = heard.setdefault(turn["bidder"], mine[0])
        return {**decide(turn), "usage": [{"model": told, "input_tokens": 1}]}

    assert "tells in the seat of 'Ann' what only 'Ann' of an earlier game may know" in broken(agent)


def test_one_agent_of_autogens_for_two_bidders_is_found():
    clerk = Clerk()
    assert "'clerk' is one for two bidders: 'Ben'" in broken(
        Agent(name="clerk", description="A clerk.", make=lambda bidder: clerk)
    )


# ---------------------------------------------------------------- what is no agent, and what plays otherwise


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (5, "is a int; give a function of one turn"),
        (Clerk, "is the class Clerk; give what it makes"),
        (Clerk(), "one AutoGen agent; give an Agent whose make gives one for each bidder and game"),
        ("no-such-agent", "unknown agent 'no-such-agent'"),
        ({"url": "nowhere"}, "is no address of a server"),
        ({"command": "node bidder.mjs"}, "write the program and each argument apart"),
    ],
)
def test_what_is_no_agent_is_refused_with_the_remedy(agent, why):
    assert why in broken(agent)


def test_two_agents_that_play_differently_are_shown_with_where_they_differ():
    def agent(turn: Turn) -> Turn:
        return {"action": "withdraw"} if turn["bidder"] == "Ben" else decide(turn)

    found = broken(agent, like=decide)
    assert "the agent 'decide' differ" in found
    assert "I withdraw." in found


def test_an_agent_is_named_as_in_settings(stranger):
    check_seat("support.steady:decide", like=decide)
    assert "unknown" in broken("no-agent-of-this-name")
