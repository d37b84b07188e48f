"""A browser, a run of minds, and its log, which tests of pages share."""

from __future__ import annotations

import pytest

from harbor._core.log.log import read_log
from support.browser import browser
from support.folders import shared
from support.shown_runs import think_much


@pytest.fixture(scope="session")
def look():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    with shared(think_much(tmp_path_factory.mktemp("view") / "run")) as folder:
        yield folder


@pytest.fixture(scope="session")
def entries(run):
    return read_log(run / "events.jsonl").entries
