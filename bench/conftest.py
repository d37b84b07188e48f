"""Collects the figures that the benchmarks measure and prints them as one table at the end."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.table import Table

Figure = Callable[[str, str, str], None]
_ROWS: list[tuple[str, str, str]] = []


@pytest.fixture(autouse=True)
def _frozen() -> None:
    """Keep loaded objects out of garbage collection, as `harbor auction` does: the runner's heap is not Harbor's."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def figure() -> Figure:
    """Record a figure: its name, its target, and its measured value."""
    return lambda name, aim, measured: _ROWS.append((name, aim, measured))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    table = Table("figure", "aim", "measured", title="Harbor's figures")
    for row in _ROWS:
        table.add_row(*row)
    console = Console(width=120)
    with console.capture() as capture:
        console.print(table)
    terminalreporter.write(capture.get())
