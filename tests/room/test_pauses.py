"""A process that is stopped for longer than its bidders have goes on as if it had not been."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from inspect import getsource

import pytest

from harbor import read_log
from harbor._core.log.events import SeatFailed
from harbor._core.log.log import of_type
from harbor.evaluation._metrics.behaviour import bids
from support import steady
from support.commands import HARBOR
from support.processes import stopped_and_continued

PATIENCE, PAUSE = 2.0, 3.0
SETTINGS = f"""
seed = 1
[[items]]
name = "Vase"
start = 1000
true_value = 2000
[models.simulated]
simulated = {{ latency_seconds = 0.2 }}
[[bidders]]
name = "Ann"
timeout_seconds = {PATIENCE}
"""
MORE = f"""
[[bidders]]
name = "Ben"
timeout_seconds = {PATIENCE}
"""
AGENTS = """
import asyncio, json, os, signal, sys, time
from steady import decide

stopped = []

def stop(harbor):
    if not stopped:
        stopped.append(True)
        time.sleep(0.05)
        os.kill(harbor, signal.SIGSTOP)
        time.sleep(0.05)

def plain(turn):
    stop(os.getpid())
    return decide(turn)

async def waits(turn):
    await asyncio.sleep(0.05)
    stop(os.getpid())
    return decide(turn)

async def slow(turn):
    await asyncio.sleep(0.2)
    return decide(turn)

if __name__ == "__main__":
    for line in sys.stdin:
        turn = json.loads(line)
        if "stop" in sys.argv:
            stop(os.getppid())
        else:
            time.sleep(0.2)
        print(json.dumps({"turn": turn["turn"], **decide(turn)}), flush=True)
"""
PROGRAM = f"[{sys.executable!r}, 'agents.py'"


class Slow(steady.Handler):
    """Answers after a while, as an agent with a model does."""

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        time.sleep(0.2)
        super().do_POST()


@pytest.fixture
def url():
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def held(folder, settings):
    """Hold an auction in a process that stands still for a while when it is stopped; give its log."""
    files = {"agents.py": AGENTS, "small.toml": settings, "steady.py": getsource(steady)}
    for name, text in files.items():
        (folder / name).write_text(text)
    command = [*HARBOR, "auction", "small.toml", "--out", "run", "--quiet"]
    path = {**os.environ, "PYTHONPATH": str(folder)}
    with subprocess.Popen(command, cwd=folder, env=path) as running:
        assert stopped_and_continued(running, PAUSE) == (1, 0)
    return read_log(folder / "run" / "events.jsonl").entries


@pytest.mark.parametrize(
    "who", ['agent = "agents:plain"', f"agent = {{ command = {PROGRAM}, 'stop'] }}"], ids=["code", "command"]
)
@pytest.mark.slow
def test_a_stop_in_its_turn_costs_nobody_the_turn(who, tmp_path):
    log = held(tmp_path, SETTINGS + who + MORE + 'rule = "minimum-raise"')
    assert not of_type(log, SeatFailed)
    assert {bid.bidder for bid in bids(log)} == {"Ann", "Ben"}


@pytest.mark.slow
def test_a_stop_in_a_round_costs_nobody_the_turn_however_it_is_asked(url, tmp_path):
    seats = ("", 'agent = "agents:slow"', f"agent = {{ command = {PROGRAM}] }}", f"agent = {{ url = '{url}' }}")
    others = (MORE.replace("Ben", f"Ben {number}") + who for number, who in enumerate(seats))
    log = held(tmp_path, SETTINGS + 'agent = "agents:waits"' + "".join(others))
    assert not of_type(log, SeatFailed)
