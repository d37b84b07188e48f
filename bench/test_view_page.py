"""The time that a run's page takes to open and to move. `make bench` prints it. Nothing here fails for being slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from statistics import median

import pytest
from playwright.sync_api import Page, expect

from harbor._cli.shared.files import load
from harbor._core.files.layout import EVENTS
from harbor._core.log.events import Event, LotOpened
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import Entry
from harbor._runs.inputs import RunInputs
from harbor._runs.run import start
from harbor._runs.series import prepare
from harbor._view import page_data
from harbor._view.pages import write_run
from harbor._view.run_record import CallFile
from support.browser import browser, needs_browser

pytestmark = needs_browser
MOVES = 50
MOVE = """async (moves) => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const loaded = async () => { do await drawn(); while (document.getElementById("moment").ariaBusy === "true"); };
  const took = { step: [], leap: [] }, range = document.getElementById("scrubber");
  const time = async (kind, act) => {
    const began = performance.now();
    act();
    document.body.offsetHeight;
    took[kind].push(performance.now() - began);
    await loaded();
  };
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  for (let at = 0; at < moves; at++) await time("step", () => press("ArrowRight"));
  for (let at = 0; at < moves; at++)
    await time("leap", () => {
      range.value = Math.floor((range.max * ((at * 37) % moves)) / moves);
      range.dispatchEvent(new Event("input"));
    });
  return took;
}"""


@pytest.mark.parametrize(("events", "aim"), [(1_000, "opens < 1 s, moves < 50 ms"), (100_000, "opens and moves")])
def test_page(events, aim, figure, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    asyncio.run(start(prepare(load("houses"), RunInputs()), folder, None))
    held = read_log(folder / EVENTS).entries
    record, calls = page_data.read_run(folder), page_data.recorded
    long = replace(record, entries=_again_and_again(held, events))
    monkeypatch.setattr(page_data, "read_run", lambda _: long)
    monkeypatch.setattr(page_data, "recorded", _remembered(calls))
    began = time.perf_counter()
    page = write_run(folder, tmp_path / "page.html")
    wrote = time.perf_counter() - began
    with browser() as look:
        opened, took = look(page, _measured)
    size = sum(file.stat().st_size for file in tmp_path.rglob("page*") if file.is_file())
    size += sum(file.stat().st_size for file in tmp_path.glob("page_files/*"))
    moves = (f"{kind} {median(took[kind]):.0f} ms (slowest {max(took[kind]):.0f})" for kind in ("step", "leap"))
    told = f"opens {opened:.2f} s, {', '.join(moves)}"
    figure(f"page of {events:,} events", aim, f"{told}; {size / 1e6:.1f} MB written in {wrote:.1f} s")


def _again_and_again(held: Sequence[Entry], events: int) -> list[Entry]:
    """Make a long log from a short one: repeat the events between its beginning and its end."""
    begun = next(at for at, entry in enumerate(held) if isinstance(entry.event, LotOpened))
    middle = [*islice(cycle(held[begun:-1]), events - begun - 1)]
    return [Entry(seq, entry.at, entry.event) for seq, entry in enumerate([*held[:begun], *middle, held[-1]])]


def _remembered(recorded: Callable[[CallFile, Event], int | None]) -> Callable[[CallFile, Event], int | None]:
    """Return a function like `recorded` that returns the same record for a repeated event."""
    known: dict[int, int | None] = {}

    def find(calls: CallFile, event: Event) -> int | None:
        if id(event) not in known:
            known[id(event)] = recorded(calls, event)
        return known[id(event)]

    return find


def _measured(page: Page) -> tuple[float, dict[str, list[float]]]:
    """Open the page again. Return the seconds until its first moment is drawn, and the milliseconds of each move."""
    page.reload(wait_until="load")
    expect(page.locator("#number")).not_to_be_empty(timeout=60_000)
    opened: float = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd / 1000")
    took: dict[str, list[float]] = page.evaluate(MOVE, MOVES)
    return opened, took
