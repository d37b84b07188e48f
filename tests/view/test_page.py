"""The page of a run in a real browser: what it shows, to whom, by which ways, and that nothing of a run runs in it."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harbor import Auction, Bidder, Item
from harbor._cli.shared.files import load, presets
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.files.layout import EVENTS
from harbor._core.log.acts import Acted
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import is_seen_by
from harbor._core.plugins.finding import find
from harbor._runs.inputs import RunInputs
from harbor._runs.run import start
from harbor._runs.series import prepare
from harbor._view import chunks, pages
from harbor._view.pages import write_run
from support.browser import findings, needs_browser, overflow, printed
from support.cases import some
from support.shown_runs import remembered_series
from support.small import brief

pytestmark = [pytest.mark.slow, needs_browser]
EVERY_ROW = """async () => {
  const list = document.getElementById("list"), seen = new Set();
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let top = 0; top <= list.scrollHeight; top += list.clientHeight) {
    list.scrollTop = top;
    do await drawn();
    while (list.querySelector("[role=option]:not([data-seq])"));
    for (const row of list.querySelectorAll("[data-seq]")) seen.add(Number(row.dataset.seq));
  }
  return [...seen].sort((one, other) => one - other);
}"""
EVERY_BOARD = """() => {
  const range = document.getElementById("scrubber"), text = (id) => document.getElementById(id).textContent, shown = [];
  for (let at = 0; at <= Number(range.max); at++) {
    range.value = at;
    range.dispatchEvent(new Event("input"));
    const rows = [...document.querySelectorAll("#table tbody tr")];
    shown.push([text("headline"), text("state"), ...rows.map((row) => [...row.cells].map((one) => one.textContent))]);
  }
  return shown;
}"""
CONTROLS = """() => [...document.querySelectorAll("button, select, input, summary, a[href], pre, .scroll, #list")]
  .filter((one) => one.checkVisibility() && !one.disabled && !one.closest("dialog:not([open])"))
  .map((one) => one.id || one.className || one.textContent)"""
ACTIVE = "(one => one.id || one.className || one.textContent)(document.activeElement)"
EACH = some(sorted(presets()), ("demo", "water"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Hold a preset when it is first asked for, with little to play, and give its folder."""
    place = tmp_path_factory.mktemp("presets")

    @cache
    def hold(preset):
        asyncio.run(start(prepare(brief(load(preset)), RunInputs()), place / preset, None))
        return place / preset

    return hold


@pytest.fixture(scope="module")
def sale(tmp_path_factory):
    """The page of a sale to three minds, one of which thinks about its rivals, its folder, and its entries."""
    folder = tmp_path_factory.mktemp("sale") / "run"
    ann = Bidder("Ann", persona="urban-dwellers", theory_of_mind="inferred", bidding="call")
    minds = [ann, *(Bidder(name, bidding="call") for name in ("Ben", "Cho"))]
    lots = [Item(name=name, start=1_000, true_value=2_000) for name in ("Lot A", "Lot B")]
    Auction(items=lots, bidders=minds).run(out=folder)
    return write_run(folder, folder.parent / "sale.html"), folder, read_log(folder / EVENTS).entries


def seqs(entries, kind):
    return [entry.seq for entry in entries if type(entry.event).__name__ == kind]


def is_bid(entry):
    return isinstance(entry.event, Acted) and isinstance(entry.event.act, Bid)


def opened(folder: Path) -> list[Path]:
    """Give the folders of the runs in a folder: of a series, its auctions."""
    return sorted(log.parent for log in folder.glob(f"[0-9]*/{EVENTS}")) or [folder]


@pytest.mark.parametrize("preset", EACH)
def test_as_a_seat_saw_it_is_what_that_seat_may_see(preset, runs, look, tmp_path):
    run = opened(runs(preset))[-1]
    entries = read_log(run / EVENTS).entries

    def read(page: Page) -> dict[str, list[int]]:
        shown = {}
        for seat in page.locator("#viewer option").evaluate_all("all => all.map(one => one.value)"):
            page.select_option("#viewer", seat)
            shown[seat] = page.evaluate(EVERY_ROW)
            assert page.locator("#scrubber").get_attribute("max") == str(len(shown[seat]) - 1)
        return shown

    shown = look(write_run(run, tmp_path / "page.html"), read)
    assert shown.pop("") == [entry.seq for entry in entries]
    assert shown == {seat: [entry.seq for entry in entries if is_seen_by(seat, entry.event)] for seat in shown}
    assert len(shown) >= 2


@pytest.mark.parametrize("preset", EACH)
def test_pages_of_every_preset_have_no_serious_finding_and_fit_into_the_window(preset, runs, look, tmp_path):
    page = write_run(runs(preset), tmp_path / "page.html")
    for written in [page, *sorted(tmp_path.glob("page_files/*.html"))[:1]]:
        for how in ({}, {"phone": True, "dark": True}):
            assert look(written, lambda page: (findings(page), overflow(page)), **how) == ([], 0)


