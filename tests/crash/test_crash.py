"""Each fault occurs once in the crash lab. `make crash` runs a hundred trials of each kind of game."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crash import space
from crash.faults import FAULTS, ONCE, fault_of
from crash.kinds import KINDS
from support.folders import ROOT


@pytest.mark.slow
def test_whatever_stops_a_run_it_resumes_to_what_it_would_have_been_and_pays_no_call_twice():
    found = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    assert sorted(fault_of(KINDS[kind], seed) for kind, seed in ONCE.items()) == sorted(FAULTS)
    command = [sys.executable, "-m", "crash", "--once"]
    done = subprocess.run(command, cwd=ROOT, env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": equal") == len(ONCE) - (not space.permitted())  # only root can fill a disk
