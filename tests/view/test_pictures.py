"""The pictures of a run's page in a real browser: all marks of the log, none of others, ways to events and back."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from harbor._view.page_data import run_page
from harbor._view.pages import page_of, write_run
from harbor._view.shapes import json_of
from support.browser import needs_browser
from support.shown_runs import hold_preset

pytestmark = [pytest.mark.slow, needs_browser]
EVIL = "<img src=x onerror='document.title=1'>"
LONG = "Ann" + "n" * 197
SHOWN = """() => Object.fromEntries([...document.querySelectorAll(".picture")].map((card) => [card.dataset.picture, {
  panel: card.querySelector("select").value,
  drawn: card.querySelectorAll(".drawing :is(.point, .cross, rect.bar, path.level)[data-seq]").length,
  lines: card.querySelectorAll(".drawing [d]:not([d='']):is(.line, .step):not([transform])").length }]))"""
KEPT = "() => Object.fromEntries([...document.querySelectorAll('.now')].map((one) => [one.dataset.seq, 1]))"
INSIDE = """() => {
  const of = (one) => one.getBoundingClientRect(), box = of(document.querySelector(".drawing svg"));
  const texts = [...document.querySelectorAll(".drawing text")].map(of);
  return texts.every(({ left, right }) => left >= box.left - 1 && right <= box.right + 1);
}"""
FED = """class Fed extends EventTarget { constructor() { super(); window.fed = this; } };
window.EventSource = Fed;
window.feed = (kind, data) => window.fed.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data) }));"""


@pytest.fixture(scope="module")
def sale(run, tmp_path_factory):
    """The page of a sale among minds, and its folder."""
    return write_run(run, tmp_path_factory.mktemp("pictures") / "page.html"), run


def marks_at_the_end(run: Path, viewer: str = "") -> dict[str, list[tuple]]:
    """Give the marks that a viewer has of each picture at the end, from the log's own fold."""
    found = run_page(run)
    head, chunks = found.head, list(found.chunks)
    bit = 1 << head["viewers"].index(viewer)
    starts = [seq for seq, kind, _ in head["places"] if kind == "part"]
    seen = {}
    for mark in (mark for chunk in chunks for mark in chunk["marks"]):
        name, *_, of_part, _ = head["pictures"][mark[1]]
        if mark[9] & bit:
            seen.setdefault(name, [])
            seen[name] += [mark] if not of_part or mark[0] >= starts[-1] else []
    return seen


def drawn_of(marks: list[tuple], panel: str) -> tuple[int, bool]:
    """Count the elements that a picture should have for points, bars and levels, and say whether it has lines."""
    here = [mark for mark in marks if mark[2] in ("", panel)]
    points = sum(mark[5] == "point" and mark[6] is not None and mark[7] is not None for mark in here)
    bars = {(mark[3], mark[4], mark[6]) for mark in here if mark[5] == "bar" and mark[6] is not None}
    levels = {(mark[3], mark[4]): mark[7] for mark in here if mark[6] is None}
    return points + len(bars) + sum(y is not None for y in levels.values()), any(
        mark[5] in ("line", "step") and mark[6] is not None and mark[7] is not None for mark in here
    )


def shown(page: Page) -> dict:
    page.keyboard.press("End")
    expect(page.locator("#moment")).to_have_attribute("aria-busy", "false")
    return page.evaluate(SHOWN)


@pytest.mark.parametrize("game", ["beauty", "english-private", "houses", "second-price", "water"])
def test_pictures_have_the_marks_that_the_log_gives(game, look, tmp_path):
    run = hold_preset(game, tmp_path / "run")
    found, marks = look(write_run(run, tmp_path / "page.html"), shown), marks_at_the_end(run)
    assert sorted(found) == sorted(marks)
    assert marks or game != "houses"
    for name, one in found.items():
        assert (one["drawn"], one["lines"] > 0) == drawn_of(marks[name], one["panel"]), name