def test_a_decision_has_no_serious_finding(sale, look):
    def decide(page: Page) -> list[str]:
        page.keyboard.press("End")
        page.click("#matrix button >> nth=-1")
        for summary in page.locator("summary").all():
            summary.click()
        assert page.locator("#decision pre").count() >= 1
        return findings(page)

    assert [look(sale[0], decide, dark=one, phone=one) for one in (False, True)] == [[], []]


def test_the_policy_of_the_page_lets_no_other_script_run(sale, look):
    script = "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
    with pytest.raises(AssertionError, match="Content Security Policy"):
        look(sale[0], lambda page: page.evaluate(script))


def test_the_keyboard_alone_reaches_every_control(sale, look):
    def tab(page: Page) -> set[str]:
        page.keyboard.press("End")
        page.click("#matrix button >> nth=-1")
        page.evaluate("document.activeElement.blur()")
        wanted, reached = page.evaluate(CONTROLS), []
        for _ in range(len(wanted) + 30):
            page.keyboard.press("Tab")
            reached.append(page.evaluate(ACTIVE))
        assert wanted
        return {*wanted} - {*reached}

    assert look(sale[0], tab) == set()


def test_keys_move_over_events_rounds_and_items(sale, look):
    keys = ["Home", "ArrowRight", "ArrowLeft", "End", "Home", "PageDown", "Shift+ArrowRight", "PageDown", "PageUp"]

    def press(page: Page) -> list[int]:
        moments = []
        for key in keys:
            page.keyboard.press(key)
            moments.append(int(page.inner_text("#number").split()[-1]))
        for key, seen in (("?", True), ("Escape", False)):
            page.keyboard.press(key)
            assert page.locator("#help").is_visible() == seen
        return moments

    (first, second), [asked, *_], last = seqs(sale[2], "ItemOpened"), seqs(sale[2], "BiddersAsked"), sale[2][-1].seq
    assert look(sale[0], press) == [0, 1, 0, last, 0, first, asked, second, first]


@pytest.mark.parametrize("viewer", ["", "Ann"])
def test_the_board_on_the_page_is_that_of_the_game_at_each_event(viewer, sale, look, tmp_path, monkeypatch):
    monkeypatch.setattr("harbor._view.chunks.CHARACTERS", 20_000)
    page = write_run(sale[1], tmp_path / "page.html")
    shown = look(page, lambda page: (page.select_option("#viewer", viewer), page.evaluate(EVERY_BOARD))[1])
    board = find("game", "english").board()
    for entry in sale[2]:
        if viewer == "" or is_seen_by(viewer, entry.event):
            board.note(entry.event)
            now = board.shown()
            assert shown.pop(0) == [now.headline or "Before it begins", now.state, *(list(row) for row in now.rows)]
    assert not shown


def test_marks_are_those_of_the_event_by_whatever_way_one_comes_to_it(sale, look):
    def come(page: Page) -> list[list[str]]:
        by_link = page.locator("#table .changed").all_inner_texts()
        page.locator("body").press("ArrowLeft")
        page.locator("body").press("ArrowRight")
        return [by_link, page.locator("#table .changed").all_inner_texts()]

    by_link, stepped = look(sale[0], come, fragment=f"at={next(filter(is_bid, sale[2])).seq}")
    assert by_link == stepped != []


def test_where_the_keys_come_to_rest_is_said_to_who_can_not_see_it(sale, look):
    def move(page: Page) -> str:
        page.locator("body").press("End")
        page.locator("#spoken:not(:empty)").wait_for(state="attached")
        return page.locator("#spoken").text_content()

    assert look(sale[0], move).startswith(f"Event {sale[2][-1].seq}: ")


def test_a_link_opens_its_moment_as_its_seat_saw_it_and_back_comes_back(sale, look):
    def follow(page: Page) -> list[str]:
        seen = [page.inner_text("#number"), page.input_value("#viewer")]
        page.click("#matrix button >> nth=0")
        page.go_back()
        return [*seen, page.inner_text("#number")]

    asked = next(filter(is_bid, sale[2])).seq
    assert look(sale[0], follow, fragment=f"at={asked}&seat=Ann") == [f"Event {asked}", "Ann", f"Event {asked}"]


@pytest.mark.parametrize(("seat", "fragment"), [("", "&seat=Ann"), ("Ann", "")])
def test_a_link_opens_its_moment_in_the_list_where_entries_are_still_loaded(
    seat, fragment, sale, look, tmp_path, monkeypatch
):
    monkeypatch.setattr(pages, "MOST_INLINE", 0)
    monkeypatch.setattr(chunks, "CHARACTERS", 10_000)
    asked = [entry.seq for entry in sale[2] if is_seen_by("Ann", entry.event)][-5]

    def listed(page: Page) -> str:
        expect(page.locator("#moment")).to_have_attribute("aria-busy", "false")
        return page.locator("#rows [aria-selected=true]").get_attribute("data-seq")

    page = write_run(sale[1], tmp_path / "page.html", seat)
    assert look(page, listed, fragment=f"at={asked}{fragment}") == str(asked)


