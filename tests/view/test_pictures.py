"""The pictures of a run's page in a real browser: all marks of the log, none of others, ways to events and back."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from harbor._view.page_data import run_page
from harbor._view.pages import SCRIPTS, page_of, write_run
from harbor._view.shapes import json_of
from support.browser import browser, findings, needs_browser, overflow
from support.shown_runs import hold_preset, think_much

pytestmark = [pytest.mark.slow, needs_browser]
GAMES = ("beauty", "english-private", "houses", "second-price", "water")
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
WIDER = "all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"
PLACES = """all => all.map((one) => one.getAttribute("transform").match(/[\\d.]+/g).map(Number))"""
FED = """class Fed extends EventTarget { constructor() { super(); window.fed = this; } };
window.EventSource = Fed;
window.feed = (kind, data) => window.fed.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data) }));"""


@pytest.fixture(scope="module")
def look():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Hold a game when it is first asked for, with little to play, and give its folder."""
    folder, games = tmp_path_factory.mktemp("pictures"), {}

    def hold(game: str) -> Path:
        if game not in games:
            games[game] = hold_preset(game, folder / game)
        return games[game]

    return hold


@pytest.fixture(scope="module")
def sale(tmp_path_factory):
    """The page of a sale among minds, and its folder."""
    run = think_much(tmp_path_factory.mktemp("pictures") / "run")
    return write_run(run, run.parent / "page.html"), run


def marks_at_the_end(run: Path, seat: str = "", viewer: str = "") -> dict[str, list[tuple]]:
    """Give the marks that a viewer has of each picture at the end, from the log's own fold."""
    found = run_page(run, seat)
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


@pytest.mark.parametrize("game", GAMES)
def test_pictures_have_the_marks_that_the_log_gives(game, held, look, tmp_path):
    found = look(write_run(held(game), tmp_path / "page.html"), shown)
    marks = marks_at_the_end(held(game))
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
        assert {name: one["drawn"] for name, one in found.items()} == {
            name: drawn_of(marks[name], one["panel"])[0] for name, one in found.items()
        }
        assert sorted(found) == sorted(marks)


def test_a_mark_leads_to_its_event_and_an_event_to_its_marks(sale, look):
    def walk(page: Page) -> tuple[str, list[str], str]:
        mark = page.locator(".picture .point[data-seq]").first
        seq = mark.get_attribute("data-seq")
        box = mark.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        told = page.inner_text(".tip:visible")
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.inner_text("#number") == f"Event {int(seq):,}"
        page.keyboard.press("Home")
        assert page.locator(".now").count() == 0
        page.evaluate(f"location.hash = 'at={seq}'")
        page.wait_for_selector(".now", state="attached")
        return seq, list(page.evaluate(KEPT)), told

    seq, now, told = look(sale[0], walk)
    assert now == [seq]
    assert told.endswith(f"event {int(seq):,}")