def test_pictures_of_a_seat_have_what_that_seat_may_see(sale, look, tmp_path):
    def chosen(page: Page) -> dict:
        page.select_option("#viewer", "Ann")
        return shown(page)

    marks = marks_at_the_end(sale[1], viewer="Ann")
    for found in (look(sale[0], chosen), look(write_run(sale[1], tmp_path / "ann.html", "Ann"), shown)):
        assert sorted(found) == sorted(marks)
        assert [(name, one["drawn"]) for name, one in found.items()] == [
            (name, drawn_of(marks[name], one["panel"])[0]) for name, one in found.items()
        ]


def test_a_mark_leads_to_its_event_and_an_event_to_its_marks(sale, look):
    def walk(page: Page) -> tuple[str, list[str], str]:
        mark = page.locator(".picture .point[data-seq]").first
        seq, box = mark.get_attribute("data-seq"), mark.bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(*middle)
        told = page.inner_text(".tip:visible")
        page.mouse.click(*middle)
        assert page.inner_text("#number") == f"Event {int(seq):,}"
        page.keyboard.press("Home")
        assert page.locator(".now").count() == 0
        expect(page).to_have_url(re.compile("#at=0$"))  # the address follows after a rest; an equal one is no event
        page.evaluate(f"location.hash = 'at={seq}'")
        page.wait_for_selector(".now", state="attached")
        return seq, list(page.evaluate(KEPT)), told

    seq, now, told = look(sale[0], walk)
    assert now == [seq]
    assert told.endswith(f"event {int(seq):,}")


def test_play_steps_by_itself_until_a_key_or_the_end(sale, look):
    def play(page: Page) -> list[str]:
        page.keyboard.press("Escape")
        page.locator("body").press("Home")
        page.evaluate("document.activeElement.blur()")
        first = page.inner_text("#number")
        page.keyboard.press("Space")
        page.locator("#number").filter(has_not_text=first).wait_for()  # a busy machine may miss any one event
        told = [page.inner_text("#play")]
        page.keyboard.press("Shift")
        told.append(page.inner_text("#play"))
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        page.click("#play")
        page.locator("#words:text-is('The game is over.')").wait_for()
        page.locator("#play:has-text('Play')").wait_for()
        return told

    started, stopped = look(sale[0], play)
    assert ("Stop" in started, "Play" in stopped) == (True, True)