def test_the_button_copies_the_link_of_the_moment(sale, look):
    def copy(page: Page) -> str:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.select_option("#viewer", "Ben")
        page.click("#link")
        expect(page.locator("#told")).to_contain_text("copied")
        return page.evaluate("navigator.clipboard.readText()")

    seen = max(entry.seq for entry in sale[2][:21] if is_seen_by("Ben", entry.event))
    assert look(sale[0], copy, fragment="at=20").endswith(f"sale.html#at={seen}&seat=Ben")


def test_words_bidder_and_kind_leave_the_events_that_have_them(sale, look):
    def find(page: Page) -> list[list[int]]:
        found = []
        for words in ("ben BIDS", "item 2", ""):
            page.fill("#search", words)
            found.append(page.evaluate(EVERY_ROW))
        for control, value in (("#kind", "item_sold"), ("#bidder", "Ann")):
            page.select_option(control, value)
            found.append(page.evaluate(EVERY_ROW))
        return found

    bids, item, everything, sold, of_ann = look(sale[0], find)
    placed = {entry.seq for entry in filter(is_bid, sale[2]) if entry.event.bidder == "Ben"}
    assert set() < placed <= set(bids) < set(everything)
    assert item == seqs(sale[2], "ItemOpened")[1:]
    assert (len(everything), sold) == (len(sale[2]), seqs(sale[2], "ItemSold"))
    assert of_ann == [seq for seq in sold if sale[2][seq].event.winner == "Ann"]


def test_what_a_bidder_was_seen_to_do_leads_to_its_decision_and_only_its_own_eyes_do(sale, look):
    out = next(one for one in sale[2] if isinstance(one.event, Acted) and one.event.act == Withdraw())
    who = out.event.bidder
    [*_, decided] = [seq for seq in seqs(sale[2][: out.seq], "Decided") if sale[2][seq].event.bidder == who]

    def read(page: Page) -> tuple[str, str, dict[str, bool]]:
        told = page.inner_text("#decided")
        page.click("#where button")
        why = page.inner_text("#number")
        page.go_back()
        seen = {}
        for seat in ("Ann", "Ben", "Cho"):
            page.select_option("#viewer", seat)
            seen[seat] = page.locator("#decision").is_visible()
        return told, why, seen

    own = {seat: seat == who for seat in ("Ann", "Ben", "Cho")}
    assert look(sale[0], read, fragment=f"at={out.seq}") == (f"{who}: bid", f"Event {decided}", own)


def test_paper_has_the_moment_as_it_is_seen_and_without_a_filter_the_events_of_its_item_alone(sale, look):
    def read(page: Page) -> tuple[list[str], str]:
        page.click("#matrix button >> nth=-1")
        seen = [page.inner_text(one) for one in ("#place", "#headline", "#number", "#words", "#decided", "#thought")]
        return seen, printed(page).text

    start, end = seqs(sale[2], "ItemOpened")
    seen, paper = look(sale[0], read, fragment=f"at={end - 1}")
    assert all(text in paper for text in [*seen, "Simulated.", "No filter was set: the events of this item alone"])
    listed = paper[paper.index("Events of Lot A") :]
    assert [line.split("\t")[0] for line in listed.splitlines() if line[:1].isdigit()] == [*map(str, range(start, end))]
    assert not {"Copy link", "Play", "Prompt", "CSV"} & {line.strip() for line in paper.splitlines()}


def test_a_large_run_is_loaded_from_files_beside_the_page(sale, look, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "MOST_INLINE", 1)
    monkeypatch.setattr("harbor._view.chunks.CHARACTERS", 20_000)
    page = write_run(sale[1], tmp_path / "a run #1?.html")
    files = len(list((tmp_path / "a run #1?_files").iterdir()))

    def read(page: Page) -> tuple[int, list[int], str]:
        begun = page.locator("script[src]").count()
        page.keyboard.press("End")
        expect(page.locator("#words")).to_have_text("The game is over.")
        every = page.evaluate(EVERY_ROW)
        page.select_option("#viewer", "Ann")
        return begun, every, page.inner_text("#headline")

    begun, *shown = look(page, read)
    assert (files > 2, begun < files) == (True, True)
    assert shown == [[entry.seq for entry in sale[2]], "The sale is over"]


def test_a_series_links_to_its_auctions_and_they_link_back(look, tmp_path):
    def walk(page: Page) -> list[str]:
        told = [page.inner_text("#learnings ~ details[open]")]
        page.click("text=Auction 2")
        told.append(page.inner_text("#place"))
        page.click("#back")
        return [*told, page.inner_text("#ranks")]

    learned, inside, back = look(write_run(remembered_series(tmp_path / "series"), tmp_path / "a series.html"), walk)
    assert "Over 4 items, to win took" in learned
    assert (inside.startswith("moment "), back) == (True, "Ranks by profit")
