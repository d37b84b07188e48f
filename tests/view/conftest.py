"""What several tests of pages look at, and with what."""

from __future__ import annotations

import pytest

from harbor._core.log.log import read_log
from support.browser import browser
from support.shown_runs import think_much


@pytest.fixture(scope="session")
def look():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return think_much(tmp_path_factory.mktemp("view") / "run")


@pytest.fixture(scope="session")
def entries(run):
    return read_log(run / "events.jsonl").entries
