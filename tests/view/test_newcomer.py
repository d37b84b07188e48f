"""Ten questions of somebody who sees a run for the first time, answered from its page alone, as docs/view.md says.

Each takes three steps (clicks or choices) at most, from the page as it opens, and its answer is on the screen then.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harbor import Auction, Bidder, houses, run_series
from harbor._core.basics.numbers import dollars
from harbor._core.files.layout import EVENTS
from harbor._core.log.log import read_log
from harbor._games.sessions.measures import results_of
from harbor._view.experiment_page import write_experiment
from harbor._view.pages import write_run
from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._running.runner import run_experiment
from support.browser import findings, needs_browser, printed
from support.shown_runs import hold_preset

pytestmark = [pytest.mark.slow, needs_browser]
IN_SIGHT = """(answer) => {
  const box = answer.getBoundingClientRect(), x = box.left + Math.min(box.width, innerWidth - box.left) / 2;
  const there = document.elementFromPoint(x, box.top + Math.min(box.height, innerHeight - box.top) / 2);
  return box.height > 0 && (answer.contains(there) || there?.contains(answer));
}"""
LISTED = "#call-table table"
PROMPT = "#decision details:has(> summary:text('Prompt'))"
PLANS = Experiment(
    name="plans", title="Plans", question="Does a plan pay?", source="Nobody 2024", repeats=1, metrics=("profit",),
    auction={
        "items": [{"name": name, "start": 1000, "true_value": 2000} for name in ("Lot A", "Lot B")],
        "bidders": [{"name": name, "budget": 4000, "model": "@1"} for name in ("Ann", "Ben")],
    },
    arms=(Variation(name="adaptive"), Variation(name="none", auction={"bidders": {"Ann": {"budget": 1200}}})),
)  # fmt: skip


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """The page of two auctions between two minds and a rule; Ann, who has the least money, learns."""
    folder = tmp_path_factory.mktemp("newcomer")
    mind = {"theory_of_mind": "inferred", "strategy": "on"}
    bidders = [
        Bidder("Ann", persona="urban-dwellers", budget=380_000, learning=True, memory="list", **mind),
        Bidder("Ben", persona="rural-home-seekers", budget=900_000, **mind),
        Bidder("Cho", rule="minimum-raise", max_bids=3),
    ]
    rules, lots = {"increment_share": 0.2}, houses(4, seed=3)
    run_series(Auction(items=lots, bidders=bidders, rules=rules, seed=1, series={"auctions": 2}), folder / "series")
    return write_run(folder / "series", folder / "series.html")


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    """The page of an experiment of two arms and one draw."""
    folder = tmp_path_factory.mktemp("arms") / "plans"
    asyncio.run(run_experiment(PLANS, folder))
    return write_experiment(folder, folder.parent / "plans.html")


def sees(page: Page, *answers: str) -> list[str]:
    """Give the texts of answers that are on the screen."""
    unseen = [one for one in answers if not page.locator(one).first.evaluate(IN_SIGHT)]
    assert unseen == [], "not on the screen"
    return [page.locator(one).first.inner_text() for one in answers]


def take(page: Page, *steps: str | int | tuple[str, str]) -> None:
    """Take three steps at most: click a selector, choose an item by its number, or another option by its value."""
    assert len(steps) <= 3
    for step in steps:
        if isinstance(step, int):
            page.select_option("#part", index=step)
        elif isinstance(step, tuple):
            page.select_option(*step)
        else:
            page.click(step)


@pytest.fixture(scope="module")
def ask(series, look):
    """Open the page of the first auction, or another; take steps; give the answers on the screen and what more is."""

    def ask(*steps, answers=(), more=lambda _: (), of=series.parent / "series_files" / "1.html"):
        return look(of, lambda page: (take(page, *steps), [*sees(page, *answers), *more(page)])[1])

    return ask


def thought_of(bidder: str, thought: str) -> str:
    """The button of what a bidder last thought."""
    return f'#matrix button[aria-label^="{bidder}: {thought}"]'


def texts(*selectors: str):
    return lambda page: [page.inner_text(one) for one in selectors]


def numbers(title: str) -> str:
    """Give what opens the numbers of a picture."""
    return f".picture:has(h3:has-text('{title}')) summary"


@pytest.mark.parametrize(("bidding", "told", "says"), [
    ("limit", ("limit", "price", "worth"), ""),
    ("call", ("bid", "out", "price", "worth"), "No limits were set: bidders bid call by call; their last bid and exit"),
])  # fmt: skip
def test_why_did_ann_lose_an_item(bidding, told, says, ask, tmp_path):
    """Choose item 2, go back to the end of item 1, open the numbers: limit or last bid, price and worth in her row."""
    bidders = [Bidder(name, bidding=bidding, budget=budget) for name, budget in (("Ann", 300_000), ("Ben", 900_000))]
    Auction(items=houses(2, seed=3), bidders=bidders, seed=1).run(out=tmp_path / "run")
    page = write_run(tmp_path / "run", tmp_path / "page.html")

    def more(page: Page) -> tuple[str, str, bool]:
        fits = page.locator(".picture .scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
        button = page.locator(".picture[data-picture=bids] table button").first
        leads_to = button.get_attribute("title")
        button.click()
        return leads_to, page.inner_text("#number"), fits

    answers = ".picture table thead", '.picture tr:has-text("Ann")', ".picture .scroll .note"
    steps = 2, "#event-before", numbers("bids")
    heads, row, note, leads_to, number, fits = ask(*steps, answers=answers, more=more, of=page)
    assert number.lower() == leads_to
    assert fits or bidding == "limit", "the table with limits too is wider, and is scrolled"
    columns = dict(zip(heads.split("\t"), row.split("\t"), strict=True))
    assert all("$" in columns[name] for name in told)
    assert note.startswith(says)
    assert ("No limits" in note) == bool(says)


def test_what_ann_thought_is_read_in_the_table_and_stays_on_the_screen(ask):
    """Choose item 4; her last strategy is told in words; click it: its reasons open below, and the table stays."""
    button = thought_of("Ann", "strategize")
    told, whole = ask(4, button, answers=(button, "#thought"))
    assert told.split()[0] in ("chooses", "declines", "bids")
    assert whole.startswith(f"Ann {told.split()[0]}")


def test_what_did_she_believe_of_ben_then_and_was_it_true(ask):
    """Choose item 4; click her profile of Ben: shares beside those before and the persona: she was right."""
    answers = "#decision h4", "#decision tbody tr"
    heading, _, table = ask(4, thought_of("Ann", "profile of Ben"), answers=answers, more=texts("#decision table"))
    assert heading == "Profile of Ben, beside the persona"
    name, share, before, truth = table.splitlines()[1].split("\t")
    assert (name, share, truth, before[-1]) == ("rural-home-seekers", "15%", "100%", "%")


def test_which_calls_cost_most(ask):
    """Click Calls; click the head of tokens: the greatest is first; a click on it leads to its event and prompt."""

    def more(page: Page) -> list:
        [greatest] = sees(page, f"{LISTED} >> tbody tr >> nth=0")
        sorting = page.get_attribute("th[aria-sort]", "aria-sort")
        everyone = page.locator(LISTED).locator("tbody td:nth-child(5)").all_inner_texts()
        take(page, f"{LISTED} >> tbody tr >> nth=0")
        return [greatest, sorting, *sees(page, "#decided"), everyone]

    greatest, sorting, decided, everyone = ask("#show-calls", "#call-table th button:text('tokens in')", more=more)
    tokens = [int(one.replace(",", "")) for one in everyone]
    assert tokens == sorted(tokens, reverse=True)
    assert (sorting, decided.split(":")[0]) == ("descending", greatest.split("\t")[1])


def test_where_did_the_plan_change_and_why(ask):
    """Choose item 3; click Ann's last plan: what was taken out and put in, and each priority beside the one before."""
    answers, more = ("#changes del, #changes ins", "#changes h4"), texts("#decision thead")
    changed, since, heads = ask(3, thought_of("Ann", "replan"), answers=answers, more=more)
    assert changed.strip()
    assert since.startswith("What changed since event ")
    assert heads.split("\t")[:3] == ["item", "priority", "before"]


