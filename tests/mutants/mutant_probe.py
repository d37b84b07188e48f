"""Records the tests that run the statements of mutants. This module stands alone: each process of a test imports it.

pytest names the test in the environment, so a process that the test starts records the same test. Each line of the
file that `HARBOR_PROBE` names has a mutant, a phase and a test.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

_seen, _seconds = set[tuple[int, str]](), Counter[str]()


def hit(number: int) -> None:
    """Write once per process and test that a statement runs."""
    told = os.environ.get("PYTEST_CURRENT_TEST", "")
    if told and (number, told) not in _seen:
        _seen.add((number, told))
        test, _, phase = told.rpartition(" ")
        line = f"{number}\t{phase}\t{test}\n".encode()
        file = os.open(os.environ.get("HARBOR_PROBE", os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)


def pytest_collection_modifyitems(items: list) -> None:
    """Write the fixtures that tests share: statements that run in the setup of one are run for all."""
    place = Path(os.environ.get("HARBOR_SHARED", os.devnull))
    if not place.exists():
        lines = []
        for item in items:
            wider = {
                f"{one.baseid}::{name}"
                for name, found in item._fixtureinfo.name2fixturedefs.items()
                for one in found[-1:]
                if one.scope != "function" and not name.startswith("_") and one.baseid.endswith(".py")
            }
            lines.append("\t".join([item.nodeid, *sorted(wider)]))
        place.write_text("\n".join(lines), encoding="utf-8")


def pytest_runtest_logreport(report) -> None:
    """Write outcome and seconds of each test; the process that gathers the reports does it."""
    if os.environ.get("PYTEST_XDIST_WORKER"):
        return
    _seconds[report.nodeid] += report.duration
    if report.failed or report.when == "teardown":
        told = "failed" if report.failed else f"{_seconds[report.nodeid]:.3f}"
        with Path(os.environ.get("HARBOR_TIMES", os.devnull)).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\t{told}\n")
