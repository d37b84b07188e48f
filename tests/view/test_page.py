"""The page of a run in a real browser: what it shows, to whom, by which ways, and that nothing of a run runs in it."""

from __future__ import annotations

import shutil
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harbor import Auction, Bidder, Item
from harbor._cli.shared.files import presets
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.files.layout import EVENTS
from harbor._core.log.acts import Acted
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import is_seen_by
from harbor._core.plugins.finding import find
from harbor._view import chunks, pages
from harbor._view.pages import write_run
from support import forging
from support.browser import findings, needs_browser, overflow, printed
from support.cases import some
from support.folders import contents, cut
from support.shown_runs import hold_preset, remembered_series

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
    return cache(lambda preset: hold_preset(preset, place / preset))


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


@pytest.mark.parametrize("preset", EACH)
def test_as_a_seat_saw_it_is_what_that_seat_may_see(preset, runs, look, tmp_path):
    run = runs(preset)
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


def sound(page: Page) -> tuple[list[str], int]:
    return findings(page), overflow(page)


def is_sound(look, page: Path) -> bool:
    """Say whether nothing serious is found in a page, which fits into the window, on desktop and phone."""
    return [look(page, sound), look(page, sound, phone=True, dark=True)] == [([], 0)] * 2


@pytest.mark.parametrize("preset", EACH)
def test_pages_of_every_preset_have_no_serious_finding_and_fit_into_the_window(preset, runs, look, tmp_path):
    assert is_sound(look, write_run(runs(preset), tmp_path / "page.html"))


def test_a_decision_and_pictures_with_all_that_unfolds_have_no_serious_finding_and_fit_into_the_window(sale, look):
    def decide(page: Page) -> tuple[list[str], int]:
        page.keyboard.press("End")
        page.click("#matrix button >> nth=-1")
        for summary in page.locator("summary").all():
            summary.click()
        assert page.locator("#decision pre").count() >= 1
        assert page.locator(".picture table").count() >= 1
        page.evaluate("document.querySelectorAll('#call-table tr:nth-child(n + 9)').forEach((one) => one.remove())")
        return sound(page)  # of a hundred rows of calls, axe takes three times as long

    assert [look(sale[0], decide, dark=one, phone=one) for one in (False, True)] == [([], 0)] * 2


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


def test_keys_move_over_events_rounds_and_items_and_where_they_rest_is_said_to_who_can_not_see_it(sale, look):
    keys = ["Home", "ArrowRight", "ArrowLeft", "End", "Home", "PageDown", "Shift+ArrowRight", "PageDown", "PageUp"]

    def press(page: Page) -> list[int]:
        moments = []
        for key in keys:
            page.keyboard.press(key)
            moments.append(int(page.inner_text("#number").split()[-1]))
        for key, seen in (("?", True), ("Escape", False)):
            page.keyboard.press(key)
            assert page.locator("#help").is_visible() == seen
        page.keyboard.press("End")
        page.locator(f"#spoken:has-text('Event {last}: ')").wait_for(state="attached")
        return moments

    (first, second), [asked, *_], last = seqs(sale[2], "ItemOpened"), seqs(sale[2], "BiddersAsked"), sale[2][-1].seq
    assert look(sale[0], press) == [0, 1, 0, last, 0, first, asked, second, first]


def test_the_board_on_the_page_is_that_of_the_game_at_each_event(sale, look, tmp_path, monkeypatch):
    monkeypatch.setattr("harbor._view.chunks.CHARACTERS", 20_000)

    def read(page: Page) -> dict[str, list]:
        return {who: (page.select_option("#viewer", who), page.evaluate(EVERY_BOARD))[1] for who in ("", "Ann")}

    for viewer, shown in look(write_run(sale[1], tmp_path / "page.html"), read).items():
        board = find("game", "english").board()
        for entry in sale[2]:
            if viewer == "" or is_seen_by(viewer, entry.event):
                board.note(entry.event)
                now = board.shown()
                assert shown.pop(0) == [now.headline or "Before it begins", now.state, *map(list, now.rows)]
        assert not shown


def test_marks_are_those_of_the_event_by_whatever_way_one_comes_to_it(sale, look):
    def come(page: Page) -> list[list[str]]:
        by_link = page.locator("#table .changed").all_inner_texts()
        page.locator("body").press("ArrowLeft")
        page.locator("body").press("ArrowRight")
        return [by_link, page.locator("#table .changed").all_inner_texts()]

    by_link, stepped = look(sale[0], come, fragment=f"at={next(filter(is_bid, sale[2])).seq}")
    assert by_link == stepped != []


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