def test_who_shaded(ask, tmp_path):
    """Choose run 2; open the numbers of the picture of bids against values: each bid beside the bidder's value."""
    page = write_run(hold_preset("second-price", tmp_path / "run"), tmp_path / "page.html")
    answers = ".picture:has(details[open]) thead", ".picture:has(details[open]) tbody"
    heads, rows = ask(2, numbers("value"), answers=answers, of=page)
    assert heads.strip().split("\t") == ["value", "", "bid", "theory"]
    of_run = [one for one in results_of(read_log(tmp_path / "run" / EVENTS).entries) if one.item == "run 2"]
    values, bids = ({one.bidder: dollars(getattr(one, what)) for one in of_run} for what in ("value", "action"))
    told = [row.split("\t") for row in rows.splitlines()]
    assert told == [[values[name], name, bids[name], values[name]] for name in values]  # truth is dominant


def test_what_did_she_see_then(ask):
    """Choose item 4; choose Ann as the one who sees: board and list are hers."""
    assert "that Ann sees" in ask(4, ("#viewer", "Ann"), answers=("#place", "#table tr:has-text('Ann')"))[0]


def test_how_does_it_differ_from_the_same_draw_in_the_other_arm(arms, look):
    """From the experiment's page, click a game; choose the other arm: both stand at the first event that differs."""

    def answer(page: Page) -> tuple[str, str, str, str]:
        take(page, "#games td a >> nth=0")
        page.wait_for_selector("#other")
        page.select_option("#other", label="none")
        there = page.frame_locator("#arms iframe")
        there.locator("#number:has-text('Event')").wait_for()
        return page.title(), *sees(page, "#arms p"), page.inner_text("#number"), there.locator("#number").inner_text()

    title, told, here, there = look(arms, answer)
    assert title.startswith("plans: adaptive, all, repeat 1 ")
    assert f"is here {here.lower()}: " in told
    assert f"In none it is {there.lower()}: " in told


