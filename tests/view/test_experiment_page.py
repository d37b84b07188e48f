"""The page of an experiment: the verdict first, figures that survive the printer, rows and dots that lead to games."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page

from harbor._core.files.marks import MARK
from harbor._view.experiment_page import write_experiment
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._experiments.library import presets
from harbor.evaluation._report.page.page import render
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._running.runner import run_experiment
from support.browser import findings, needs_browser, overflow, printed
from support.cases import some
from support.filled import full

EVIL = "</style><img src=x onerror=\"document.title='run'\"><b>Ann</b>"
SMALL = Experiment(
    name="small", title=f"Small {EVIL}", question="Does a plan pay?", source="Nobody 2024", repeats=2,
    auction={
        "items": [{"name": name, "start": 1000, "true_value": 2000} for name in ("Lot A", "Lot B")],
        "bidders": [{"name": name, "budget": 4000, "model": "@1"} for name in ("Ann", "Ben")],
    },
    arms=(
        Variation(name="adaptive", label=EVIL),
        Variation(name="none", auction={"bidders": {"*": {"planning": "none"}}}),
    ),
    metrics=("profit", "rank", "remaining_budget"),
    comparisons=(Comparison(metric="profit", of=Side(arm="adaptive"), against=Side(arm="none")),),
)  # fmt: skip
UNFOLDED = """() => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  document.querySelectorAll(".panel ~ .panel .chart").forEach((one) => one.replaceChildren());
  document.querySelectorAll("tr:nth-child(n + 5)").forEach((one) => one.remove());
}"""
"""Unfolds everything, and leaves a panel of each figure and some rows of each table: of all, axe takes minutes."""
SHEET = {"width": 720, "height": 1_000}
"""A sheet of letter paper within its margins, in pixels."""
SMALLEST = """() => Math.min(...[...document.querySelectorAll("body *:not(svg *)")]
  .filter((one) => one.checkVisibility() && [...one.childNodes].some((text) => text.nodeType === 3 && text.data.trim()))
  .map((one) => Math.round(75 * parseFloat(getComputedStyle(one).fontSize)) / 100))"""
"""The size of the smallest letters, in points, outside pictures."""
FIGURES_SEEN = """() => [...document.querySelectorAll(".chart")].map((one) => {
  const box = one.getBoundingClientRect();
  return [one.checkVisibility(), box.width, box.height, one.querySelectorAll("path, use").length];
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small experiment, held for real."""
    path = tmp_path_factory.mktemp("experiments") / "small"
    asyncio.run(run_experiment(SMALL, path))
    return path


@pytest.fixture(scope="module")
def page(folder) -> Path:
    """Its page, with pages of its games."""
    return write_experiment(folder, folder.parent / "a page.html")


def links(text: str) -> list[str]:
    return [unquote(found) for found in re.findall(r'href="([^"#:]+\.html)"', text)]


def test_rows_lead_to_a_page_of_each_game_and_these_lead_back(page):
    found = links(page.read_text())
    assert set(found) == {f"a page_files/{arm}/all/000{n}.html" for arm in ("adaptive", "none") for n in (1, 2)}
    for link in found:
        assert '"back":"../../../a%20page.html"' in (page.parent / link).read_text()


def test_a_game_beyond_the_most_is_shown_by_a_command(folder, tmp_path):
    text = write_experiment(folder, tmp_path / "few.html", most_games=1).read_text()
    assert set(links(text)) == {"few_files/adaptive/all/0001.html"}
    assert "3 more games by: harbor view FOLDER/PATH" in text
    assert text.count("games/none/all/0002") == 1


def test_an_experiment_that_is_not_finished_says_so_first_and_a_failed_game_says_why(folder, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(folder, half)
    shutil.rmtree(half / "games/none/all/0002")
    (half / "games/none/all/0001/failure.json").write_text('{"failure": "<b>no reply</b>"}')
    text = write_experiment(half, tmp_path / "half.html").read_text()
    assert text.index("Not complete.") < text.index("Simulated results.") < text.index('<section id="verdict">')
    assert "Of 4 games 2 are finished, 1 failed and 1 are missing" in text
    assert "&lt;b&gt;no reply&lt;/b&gt;" in text
    assert "half_files/none/all/0001.html" in links(text)
    assert "half_files/none/all/0002.html" not in links(text)


def test_a_folder_that_somebody_sent_is_only_read(folder, tmp_path):
    sent = tmp_path / "sent"
    shutil.copytree(folder, sent)
    (sent / MARK).unlink()
    for record in sent.rglob("record.json"):
        record.unlink()
    before = {path: path.read_bytes() for path in sent.rglob("*") if path.is_file()}
    write_experiment(sent, tmp_path / "out.html")
    assert {path: path.read_bytes() for path in sent.rglob("*") if path.is_file()} == before


@pytest.mark.slow
@needs_browser
def test_rows_and_dots_open_games_by_a_click_and_names_stay_text(page, look):
    def follow(shown: Page) -> int:
        assert shown.title().startswith(SMALL.title)
        assert shown.locator("h1").inner_text() == SMALL.title
        dots = shown.locator(".chart a[href]").count()
        shown.locator("#games td a").first.click()
        shown.wait_for_url("**/0001.html")
        shown.get_by_role("link", name=re.compile("back", re.I)).first.click()
        shown.wait_for_url("**/a%20page.html")
        shown.locator(".chart a[href]").first.click()
        shown.wait_for_url("**/a%20page_files/**")
        return dots

    assert look(page, follow) >= 2


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", some(sorted(presets()), ("english-private",)))
def test_the_page_of_a_preset_is_sound_by_axe_on_desktop_and_phone_and_prints_every_figure(name, look, tmp_path):
    place = tmp_path / f"{name}.html"
    place.write_text(render(Loaded(full(name))))

    def sound(shown: Page) -> None:
        shown.evaluate(UNFOLDED)
        assert (findings(shown), overflow(shown) <= 0) == ([], True)

    def on_paper_and_desktop(shown: Page) -> None:
        shown.emulate_media(media="print")
        desktop = shown.viewport_size
        shown.set_viewport_size(SHEET)
        assert overflow(shown) <= 0  # a browser shrinks a sheet, and all letters on it, to what is widest
        assert shown.evaluate(SMALLEST) >= 7
        shown.set_viewport_size(desktop)
        seen = shown.evaluate(FIGURES_SEEN)
        assert len(seen) == place.read_text().count('class="chart"') > 0
        assert all(visible and wide > 100 and high > 50 and marks for visible, wide, high, marks in seen)
        paper = printed(shown)
        assert paper.sheets > 1
        assert all(title in paper.text for title in shown.locator("figure h3").all_inner_texts())
        sound(shown)

    look(place, on_paper_and_desktop)
    look(place, sound, phone=True, dark=True)
