"""Measures the processor time of tests, with the processes that they start and wait for, and stores it by folder.

The printed time is that of all of pytest: it includes the imports and the collection, which each worker does.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build" / "processor"
PARTS = {"proof": "proof", "not proof and not studies": "rest"}
"""The names of the two parts of `make check`, by the marks of their tests."""
STARTED, SPENT = pytest.StashKey[float](), "processor seconds"
COLLECTED = "start and collection"
_tests, _seconds, _each, _workers = Counter[str](), Counter[str](), dict[str, float](), list[float]()


def _now() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[STARTED] = _now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: Any = yield
    if call.when == "teardown":
        report.user_properties.append((SPENT, _now() - item.stash[STARTED]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, seconds in report.user_properties:
        if name == SPENT:
            folder = "/".join(Path(report.nodeid.partition("::")[0]).parts[:2])
            _tests[folder] += 1
            _seconds[folder] += seconds
            _each[report.nodeid] = round(seconds, 2)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        told[SPENT] = _now()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _workers.append(getattr(node, "workeroutput", {}).get(SPENT, 0.0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    whole = sum(_workers) + sum(os.times()[:2]) if _workers else _now()  # workers are children of the first process
    _seconds[COLLECTED] = whole - sum(_seconds.values())
    terminalreporter.write_line(
        f"{whole / 60:.1f} minutes of processor for {len(_each)} tests, {_seconds[COLLECTED] / 60:.1f} for the start"
    )
    config = terminalreporter.config
    is_whole = not (config.option.file_or_dir or config.option.keyword or config.option.collectonly)
    if is_whole and (chosen := PARTS.get(str(config.getoption("-m")))):
        BUILD.mkdir(parents=True, exist_ok=True)
        told = {name: {"tests": _tests[name], "seconds": round(_seconds[name], 1)} for name in sorted(_seconds)}
        BUILD.joinpath(f"{chosen}.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
        dearest = sorted(_each.items(), key=lambda pair: -pair[1])
        lines = "".join(f"{seconds}\t{test}\n" for test, seconds in dearest)
        BUILD.joinpath(f"{chosen}.tsv").write_text(lines, encoding="utf-8")
