"""Each fault occurs once in each kind of game in the crash lab. `make crash` runs a hundred trials of each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crash.faults import FAULTS, fault_of
from crash.kinds import KINDS
from support.folders import ROOT

ONCE = range(3, 8)
"""Seeds for a full disk, a power cut, a kill, a lack of handles and a clock that jumps."""
SEEDS = dict.fromkeys(["english", "water", "second-price", "series", "experiment"], ONCE) | {
    "experiment-processes": range(1, 3),  # a power cut, and a killed worker
    "hasty": range(1, 3),  # stops
}


def test_the_seeds_are_those_of_each_fault_once():
    assert {fault_of(KINDS["english"], seed) for seed in ONCE} == {*FAULTS} - {"worker", "stop"}
    found = [fault_of(KINDS["experiment-processes"], seed) for seed in SEEDS["experiment-processes"]]
    assert found == ["power", "worker"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_whatever_stops_a_run_it_resumes_to_what_it_would_have_been_and_pays_no_call_twice(kind, tmp_path):
    seeds = SEEDS[kind]
    words = ["--kind", kind, "--seed", seeds[0], "--trials", len(seeds), "--keep", tmp_path / "passed.jsonl"]
    found = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "crash", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": equal" in done.stdout
