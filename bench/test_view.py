"""The time, the memory and the size of the data of a run's page. Nothing here fails for being slow."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harbor import Auction, Bidder, Item
from support.long_logs import lengthen
from support.shown_runs import think_much

MEASURE = """
import json, sys, time
from pathlib import Path
from harbor._view.page_data import run_page
began = time.process_time()
head, chunks = run_page(Path(sys.argv[1]))
sizes = [len(json.dumps(chunk)) for chunk in chunks]
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # ru_maxrss is the parent's too
memory = int(peak.split()[1]) / 1024
print(head["length"], time.process_time() - began, memory, sum(sizes) / 1e6, max(sizes) / 1e6, len(sizes))
"""


@pytest.mark.parametrize("events", [1_000, 100_000])
def test_the_data_of_a_page(events, figure, tmp_path):
    run = think_much(tmp_path / "run")
    once = (run / "events.jsonl").read_bytes().count(b"\n")
    lengthen(run, tmp_path / "long", max(1, round(events / once)))
    _measure(tmp_path / "long", "", figure)


@pytest.mark.parametrize("bidders", [10, 20, 50])
def test_the_data_of_a_page_of_many_bidders(bidders, figure, tmp_path):
    seats = [Bidder(f"Bidder {number}", rule="random", budget=100_000) for number in range(bidders)]
    items = [Item(name=f"Item {number}", start=1_000, true_value=2_000) for number in range(200)]
    Auction(items=items, bidders=seats, seed=1).run(out=tmp_path / "run")
    _measure(tmp_path / "run", f" and {bidders} bidders", figure)


def _measure(run, whose, figure):
    told = subprocess.run([sys.executable, "-c", MEASURE, str(run)], capture_output=True, check=True, text=True)
    length, seconds, memory, size, largest, chunks = map(float, told.stdout.split())
    figure(
        f"data of a page of {length:,.0f} events{whose}",
        "at most 10 s of processor with 50 bidders" if whose else "",
        f"{seconds:.1f} s, {memory:.0f} MB, {size:.1f} MB in {chunks:.0f} chunks, the largest {largest:.2f} MB",
    )
