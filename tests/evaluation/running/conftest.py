"""The finished experiment with which interrupted ones are compared."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harbor._config.auction import read_settings
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import RunOptions, run_experiment
from support.folders import TINY, shared


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Iterator[Path]:
    """The tiny experiment, which was never interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    asyncio.run(run_experiment(read_settings(TINY, Experiment), folder, RunOptions(jobs=3)))
    with shared(folder):
        yield folder


@pytest.fixture
def begun(whole, tmp_path) -> Path:
    """A copy of it, to be spoilt."""
    return shutil.copytree(whole, tmp_path / "run")