def test_numbers_have_a_row_per_bidder_and_lead_to_events_and_are_not_cut(sale, look):
    def read(page: Page) -> tuple[list[str], list[list[str]], bool]:
        page.select_option("#part", index=2)
        page.click(".picture[data-picture=bids] summary")
        table = page.locator(".picture[data-picture=bids] table")
        heads = table.locator("th").all_inner_texts()
        rows = [row.split("\t") for row in table.locator("tbody").inner_text().splitlines()]
        scroll = page.locator(".picture .scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
        button = table.locator("button").first
        seq = button.get_attribute("title").removeprefix("event ")
        button.click()
        assert page.inner_text("#number") == f"Event {seq}"
        return heads, rows, scroll

    heads, rows, fits = look(sale[0], read)
    assert [row[0].strip() for row in rows] == ["Ann", "Ben", "Cho"]
    known = [one for one in ("estimate", "limit", "bid", "out", "price", "worth", "starting price") if one in heads]
    assert [one for one in heads if one in known] == known
    assert {"bid", "price"} <= {*known}
    assert fits


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


def page_with(marks: list[tuple], folder: Path, seats: tuple[str, ...], parts: int = 1, pictures: int = 1) -> Path:
    """Write a page of nothing but marks."""
    pics = [(f"p{at}", f"Picture {at}", "round", "price", "dollars", False, "number") for at in range(pictures)]
    head = {
        "title": "run", "game": "g", "harbor": "1", "simulated": False, "seat": "", "seats": list(seats),
        "viewers": ["", *seats], "pictures": pics, "players": [], "notes": [], "length": 2, "parts": "items",
        "places": [(0, "part", "Lot")], "standings": {"columns": [], "rows": []}, "chunks": [],
    }  # fmt: skip
    entries = [(seq, 0.0, "everyone", "x", f"event {seq}", [], None) for seq in (0, 10**6)]
    chunk = {"entries": entries, "boards": {"": []}, "marks": marks, "decisions": {}, "texts": []}
    calls = [
        f"harborView.{name}({json_of(data)});".replace("<", "\\u003c")
        for name, data in (("head", head), ("add", chunk))
    ]
    path = folder / "page.html"
    path.write_text(page_of("run", calls))
    return path


def test_of_a_long_series_the_least_and_the_greatest_of_each_column_are_drawn(look, tmp_path):
    def line(page: Page) -> list[str]:
        return page.locator(".drawing path.line:not([transform])").evaluate_all(
            "all => all.map((one) => one.getAttribute('d'))"
        )

    count, least, greatest = 20_000, 777, 15_000
    heights = [50 + at % 7 for at in range(count)]
    heights[least], heights[greatest] = 0, 100
    marks = [(1, 0, "", "Ann", "worth", "line", at, heights[at], None, 3) for at in range(count)]
    marks += [(1, 0, "", "Ann", "cost", "point", at, heights[at], None, 3) for at in range(count)]
    marks += [(1, 0, "", "Ben", "worth", "line", at, None, None, 3) for at in range(count)]

    def drawn(page: Page) -> tuple[list[float], int, dict]:
        places = re.findall(r"[ML]([\d.-]+) ([\d.-]+)", "".join(line(page)))
        return (
            [float(y) for _, y in places],
            page.locator(".drawing .point[data-seq]").count(),
            dict(Counter(page.locator(".drawing text").all_text_contents())),
        )

    ys, points, texts = look(page_with(marks, tmp_path, ("Ann", "Ben")), drawn)
    assert len(ys) < 5_000
    assert 100 < points < 3_000
    assert max(ys) - min(ys) > 150, "the least and the greatest are drawn"
    assert "$0" in texts


def test_many_points_stand_everywhere_where_there_are_some_one_in_a_small_cell(look, tmp_path):
    chance = Random(1)
    many = [(chance.randrange(4000), chance.randrange(1000)) for _ in range(20_000)]
    marks = [(1, 0, "", "Ann", "bid", "point", x, y, None, 3) for x, y in many]
    drawn = look(
        page_with(marks, tmp_path, ("Ann",)), lambda page: page.locator(".point[data-seq]").evaluate_all(PLACES)
    )
    ys = [y for _, y in drawn]
    assert len({(int(x / 3 + 0.5), int(y / 3 + 0.5)) for x, y in drawn}) == len(drawn) < len(many)
    tenths = Counter(int(10 * (y - min(ys)) / (max(ys) - min(ys) + 1)) for y in ys)
    assert min(tenths[at] for at in range(10)) > len(drawn) / 15, "between the least and the greatest as well"


def test_bids_of_many_bidders_stay_within_their_round(look, tmp_path):
    names = tuple(f"B{at}" for at in range(60))
    marks = [(0, 0, "", name, "bid", "point", at, 10 * at, None, 1) for name in names for at in range(1, 9)]
    drawn = look(page_with(marks, tmp_path, names), lambda page: page.locator(".point[data-seq]").evaluate_all(PLACES))
    rounds = {height: [x for x, y in drawn if y == height] for height in {y for _, y in drawn}}
    spans = sorted((min(xs), max(xs)) for xs in rounds.values())
    assert [len(xs) for xs in rounds.values()] == [60] * 8
    assert all(end < start for (_, end), (start, _) in pairwise(spans))


def test_a_step_among_bars_changes_between_their_places(look, tmp_path):
    def read(page: Page) -> tuple[list[float], str]:
        bars = page.locator("rect.bar").evaluate_all(
            "all => all.map((one) => one.x.baseVal.value + one.width.baseVal.value / 2)"
        )
        return bars, page.locator("path.step.later:not([transform])").get_attribute("d")

    marks = [(9, 0, "", "Ann", "need", "bar", day, 5, None, 3) for day in range(1, 5)]
    marks += [(9, 0, "", "supply", "supply", "step", day, 10 * day, None, 3) for day in range(1, 5)]
    bars, path = look(page_with(marks, tmp_path, ("Ann",)), read)
    changes = sorted({float(x) for x in re.findall(r"[ML]([\d.]+) ", path)})
    middles = [(one + other) / 2 for one, other in pairwise(bars)]
    assert changes[1:-1] == pytest.approx(middles, abs=1)
    assert (changes[0] < bars[0] - 10, changes[-1] > bars[-1] + 10) == (True, True)


def test_levels_at_one_height_are_stripes_of_one_line_with_one_label(look, tmp_path):
    def read(page: Page) -> tuple[list[str], list[str]]:
        dashes = page.locator("path.level[data-seq]").evaluate_all(
            "all => all.map(getComputedStyle).map((one) => [one.strokeDasharray, one.strokeDashoffset].join())"
        )
        return dashes, page.locator(".drawing .name").all_text_contents()

    marks = [(0, 0, "", name, "limit", "line", None, 70, None, 7) for name in ("Ann", "Ben")]
    marks += [(0, 0, "", "price", "price", "step", at, 60 + at, None, 7) for at in range(5)]
    dashes, names = look(page_with(marks, tmp_path, ("Ann", "Ben")), read)
    assert sorted(dashes) == ["6px, 6px,-6px", "6px, 6px,0px"]
    assert names == ["limit: Ann, Ben"]


def test_names_along_a_picture_are_turned_where_they_have_no_room_beside_each_other(look, tmp_path):
    def texts(page: Page) -> list[list[str]]:
        turned = "all => all.map((one) => [one.textContent, one.getAttribute('transform') ?? ''])"
        return page.locator(".drawing text").evaluate_all(turned)

    names = [f"{at} Main Street" for at in range(16)]
    for shown, count in ((names, 16), (names[:1], 0)):
        marks = [(0, 0, "", "Ann", "price", "bar", name, 7, None, 7) for name in shown]
        drawn = look(page_with(marks, tmp_path, ("Ann", "Ben")), texts)
        assert [text for text, turn in drawn if "rotate" in turn] == shown[:count]
        assert {text for text, _ in drawn} >= {*shown}


def test_names_of_strangers_are_text_and_long_ones_are_cut_and_told_in_full(look, tmp_path):
    names = (LONG, EVIL, "A")
    marks = [
        (0, 0, "", name, EVIL, kind, x, 1 + at, 3, 15)
        for at, name in enumerate(names)
        for kind, x in (("point", EVIL), ("bar", LONG), ("line", None), ("band", "b"))
    ]

    def read(page: Page) -> tuple[str, int, list[str], list[str], bool]:
        page.click(".picture summary")
        full = page.locator(".drawing text title").evaluate_all("all => all.map((one) => one.textContent)")
        texts = page.locator(".drawing text").evaluate_all("all => all.map((one) => one.firstChild.data)")
        inside = page.evaluate(INSIDE)
        return page.title(), page.locator("img").count(), full, texts, inside

    for phone in (False, True):
        title, images, full, texts, inside = look(page_with(marks, tmp_path, names), read, phone=phone)
        assert (title, images, inside) == ("run \N{EN DASH} Harbor", 0, True)
        assert LONG in full
        assert LONG not in texts
        assert any(text.startswith("Annnn") and text.endswith("…") for text in texts)


def test_a_page_without_marks_has_no_picture(look, tmp_path):
    def visible(page: Page) -> list[bool]:
        return [page.locator(one).is_visible() for one in ("#pictures", "#more")]

    assert look(page_with([], tmp_path, ("Ann",)), visible) == [False, False]


def test_a_page_that_is_followed_draws_what_comes_without_a_complaint(sale, look, tmp_path):
    found = run_page(sale[1])
    head, [chunk, *_] = found.head, list(found.chunks)
    half = len(chunk["entries"]) // 2
    (tmp_path / "blank.html").write_text("<!doctype html><link rel=icon href=data:,>")
    (tmp_path / "page.html").write_text(page_of("run", follows=True))
    parts = [
        {
            **chunk,
            "entries": chunk["entries"][:half],
            "boards": {},
            "marks": [m for m in chunk["marks"] if m[0] < half],
        },
        {
            **chunk,
            "entries": chunk["entries"][half:],
            "boards": {},
            "marks": [m for m in chunk["marks"] if m[0] >= half],
        },
    ]

    def follow(page: Page) -> list[int]:
        page.add_init_script(FED)
        page.goto((tmp_path / "page.html").resolve().as_uri())
        page.evaluate("head => feed('head', head)", json.loads(json_of(head)))
        counts = []
        for part in parts:
            page.evaluate("part => feed('add', part)", json.loads(json_of(part)))
            counts.append(page.evaluate("document.querySelectorAll('.drawing [data-seq]').length"))
        shown(page)
        return [*counts, page.evaluate(SHOWN)["bids"]["drawn"]]

    first, second, last = look(tmp_path / "blank.html", follow)
    assert first > 0
    assert second > 0
    assert last == drawn_of(marks_at_the_end(sale[1])["bids"], "")[0]


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.parametrize("dark", [False, True])
def test_pictures_have_no_serious_finding_and_nothing_is_cut(phone, dark, sale, look):
    def check(page: Page) -> tuple[list[str], int]:
        page.keyboard.press("End")
        for summary in page.locator(".picture summary").all():
            summary.click()
        return findings(page), overflow(page)

    assert look(sale[0], check, phone=phone, dark=dark) == ([], 0)


def test_the_view_is_printed_and_no_list_or_control_of_it(sale, look):
    def on_paper(page: Page) -> list[list[bool]]:
        page.emulate_media(media="print")
        seen = (".drawing svg", "#place", "#board table", "#entry", "#more"), (".take", ".steps", "#scrubber", "#list")
        shown = [[page.locator(one).first.is_visible() for one in some] for some in seen]
        page.emulate_media(media="null")
        return shown

    assert look(sale[0], on_paper) == [[True] * 5, [False] * 4]


def test_the_header_takes_two_rows_and_the_board_is_first_on_a_phone(sale, look):
    def top(selector: str, phone: bool = False) -> float:
        return look(sale[0], lambda page: page.locator(selector).first.bounding_box()["y"], phone=phone)

    assert top("#pictures") <= 100
    assert top("#board", phone=True) <= 110
    assert top("#board", phone=True) < top("#pictures", phone=True)


def test_print_and_all_steps_are_in_sight_on_a_phone_wherever_the_reader_is(sale, look):
    def seen(page: Page) -> list[bool]:
        shown = [page.locator("#print").is_visible()]
        for top in (0, 900):
            page.evaluate(f"scrollTo(0, {top})")
            box = page.locator("#way").bounding_box()
            shown.append(box["y"] + box["height"] <= 800 and box["height"] <= 130)
        return shown

    assert look(sale[0], seen, phone=True) == [True, True, True]


@pytest.mark.parametrize("game", GAMES)
def test_nothing_on_a_phone_is_wider_than_its_box(game, held, look, tmp_path):
    def wide(page: Page) -> list[str]:
        found, last = [], int(page.get_attribute("#scrubber", "max"))
        for at in {0, last // 3, last // 2, last}:
            page.evaluate(f"location.hash = 'at={at}'")
            expect(page.locator("#number")).to_have_text(f"Event {at}")
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            found += page.locator(".scroll").evaluate_all(WIDER)
            assert overflow(page) == 0
        return found

    assert look(write_run(held(game), tmp_path / "page.html"), wide, phone=True) == []


def test_no_two_scripts_of_a_page_have_a_name_in_common():
    here = Path(__file__).parents[2] / "harbor" / "_view"
    names = Counter()
    for script in (*SCRIPTS, "follow.js"):
        for told in re.findall(r"^(?:async )?(?:const|let|function|class) ([^;(]+)", (here / script).read_text(), re.M):
            names.update(
                re.findall(r"(?:^|, )\{?\s*(\w+)(?= *[=},;]| *$)", re.split(r"=>|\{", told)[0]) or [told.strip()]
            )
    assert names
    assert [name for name, count in names.items() if count > 1] == []
