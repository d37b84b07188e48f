"""A sale goes on, whatever the processes and servers in its seats do, and leaves nothing of theirs behind."""

from __future__ import annotations

import sys
from contextlib import closing
from socket import socket

import psutil
import pytest

from harbor import AgentCommand, AgentServer, Auction, Bidder, Item, of_type
from harbor._config.agents import FLUSH
from harbor._core.asking.asks import Withdraw
from harbor._core.log.acts import Acted, Tried
from harbor._core.log.events import SeatFailed
from harbor._doors import processes
from harbor._games.english.events import ItemSold

DEAF = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
while True:
    time.sleep(3600)
"""
CHATTY = """
import sys
for line in sys.stdin:
    print("Let me think about that ...", flush=True)
"""
DYING = "raise SystemExit('no model, no bid')"
WELL = """
import json, sys
for line in sys.stdin:
    turn = json.loads(line)
    print(json.dumps({"turn": turn["turn"], "action": "bid", "amount": turn["space"]["minimum"]}), flush=True)
"""
ITEMS = [Item(name="Vase", start=100, true_value=400), Item(name="Jug", start=200, true_value=300)]


def python(program):
    return AgentCommand(command=(sys.executable, "-c", program))


@pytest.fixture
def nobody():
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{free.getsockname()[1]}/bid"


def test_a_sale_with_all_kinds_of_broken_agents_ends_and_sells_to_the_one_that_answers(nobody, monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE_SECONDS", 0.2)
    bidders = [
        Bidder("Deaf", agent=python(DEAF), timeout_seconds=0.5),
        Bidder("Chatty", agent=python(CHATTY)),
        Bidder("Dying", agent=python(DYING)),
        Bidder("Nobody", agent=AgentServer(url=nobody)),
        Bidder("Well", agent=python(WELL)),
    ]
    result = Auction(items=ITEMS, bidders=bidders).run()
    assert [sold.winner for sold in of_type(result.log, ItemSold)] == ["Well", "Well"]
    failures = {one.bidder: (one.kind, one.detail) for one in of_type(result.log, SeatFailed)}
    assert failures["Deaf"] == ("timeout", f"no answer within 0.5 s{FLUSH}")
    assert "ended with exit code 1" in failures["Dying"][1]
    assert "its stderr ends in 'no model, no bid'" in failures["Dying"][1]
    assert f"{nobody} gives no answer (ConnectError" in failures["Nobody"][1]
    reasons = {one.reason for one in of_type(result.log, Tried) if one.bidder == "Chatty"}
    assert all("'Let me think about that ...' is no answer" in reason for reason in reasons)
    assert reasons
    gone = {one.bidder: one.act.reason for one in of_type(result.log, Acted) if isinstance(one.act, Withdraw)}
    assert (gone["Chatty"], gone["Deaf"]) == ("failed bids", "fault")
    assert [child for child in psutil.Process().children(recursive=True) if child.is_running()] == []
