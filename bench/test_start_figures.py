"""The start-up time of a command with many packages installed, which load only when needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import pytest

from support.plugins import install

PLUGINS = 10
GROUPS = ("games", "nodes", "metrics", "figures", "policies", "catalogues")
SLOW = "import sklearn\n"
"""The code of a package that takes long to load."""


@pytest.fixture
def crowded(tmp_path) -> Path:
    """A folder with ten packages that each bring one part of every kind."""
    for number in range(PLUGINS):
        name = f"plugin_{number}"
        points = {f"harbor.{group}": {name.replace("_", "-"): f"{name}:IT"} for group in GROUPS}
        install(tmp_path, name, {f"{name}.py": SLOW}, points)
    return tmp_path


@pytest.mark.parametrize("words", [["--help"], ["--version"]], ids=" ".join)
def test_start_with_ten_plug_ins(benchmark, figure, crowded, words):
    place = os.environ | {"PYTHONPATH": os.pathsep.join([str(crowded), *filter(None, sys.path)])}
    command = [sys.executable, "-m", "harbor", *words]
    spent = []

    def start() -> None:
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=place)
        after = getrusage(RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    benchmark.pedantic(start, rounds=9, warmup_rounds=1)
    figure(f"harbor {' '.join(words)} with {PLUGINS} plug-ins, s of processor", "0.25", f"{median(spent):.3f}")