def test_a_series_is_sound_and_links_to_its_auctions_and_they_link_back(look, tmp_path):
    def walk(page: Page) -> list[str]:
        told = [page.inner_text("#learnings ~ details[open]")]
        page.click("text=Auction 2")
        page.locator("#place:not(:empty)").wait_for()
        told.append(page.inner_text("#place"))
        page.click("#back")
        return [*told, page.inner_text("#ranks")]

    page = write_run(remembered_series(tmp_path / "series"), tmp_path / "a series.html")
    assert is_sound(look, page)
    learned, inside, back = look(page, walk)
    assert "Over 4 items, to win took" in learned
    assert (inside.startswith("moment "), back) == (True, "Ranks by profit")


# ---------------------------------------------------------------- what differs between two texts


LINES = [f"line {number} of the text\n" for number in range(900)]
MANY = "".join(f"{number}\n" for number in range(3000))
CASES = [
    ("", "", []),
    ("the same", "the same", [["", "the same"]]),
    ("Go for A, B.", "Go for A, C.", [["", "Go for A, "], ["del", "B."], ["ins", "C."]]),
    ("", "all new", [["ins", "all new"]]),
    ("all gone", "", [["del", "all gone"]]),
    ("a b c d", "b c x d", [["del", "a "], ["", "b c "], ["ins", "x "], ["", "d"]]),
    ("<b>1</b>", "<b>2</b>", [["del", "<b>1</b>"], ["ins", "<b>2</b>"]]),
]


@pytest.fixture
def differ(look):
    """Compare all pairs of texts at once, in one page, with neighbours of a kind joined."""
    script = (files("harbor._view") / "calls.js").read_text()
    joined = """pairs.map(([before, after]) => differences(before, after).reduce((all, [tag, text]) => {
      if (all.at(-1)?.[0] === tag) all.at(-1)[1] += text; else all.push([tag, text]);
      return all;
    }, []))"""
    told = f"(pairs) => {{ {script}\nreturn {joined}; }}"
    return lambda pairs: look("data:text/html,", lambda page: page.evaluate(told, pairs))


def test_words_that_went_and_came_are_told_apart(differ):
    assert differ([[before, after] for before, after, _ in CASES]) == [told for _, _, told in CASES]


def test_both_texts_can_be_read_from_their_differences_however_long_they_are(differ):
    changed = "".join([*LINES[:400], "another line\n", *LINES[401:]])
    pairs = [["".join(LINES), changed], [MANY, MANY.replace("1", "one\n2")]]
    by_line, capped = told = differ(pairs)
    assert ["del", LINES[400]] in by_line
    assert {tag for tag, _ in capped} >= {"del", "ins"}
    for (before, after), parts in zip(pairs, told, strict=True):
        assert "".join(text for tag, text in parts if tag != "ins") == before
        assert "".join(text for tag, text in parts if tag != "del") == after


# ---------------------------------------------------------------- logs that are cut short, strange or hostile


EVIL = '</script><img src=x onerror="document.title=1"><b>{}</b>&'
LONG = "A" * 200
"""More letters than settings allow: a log may come from elsewhere."""


def walk(page):
    """Walk to the end and back; give the title, the number of elements that markup became, and the moment's words."""
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    number, words = (page.locator(f"#{name}").text_content() for name in ("number", "words"))
    assert number.startswith("Event ")
    return page.title(), page.locator("img, #table b").count(), words


def rewritten(change):
    """Write the lines of a log anew, with digests that follow."""

    def rewrite(log):
        told = log.read_text()
        changed = change(told)
        assert changed != told
        log.write_text(changed)
        forging.write(log, forging.lines_of(log))

    return rewrite


SPOILED = {
    "cut before anybody is told": lambda log: cut(log, 2),
    "without calls": lambda log: (log.parent / "calls.jsonl").unlink(),
    "of an unknown game": rewritten(lambda text: text.replace('"name":"english"', '"name":"unheard of"', 1)),
    "with long names": rewritten(lambda text: text.replace("Ann", LONG)),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_log_that_lacks_something_opens(how, run, look, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    before = contents(folder)
    SPOILED[how](folder / "events.jsonl")
    assert contents(folder) != before
    *_, words = look(write_run(folder, tmp_path / "page.html"), walk)
    assert words


def test_names_that_are_markup_are_text(look, tmp_path):
    bidders = [Bidder(EVIL.format(one), rule="random", budget=5_000) for one in "AB"]
    listing = EVIL + "\u2028"
    items = [Item(name=EVIL.format(one), start=1_000, true_value=2_000, listing=listing) for one in "CD"]
    Auction(items=items, bidders=bidders, seed=1).run(out=tmp_path / "<b>run<&")
    page = write_run(tmp_path / "<b>run<&", tmp_path / "page.html")
    title, images, _ = look(page, walk)
    assert (title, images) == ("<b>run<& \u2013 Harbor", 0)
    assert look(page, lambda page: page.inner_text("#table")).count("</script><img src=x") == 2
