"""A process that is stopped for longer than its bidders have goes on as if it had not been."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from inspect import getsource

import pytest

from harbor import read_log
from harbor._core.log.events import SeatFailed
from harbor._core.log.log import of_type
from harbor.evaluation._metrics.behaviour import bids
from support import steady
from support.commands import HARBOR
from support.listening import LISTENING
from support.processes import stopped_and_continued

PAUSE = 3.0
SETTINGS = """
seed = 1
items = [{ name = "Vase", start = 1000, true_value = 2000 }]
models.simulated.simulated = { latency_seconds = 0.2 }
"""
BIDDER = """
[[bidders]]
name = "Ann %d"
timeout_seconds = 2.0
"""
AGENTS = """
import asyncio, json, os, signal, sys, time
from steady import decide

stopped = []

def stop(agent):
    if agent not in stopped:
        stopped.append(agent)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.05)

def plain(turn):
    stop("plain")
    return decide(turn)

async def waits(turn):
    await asyncio.sleep(0.05)
    stop("waits")
    return decide(turn)

async def slow(turn):
    await asyncio.sleep(0.2)
    return decide(turn)

if __name__ == "__main__":
    for line in sys.stdin:
        turn = json.loads(line)
        time.sleep(0.2)
        print(json.dumps({"turn": turn["turn"], **decide(turn)}), flush=True)
"""


def decides_slowly(turn):
    time.sleep(0.2)
    return steady.decide(turn)


@pytest.mark.slow
def test_a_stop_in_a_turn_or_a_round_costs_nobody_the_turn_however_it_is_asked(tmp_path):
    with LISTENING["a server"](decides_slowly) as server:
        program, served = f"{{ command = [{sys.executable!r}, 'agents.py'] }}", f"{{ url = '{server.url}' }}"
        agents = '"agents:plain"', '"agents:waits"', '"agents:slow"', program, served
        seats = [BIDDER % number + f"agent = {agent}" for number, agent in enumerate(agents)]
        settings = "".join([SETTINGS, *seats, BIDDER % len(seats)])
        for name, text in {"agents.py": AGENTS, "steady.py": getsource(steady), "small.toml": settings}.items():
            (tmp_path / name).write_text(text)
        command = [*HARBOR, "auction", "small.toml", "--out", "run", "--quiet"]
        with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}) as running:
            assert stopped_and_continued(running, PAUSE) == (2, 0)
    log = read_log(tmp_path / "run" / "events.jsonl").entries
    assert not of_type(log, SeatFailed)
    assert len({bid.bidder for bid in bids(log)}) > 2
