"""What docs/protocol.md and its schema say is what the code does."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from contextlib import closing
from decimal import Decimal
from socket import socket
from subprocess import DEVNULL, Popen

import jsonschema
import pytest
from pydantic import TypeAdapter

from harbor import AgentCommand, AgentServer, Auction, Bidder, Item
from harbor._core.asking.asks import Amount, Ask, Space, Unreadable
from harbor._core.log.acts import Signal
from harbor._core.log.events import BidderSeated, Lot
from harbor._doors.door import LONGEST_ANSWER, SeatTurns, Usage, answer_in, object_of
from harbor._doors.processes import PASSED_ON
from harbor._games.english.events import ItemOpened, SaleOpened
from harbor.evaluation._metrics.behaviour import bids
from support.held_games import GAMES, auction
from support.processes import when
from support.protocol import PAGE, SCHEMA, schema

TEXT = PAGE.read_text(encoding="utf-8")
ASK = Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
SEEN = (
    BidderSeated("Ann", Decimal(500), {}, "profit"),
    Signal("Ann", {"Vase": Decimal(440)}, noisy=True),
    SaleOpened(("Ann", "Ben"), (Lot("Vase", Decimal(100)),), "price"),
    ItemOpened("Vase", Decimal(100), Decimal(10)),
)


def blocks(name):
    """Return the blocks of code that stand under a comment."""
    found = re.findall(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", TEXT, re.DOTALL)
    assert found, name
    return found


def test_the_turn_on_the_page_is_a_turn():
    [shown] = blocks("turn")
    assert json.loads(shown) == SeatTurns("english", "a1b2c3").of(ASK, SEEN).as_json()


def test_the_answers_on_the_page_are_answers_and_tell_what_they_cost():
    [shown] = blocks("answers to the turn above")
    given = [answer_in(object_of(line), ASK) for line in shown.splitlines()]
    assert not [one for one in given if isinstance(one.answer, Unreadable)]
    assert given[-1].usage == (Usage(model="openai:gpt-4o-mini", input_tokens=900, output_tokens=40),)


ROWS = re.findall(r"^\| `(\{\"kind.*?\})` \| .* \| `(\{.*\})` \|$", TEXT, re.MULTILINE)


def test_the_page_has_every_space_with_a_legal_answer():
    for space, answer in ROWS:
        ask = Ask("Ann", "Vase", 1, TypeAdapter(Space).validate_json(space))
        given = answer_in(object_of(answer), ask).answer
        assert not isinstance(given, Unreadable | str), given
        assert ask.space.refusal(given) == ""
    kinds = set(TypeAdapter(Space).json_schema()["discriminator"]["mapping"])
    assert {json.loads(space)["kind"] for space, _ in ROWS} == kinds


def test_the_limits_and_settings_on_the_page_hold():
    assert f"at most {LONGEST_ANSWER:,} bytes" in TEXT
    [told] = re.findall(r"It gets the variables (.*?), those that", TEXT, re.DOTALL)
    assert sorted(re.findall(r"`(\w+)`", told)) == sorted(PASSED_ON)
    assert f"`timeout_seconds` of its bidder ({Bidder('Ann').timeout_seconds:g})" in TEXT
    bidders = [one for block in blocks("settings") for one in tomllib.loads(block)["bidders"]]
    assert [type(Bidder(**one).agent) for one in bidders] == [AgentCommand, AgentServer]


# ---------------------------------------------------------------- the schema


def test_the_schema_is_that_of_the_code_and_of_the_page():
    shown = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert shown == schema(), "write it anew: PYTHONPATH=. python tests/support/protocol.py"


@pytest.mark.parametrize("game", GAMES)
def test_every_turn_of_every_game_is_as_the_schema_says(game):
    checker, turns = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))), []
    table = auction(game)
    first, *others = table.bidders
    asked = Bidder(first.name, budget=first.budget, agent=True)

    def answer(turn):
        turns.append(turn)
        return "No idea."

    table.model_copy(update={"bidders": (asked, *others)}).run(agents={asked.name: answer})
    assert turns
    for turn in turns:
        checker.validate(turn)
        assert turn.keys() == checker.schema["properties"].keys()
    assert {event["type"] for turn in turns for event in turn["seen"]} <= set(checker.schema["$defs"])


# ---------------------------------------------------------------- its programs


def bid(turn):
    [told] = [event for event in turn["seen"] if event["type"] == "signal"]
    price = turn["space"]["minimum"]
    return {"action": "bid", "amount": price} if price <= told["values"][turn["item"]] else {"action": "withdraw"}


def log(agent, given=None):
    """Return the log of a sale with this agent in a seat, without clocks and the name of its door."""
    items = [Item(name="Vase", start=100, true_value=400), Item(name="Jug", start=200, true_value=300)]
    bidders = [Bidder("Ann", agent=agent), Bidder("Ben", rule="minimum-raise")]
    result = Auction(items=items, bidders=bidders, seed=3).run(agents={"Ann": given} if given else {})
    assert [bid for bid in bids(result.log) if bid.bidder == "Ann"]
    return [entry.event for entry in result.log if type(entry.event).__name__ not in ("LogOpened", "BidderLabelled")]


NODE = pytest.param("node", "bidder.mjs", marks=pytest.mark.skipif(not shutil.which("node"), reason="no Node here"))


@pytest.mark.parametrize(("program", "file"), [(sys.executable, "bidder.py"), NODE], ids=["Python", "Node"])
def test_the_programs_on_the_page_play_as_a_function_does(program, file, tmp_path):
    [text] = blocks(file)
    (tmp_path / file).write_text(text)
    assert log(AgentCommand(command=(program, str(tmp_path / file)))) == log(True, bid)


def test_the_check_on_the_page_finds_the_program_on_it_sound(tmp_path, monkeypatch):
    [text], [check] = blocks("bidder.py"), blocks("check.py")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bidder.py").write_text(text)
    exec(check, {})


def test_the_server_on_the_page_plays_as_a_function_does(tmp_path, monkeypatch):
    monkeypatch.setenv("BIDDER_KEY", "key-of-the-bidder-alone")
    [text] = blocks("server.py")
    (tmp_path / "server.py").write_text(text)
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Popen([sys.executable, tmp_path / "server.py", str(port)], stdout=DEVNULL, stderr=DEVNULL) as server:
        try:
            when(lambda: answers_at(port), server)
            assert log(AgentServer(url=f"http://127.0.0.1:{port}/bid", api_key_env="BIDDER_KEY")) == log(True, bid)
        finally:
            server.terminate()


def answers_at(port):
    with closing(socket()) as visitor:
        return visitor.connect_ex(("127.0.0.1", port)) == 0