def test_the_page_of_a_game_of_an_experiment_has_no_serious_finding(arms, look):
    [game, *_] = sorted(arms.parent.glob("plans_files/**/*.html"))
    assert [look(game, findings, dark=one, phone=one) for one in (False, True)] == [[], []]


def test_what_is_seen_is_taken_away_and_paper_has_the_list_as_it_is_filtered(ask):
    """Choose a kind; click CSV: the file has the events of the list, and the link leads to this list; or print."""

    def more(page: Page) -> list:
        with page.expect_download() as events:
            page.click("#save-events")
        with page.expect_download() as board:
            page.click("#save-board")
        taken = [Path(one.value.path()).read_text() for one in (events, board)]
        page.wait_for_url(re.compile("kind=item_sold"))
        page.reload()
        return [*taken, *sees(page, "#found"), page.locator("#rows [role=option]").count(), printed(page).text]

    events, board, found, rows, paper = ask(("#kind", "item_sold"), more=more)
    assert events.splitlines()[0] == '"event","time","seen by","what happened"'
    assert len(events.splitlines()) == rows + 1
    assert found.startswith(f"{rows} of ")
    assert board.startswith('"bidder"')
    listed = paper[paper.index("Events of the kind item sold") :].splitlines()
    assert sum("\t" in line and line[0].isdigit() for line in listed) == rows


def test_what_did_ben_pay_and_when_did_her_money_no_longer_reach(ask):
    """Press End: the board says what everyone has spent and what is left; item by item, the same column says when."""

    def more(page: Page) -> list[str]:
        page.keyboard.press("End")
        return texts('#table tr:has-text("Ben")', '#table tr:has-text("Ann")')(page)

    ben, ann = ask(more=more)
    assert ("$342,000" in ben, ann.split("\t")[-1]) == (True, "$60,000")


def test_what_was_she_told_at_that_moment_and_what_did_the_model_reply_and_what_did_it_cost(ask):
    """Choose item 4; click her strategy; open the prompt: text by role, what is new is marked, Copy takes all of it.

    The reply is open, and tokens and price stand above it.
    """

    def more(page: Page) -> list:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        answered = texts("#decision pre >> nth=0", "#decision .facts >> nth=0")(page)
        take(page, "summary:text('Prompt')")
        told, roles = page.inner_text(PROMPT), page.locator(f"{PROMPT} h5").all_inner_texts()
        page.click(f"{PROMPT} button:text('Copy')")
        expect(page.locator("#told")).to_have_text("Prompt copied.")
        new, copied = page.locator(f"{PROMPT} ins").count(), page.evaluate("navigator.clipboard.readText()")
        return [*answered, told, roles, new, copied]

    reply, facts, told, roles, new, copied = ask(4, thought_of("Ann", "strategize"), more=more)
    assert '"strategy"' in reply
    assert ("tokens" in facts, "$0" in facts) == (True, True)
    assert "36 Osprey Drive" in told
    assert (roles, new >= 1) == (["system", "user"], True)
    assert copied.startswith("You are a bidder")
    assert copied.rstrip().splitlines()[-1].startswith("Answer with a call of the tool ")


def test_whom_did_she_predict_as_rival_and_what_had_she_learned_earlier(ask, series):
    """Press the number of her prediction: what she expected beside what came; of what she recalled: memories."""
    [told] = ask(4, thought_of("Ann", "predict"), more=texts("#decision .beside"))
    assert {"Ben", "Cho"} <= {*re.findall(r"\w+", told)}
    recalled = ask("text=Auction 2", 2, thought_of("Ann", "recall"), more=texts("#decision .beside"), of=series)
    assert "Over 4 items, to win took" in recalled[0]
