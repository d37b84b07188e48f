"""The page of a run in a real browser: what it shows, to whom, by which ways, and that nothing of a run runs in it."""

from __future__ import annotations

import asyncio
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
from harbor._view.page_data import run_page
from harbor._view.pages import page_of, write_run
from support.browser import browser, findings, needs_browser, overflow, printed
from support.cases import some
from support.small import brief

EVIL = '</script><img src=x onerror="document.title=1"><b>Ann</b>&'
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


def is_bid(event):
    return isinstance(event, Acted) and isinstance(event.act, Bid)


@pytest.fixture(scope="module")
def look():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Hold a preset when it is first asked for, with little to play, and give its folder."""
    place, held = tmp_path_factory.mktemp("presets"), {}

    def hold(preset):
        if preset not in held:
            held[preset] = place / preset
            asyncio.run(start(prepare(brief(load(preset)), RunInputs()), held[preset], None))
        return held[preset]

    return hold


@pytest.fixture(scope="module")
def sale(tmp_path_factory):
    """The page of a sale to three minds, one of which thinks about its rivals, and its folder."""
    folder = tmp_path_factory.mktemp("sale") / "run"
    ann = Bidder("Ann", persona="urban-dwellers", theory_of_mind="inferred", bidding="call")
    minds = [ann, *(Bidder(name, bidding="call") for name in ("Ben", "Cho"))]
    items = [Item(name=name, start=1_000, true_value=2_000) for name in ("Lot A", "Lot B")]
    Auction(items=items, bidders=minds).run(out=folder)
    return write_run(folder, folder.parent / "sale.html"), folder


def opened(folder: Path) -> list[Path]:
    """Give the folders of the runs in a folder: of a series, its auctions."""
    return sorted(log.parent for log in folder.glob(f"[0-9]*/{EVENTS}")) or [folder]


@pytest.mark.parametrize("preset", some(sorted(presets()), ("demo", "water")))
@pytest.mark.slow
@needs_browser
def test_as_a_seat_saw_it_is_what_that_seat_may_see(preset, runs, look, tmp_path):
    run = opened(runs(preset))[-1]
    entries = read_log(run / EVENTS).entries
    page = write_run(run, tmp_path / "page.html")

    def read(page: Page) -> dict[str, list[int]]:
        seats = page.locator("#viewer option").evaluate_all("all => all.map(one => one.value)")
        shown = {}
        for seat in seats:
            page.select_option("#viewer", seat)
            shown[seat] = page.evaluate(EVERY_ROW)
            assert page.locator("#scrubber").get_attribute("max") == str(len(shown[seat]) - 1)
        return shown

    shown = look(page, read)
    assert shown.pop("") == [entry.seq for entry in entries]
    assert shown == {seat: [entry.seq for entry in entries if is_seen_by(seat, entry.event)] for seat in shown}
    assert len(shown) >= 2


@pytest.mark.parametrize("preset", some(sorted(presets()), ("demo", "water")))
@pytest.mark.slow
@needs_browser
def test_pages_of_every_preset_have_no_serious_finding_and_fit_into_the_window(preset, runs, look, tmp_path):
    page = write_run(runs(preset), tmp_path / "page.html")
    for written in [page, *sorted(tmp_path.glob("page_files/*.html"))[:1]]:
        for how in ({}, {"dark": True}, {"phone": True}, {"phone": True, "dark": True}):
            assert look(written, lambda page: (findings(page), overflow(page)), **how) == ([], 0)


@pytest.mark.slow
@needs_browser
def test_a_decision_has_no_serious_finding(sale, look):
    def decide(page: Page) -> list[str]:
        page.keyboard.press("End")
        page.click("#matrix button >> nth=-1")
        for summary in page.locator("summary").all():
            summary.click()
        assert page.locator("#decision pre").count() >= 1
        return findings(page)

    assert [look(sale[0], decide, dark=dark, phone=phone) for dark in (False, True) for phone in (False, True)] == [
        []
    ] * 4


@pytest.mark.slow
@needs_browser
def test_markup_in_names_is_shown_as_text_and_nothing_of_it_runs(look, tmp_path):
    items = [Item(name=f"{EVIL} {at}", start=1_000, true_value=2_000, listing=EVIL + "\u2028") for at in (1, 2)]
    bidders = [Bidder(EVIL, rule="minimum-raise"), Bidder("<i>Ben", rule="minimum-raise")]
    Auction(items=items, bidders=bidders).run(out=tmp_path / "<b>run<&")
    page = write_run(tmp_path / "<b>run<&", tmp_path / "page.html")
    shown = look(
        page,
        lambda page: (page.title(), page.inner_text("h1"), page.inner_text("#table"), page.locator("img, b").count()),
    )
    assert shown[0] == "<b>run<& \u2013 Harbor"
    assert all("</script><img src=x" in one for one in shown[2:3])
    assert shown[3] == 0


@pytest.mark.slow
@needs_browser
def test_the_policy_of_the_page_lets_no_other_script_run(sale, look):
    def intrude(page: Page) -> str:
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
        )
        return page.title()

    with pytest.raises(AssertionError, match="Content Security Policy"):
        look(sale[0], intrude)


@pytest.mark.slow
@needs_browser
def test_the_keyboard_alone_reaches_every_control(sale, look):
    def tab(page: Page) -> tuple[list[str], list[str]]:
        page.keyboard.press("End")
        page.click("#matrix button >> nth=-1")
        page.evaluate("document.activeElement.blur()")
        wanted, reached = page.evaluate(CONTROLS), []
        for _ in range(len(wanted) + 30):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("(one => one.id || one.className || one.textContent)(document.activeElement)"))
        return wanted, reached

    wanted, reached = look(sale[0], tab)
    assert set(wanted) - set(reached) == set()


@pytest.mark.slow
@needs_browser
def test_keys_move_over_events_rounds_and_items(sale, look):
    def press(page: Page) -> list[int]:
        moments = []
        for key in (
            "Home",
            "ArrowRight",
            "ArrowLeft",
            "End",
            "Home",
            "PageDown",
            "Shift+ArrowRight",
            "PageDown",
            "PageUp",
        ):
            page.keyboard.press(key)
            moments.append(int(page.inner_text("#number").split()[-1]))
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#help").is_visible()
        return moments

    entries = read_log(sale[1] / EVENTS).entries
    kinds = {
        kind: [entry.seq for entry in entries if type(entry.event).__name__ == kind]
        for kind in ("ItemOpened", "BiddersAsked")
    }
    (first, second), asked, last = kinds["ItemOpened"], kinds["BiddersAsked"][0], entries[-1].seq
    assert look(sale[0], press) == [0, 1, 0, last, 0, first, asked, second, first]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("viewer", ["", "Ann"])
def test_the_board_on_the_page_is_that_of_the_game_at_each_event(viewer, sale, look, tmp_path, monkeypatch):
    monkeypatch.setattr("harbor._view.chunks.CHARACTERS", 20_000)
    page = write_run(sale[1], tmp_path / "page.html")
    shown = look(page, lambda page: (page.select_option("#viewer", viewer), page.evaluate(EVERY_BOARD))[1])
    board = find("game", "english").board()
    for entry in read_log(sale[1] / EVENTS).entries:
        if viewer == "" or is_seen_by(viewer, entry.event):
            board.note(entry.event)
            now = board.shown()
            assert shown.pop(0) == [now.headline or "Before it begins", now.state, *(list(row) for row in now.rows)]
    assert not shown


@pytest.mark.slow
@needs_browser
def test_each_part_has_its_number_whatever_digits_its_name_has(look, runs, tmp_path):
    names = ["Lot A", "2 Mill Lane", "36 Osprey Drive", "14 Elm Row"]
    items = [Item(name=name, start=1_000, true_value=2_000) for name in names]
    Auction(items=items, bidders=[Bidder("Ann"), Bidder("Ben")]).run(out=tmp_path / "run")

    def parts(page: Page) -> list[str]:
        return page.locator("#part option").all_inner_texts()

    numbered = [f"{number} · {name}" for number, name in enumerate(names, start=1)]
    assert look(write_run(tmp_path / "run", tmp_path / "page.html"), parts) == ["the beginning", *numbered, "the end"]
    days = look(write_run(runs("water"), tmp_path / "days.html"), parts)
    assert days == ["the beginning", *(f"day {number}" for number in range(1, len(days) - 1)), "the end"]


@pytest.mark.slow
@needs_browser
def test_where_a_reader_is_is_counted_from_one_and_after_the_last_part_it_is_the_end(sale, look):
    def at_the_end(page: Page) -> tuple[str, str, str]:
        page.keyboard.press("End")
        chosen = page.locator("#part option:checked").inner_text()
        return page.inner_text("#place"), chosen, page.inner_text("#found")

    count = len(read_log(sale[1] / EVENTS).entries)
    assert look(sale[0], at_the_end) == (
        f"moment {count} of {count} · the end",
        "the end",
        f"{count} events, numbered from 0",
    )


@pytest.mark.slow
@needs_browser
def test_a_head_that_comes_later_leaves_the_reader_where_he_is_in_what_it_lists(sale, look):
    def read(page: Page) -> tuple[str, str]:
        page.keyboard.press("End")
        page.evaluate("head => harborView.head(head)", head)
        return page.inner_text("#place").split(" · ")[-1], page.locator("#part option:checked").inner_text()

    head = run_page(sale[1]).head
    head["places"] = [place for place in head["places"] if place[1] == "part"]
    assert look(sale[0], read) == ("Lot B", "2 · Lot B")


@pytest.mark.slow
@needs_browser
def test_marks_are_those_of_the_event_by_whatever_way_one_comes_to_it(sale, look):
    def marked(page: Page) -> list[str]:
        return page.locator("#table .changed").all_inner_texts()

    def come(page: Page) -> tuple[list[str], list[str]]:
        by_link = marked(page)
        page.locator("body").press("ArrowLeft")
        page.locator("body").press("ArrowRight")
        return by_link, marked(page)

    asked = next(entry.seq for entry in read_log(sale[1] / EVENTS).entries if is_bid(entry.event))
    by_link, stepped = look(sale[0], come, fragment=f"at={asked}")
    assert by_link == stepped != []


@pytest.mark.slow
@needs_browser
def test_a_cell_is_marked_for_what_it_says_and_not_for_where_its_column_stands(runs, look, tmp_path):
    def at_the_end(page: Page) -> tuple[list[str], int]:
        page.keyboard.press("End")
        return page.locator("#table th").all_inner_texts(), page.locator("#table .changed").count()

    columns, marked = look(write_run(runs("second-price"), tmp_path / "page.html"), at_the_end)
    assert columns == ["bidder", "now", "runs won so far", "earned so far"]
    assert marked == 0


@pytest.mark.slow
@needs_browser
def test_where_the_keys_come_to_rest_is_said_to_who_can_not_see_it(sale, look):
    def move(page: Page) -> str:
        page.locator("body").press("End")
        page.locator("#spoken:not(:empty)").wait_for(state="attached")
        return page.locator("#spoken").text_content()

    last = read_log(sale[1] / EVENTS).entries[-1]
    assert look(sale[0], move).startswith(f"Event {last.seq}: ")


@pytest.mark.slow
@needs_browser
def test_a_link_opens_its_moment_as_its_seat_saw_it_and_back_comes_back(sale, look):
    def follow(page: Page) -> list[str]:
        seen = [page.inner_text("#number"), page.input_value("#viewer")]
        page.click("#matrix button >> nth=0")
        page.go_back()
        return [*seen, page.inner_text("#number")]

    asked = next(entry.seq for entry in read_log(sale[1] / EVENTS).entries if is_bid(entry.event))
    assert look(sale[0], follow, fragment=f"at={asked}&seat=Ann") == [f"Event {asked}", "Ann", f"Event {asked}"]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize(("seat", "fragment"), [("", "&seat=Ann"), ("Ann", "")])
def test_a_link_opens_its_moment_in_the_list_where_entries_are_still_loaded(
    seat, fragment, sale, look, tmp_path, monkeypatch
):
    monkeypatch.setattr(pages, "MOST_INLINE", 0)
    monkeypatch.setattr(chunks, "CHARACTERS", 10_000)
    asked = [entry.seq for entry in read_log(sale[1] / EVENTS).entries if is_seen_by("Ann", entry.event)][-5]

    def listed(page: Page) -> str:
        expect(page.locator("#moment")).to_have_attribute("aria-busy", "false")
        return page.locator("#rows [aria-selected=true]").get_attribute("data-seq")

    assert look(write_run(sale[1], tmp_path / "page.html", seat), listed, fragment=f"at={asked}{fragment}") == str(
        asked
    )


@pytest.mark.slow
@needs_browser
def test_the_button_copies_the_link_of_the_moment(sale, look):
    def copy(page: Page) -> str:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.select_option("#viewer", "Ben")
        page.click("#link")
        expect(page.locator("#told")).to_contain_text("copied")
        return page.evaluate("navigator.clipboard.readText()")

    seen = max(entry.seq for entry in read_log(sale[1] / EVENTS).entries[:21] if is_seen_by("Ben", entry.event))
    assert look(sale[0], copy, fragment="at=20").endswith(f"sale.html#at={seen}&seat=Ben")


@pytest.mark.slow
@needs_browser
def test_words_bidder_and_kind_leave_the_events_that_have_them(sale, look):
    def find(page: Page) -> list[list[int]]:
        found = []
        for control, value in (
            ("search", "ben BIDS"),
            ("search", "item 2"),
            ("search", ""),
            ("kind", "item_sold"),
            ("bidder", "Ann"),
        ):
            page.fill(f"#{control}", value) if control == "search" else page.select_option(f"#{control}", value)
            found.append(page.evaluate(EVERY_ROW))
        return found

    entries = read_log(sale[1] / EVENTS).entries
    bids, item, everything, sold, of_ann = look(sale[0], find)
    opens = [entry.seq for entry in entries if type(entry.event).__name__ == "ItemOpened"]
    hammers = [entry for entry in entries if type(entry.event).__name__ == "ItemSold"]
    placed = {entry.seq for entry in entries if is_bid(entry.event) and entry.event.bidder == "Ben"}
    assert placed
    assert placed <= set(bids) < set(everything)
    assert item == [opens[1]]
    assert (len(everything), sold) == (len(entries), [entry.seq for entry in hammers])
    assert of_ann == [entry.seq for entry in hammers if entry.event.winner == "Ann"]


@pytest.mark.slow
@needs_browser
def test_what_a_bidder_was_seen_to_do_leads_to_its_decision_and_only_its_own_eyes_do(sale, look):
    entries = read_log(sale[1] / EVENTS).entries
    out = next(entry for entry in entries if isinstance(entry.event, Acted) and entry.event.act == Withdraw())
    [*_, decided] = [
        entry.seq
        for entry in entries[: out.seq]
        if type(entry.event).__name__ == "Decided" and entry.event.bidder == out.event.bidder
    ]

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

    told, why, seen = look(sale[0], read, fragment=f"at={out.seq}")
    assert told == f"{out.event.bidder}: bid"
    assert why == f"Event {decided}"
    assert seen == {seat: seat == out.event.bidder for seat in seen}


@pytest.mark.slow
@needs_browser
def test_the_end_is_folded_until_it_is_asked_for_and_is_on_paper_only_then(sale, look):
    def read(page: Page) -> list[bool]:
        shown = [page.locator("#standings table").is_visible(), "profit ratio" in printed(page).text]
        page.click("#ended summary")
        return [*shown, "profit ratio" in printed(page).text]

    assert look(sale[0], read) == [False, False, True]


@pytest.mark.slow
@needs_browser
def test_paper_has_the_moment_as_it_is_seen_and_without_a_filter_the_events_of_its_item_alone(sale, look):
    def read(page: Page) -> tuple[list[str], str]:
        page.click("#matrix button >> nth=-1")
        seen = [page.inner_text(one) for one in ("#place", "#headline", "#number", "#words", "#decided", "#thought")]
        return seen, printed(page).text

    entries = read_log(sale[1] / EVENTS).entries
    start, end = (entry.seq for entry in entries if type(entry.event).__name__ == "ItemOpened")
    seen, paper = look(sale[0], read, fragment=f"at={end - 1}")
    assert seen[0].startswith("moment ")
    assert all(text in paper for text in [*seen, "Simulated.", "No filter was set: the events of this item alone"])
    listed = paper[paper.index("Events of Lot A") :]
    assert [line.split("\t")[0] for line in listed.splitlines() if line[:1].isdigit()] == [*map(str, range(start, end))]
    assert not {"Copy link", "Play", "Prompt", "CSV"} & {line.strip() for line in paper.splitlines()}


@pytest.mark.slow
@needs_browser
def test_a_large_run_is_loaded_from_files_beside_the_page(sale, look, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "MOST_INLINE", 1)
    monkeypatch.setattr("harbor._view.chunks.CHARACTERS", 20_000)
    page = write_run(sale[1], tmp_path / "a run #1?.html")
    files = len(list((tmp_path / "a run #1?_files").iterdir()))
    assert files > 2

    def read(page: Page) -> tuple[int, list[int], str]:
        begun = page.locator("script[src]").count()
        page.keyboard.press("End")
        expect(page.locator("#words")).to_have_text("The game is over.")
        every = page.evaluate(EVERY_ROW)
        page.select_option("#viewer", "Ann")
        return begun, every, page.inner_text("#headline")

    begun, every, headline = look(page, read)
    assert begun < files
    assert every == [entry.seq for entry in read_log(sale[1] / EVENTS).entries]
    assert headline == "The sale is over"


@pytest.mark.slow
@needs_browser
def test_a_series_links_to_its_auctions_and_they_link_back(runs, look, tmp_path):
    page = write_run(runs("learning"), tmp_path / "a series.html")

    def walk(page: Page) -> list[str]:
        told = [page.inner_text("#learnings ~ details[open]")]
        page.click("text=Auction 2")
        told.append(page.inner_text("#place"))
        page.click("#back")
        return [*told, page.inner_text("#ranks")]

    learned, inside, back = look(page, walk)
    assert "Over 4 items, to win took" in learned
    assert inside.startswith("moment ")
    assert back == "Ranks by profit"


def test_the_page_without_data_has_at_most_150_kb():
    assert len(page_of("a run", follows=True).encode()) <= 150_000
