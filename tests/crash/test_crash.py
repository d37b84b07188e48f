"""Each fault and each kind of game occurs once in the crash lab. `make crash` runs a hundred trials of each kind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crash import space
from crash.faults import FAULTS, fault_of
from crash.kinds import KINDS
from support.folders import ROOT

SEEDS = {
    "english": 5, "water": 3, "second-price": 6, "series": 4, "experiment": 7, "experiment-processes": 2, "hasty": 1,
}  # fmt: skip
"""The seed of each kind's trial: a kill, a full disk, a lack of handles, a power cut, a clock, a worker, a stop."""


def test_the_seeds_are_those_of_each_fault_once():
    assert sorted(fault_of(KINDS[kind], seed) for kind, seed in SEEDS.items()) == sorted(FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_whatever_stops_a_run_it_resumes_to_what_it_would_have_been_and_pays_no_call_twice(kind, tmp_path):
    if fault_of(KINDS[kind], SEEDS[kind]) == "disk" and not space.permitted():
        pytest.skip("only root mounts a small file system")
    words = ["--kind", kind, "--seed", SEEDS[kind], "--trials", 1, "--keep", tmp_path / "passed.jsonl"]
    found = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "crash", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": equal" in done.stdout