def test_what_is_taken_away_can_be_read_elsewhere(sale, look, tmp_path):
    def take(page: Page) -> None:
        page.keyboard.press("End")
        for kind in ("CSV", "SVG", "PNG"):
            with page.expect_download() as taken:
                page.click(f".picture[data-picture=bids] .take >> text={kind}")
            taken.value.save_as(tmp_path / f"bids.{kind.lower()}")

    look(sale[0], take)
    with (tmp_path / "bids.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    marks = marks_at_the_end(sale[1])["bids"]
    assert [(int(row["event"]), row["series"], row["role"]) for row in rows] == [(m[0], m[3], m[4]) for m in marks]
    drawn = ElementTree.parse(tmp_path / "bids.svg").getroot()
    assert drawn.tag.endswith("svg")
    assert "var(" not in (tmp_path / "bids.svg").read_text()
    assert (tmp_path / "bids.png").read_bytes().startswith(b"\x89PNG")


def page_with(marks: list[tuple], folder: Path, seats: tuple[str, ...]) -> Path:
    """Write a page of nothing but marks."""
    pics = [("p0", "Picture 0", "round", "price", "dollars", False, "number")]
    head = {
        "title": "run", "game": "g", "harbor": "1", "simulated": False, "seat": "", "seats": list(seats),
        "viewers": ["", *seats], "pictures": pics, "players": [], "notes": [], "length": 2, "parts": "items",
        "places": [(0, "part", "Lot")], "standings": {"columns": [], "rows": []}, "chunks": [],
    }  # fmt: skip
    entries = [(seq, 0.0, "everyone", "x", f"event {seq}", [], None) for seq in (0, 10**6)]
    chunk = {"entries": entries, "boards": {"": []}, "marks": marks, "decisions": {}, "texts": []}
    calls = {"head": head, "add": chunk}
    told = [f"harborView.{name}({json_of(data)});".replace("<", "\\u003c") for name, data in calls.items()]
    path = folder / "page.html"
    path.write_text(page_of("run", told))
    return path


def test_of_a_long_series_the_least_and_the_greatest_of_each_column_are_drawn(look, tmp_path):
    count = 20_000
    heights = [50 + at % 7 for at in range(count)]
    heights[777], heights[15_000] = 0, 100
    marks = [(1, 0, "", "Ann", "worth", "line", at, heights[at], None, 3) for at in range(count)]
    marks += [(1, 0, "", "Ann", "cost", "point", at, heights[at], None, 3) for at in range(count)]
    marks += [(1, 0, "", "Ben", "worth", "line", at, None, None, 3) for at in range(count)]

    def drawn(page: Page) -> tuple[list[float], int, list[str]]:
        lines = page.locator(".drawing path.line:not([transform])")
        told = "".join(lines.evaluate_all("all => all.map((one) => one.getAttribute('d'))"))
        ys = [float(y) for _, y in re.findall(r"[ML]([\d.-]+) ([\d.-]+)", told)]
        points = page.locator(".drawing .point[data-seq]").count()
        return ys, points, page.locator(".drawing text").all_text_contents()

    ys, points, texts = look(page_with(marks, tmp_path, ("Ann", "Ben")), drawn)
    assert (len(ys) < 5_000, 100 < points < 3_000) == (True, True)
    assert max(ys) - min(ys) > 150, "the least and the greatest are drawn"
    assert "$0" in texts


def test_names_of_strangers_are_text_and_long_ones_are_cut_and_told_in_full(look, tmp_path):
    names, kinds = (LONG, EVIL, "A"), (("point", EVIL), ("bar", LONG), ("line", None), ("band", "b"))
    marks = [(0, 0, "", name, EVIL, kind, x, at, 3, 15) for at, name in enumerate(names, 1) for kind, x in kinds]

    def read(page: Page) -> tuple[list[str], list[str], tuple[str, int, bool]]:
        page.click(".picture summary")
        full = page.locator(".drawing text title").evaluate_all("all => all.map((one) => one.textContent)")
        texts = page.locator(".drawing text").evaluate_all("all => all.map((one) => one.firstChild.data)")
        return full, texts, (page.title(), page.locator("img").count(), page.evaluate(INSIDE))

    for phone in (False, True):
        full, texts, shown = look(page_with(marks, tmp_path, names), read, phone=phone)
        assert shown == ("run \N{EN DASH} Harbor", 0, True)
        assert (LONG in full, LONG in texts) == (True, False)
        assert any(text.startswith("Annnn") and text.endswith("…") for text in texts)


def test_a_page_that_is_followed_draws_what_comes_without_a_complaint(sale, look, tmp_path):
    head, chunks = run_page(sale[1])
    chunk = next(iter(chunks))
    half = len(chunk["entries"]) // 2
    (tmp_path / "blank.html").write_text("<!doctype html><link rel=icon href=data:,>")
    (tmp_path / "page.html").write_text(page_of("run", follows=True))

    def part(is_in) -> dict:
        rows = {name: [row for row in chunk[name] if is_in(row[0])] for name in ("entries", "marks")}
        return json.loads(json_of({**chunk, **rows, "boards": {}}))

    def follow(page: Page) -> list[int]:
        page.add_init_script(FED)
        page.goto((tmp_path / "page.html").resolve().as_uri())
        page.evaluate("head => feed('head', head)", json.loads(json_of(head)))
        counts = []
        for one in (part(lambda seq: seq < half), part(lambda seq: seq >= half)):
            page.evaluate("part => feed('add', part)", one)
            counts.append(page.evaluate("document.querySelectorAll('.drawing [data-seq]').length"))
        shown(page)
        return [*counts, page.evaluate(SHOWN)["bids"]["drawn"]]

    first, second, last = look(tmp_path / "blank.html", follow)
    assert min(first, second) > 0
    assert last == drawn_of(marks_at_the_end(sale[1])["bids"], "")[0]
