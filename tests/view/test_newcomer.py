"""Ten questions of somebody who sees a run for the first time, answered from its page alone, as docs/view.md says.

Each takes three steps (clicks or choices) at most, from the page as it opens, and its answer is on the screen then.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from harbor import Auction, Bidder, houses
from harbor._config.auction import AuctionConfig
from harbor._core.basics.numbers import dollars
from harbor._core.files.layout import EVENTS
from harbor._core.log.log import read_log
from harbor._games.sessions.measures import results_of
from harbor._runs.inputs import RunInputs
from harbor._runs.run import start
from harbor._runs.series import prepare
from harbor._view.experiment_page import write_experiment
from harbor._view.pages import write_run
from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._running.runner import run_experiment
from support.browser import browser, findings, needs_browser, printed
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
    name="plans",
    title="Plans",
    question="Does a plan pay?",
    source="Nobody 2024",
    repeats=1,
    auction={
        "items": [{"name": name, "start": 1000, "true_value": 2000} for name in ("Lot A", "Lot B")],
        "bidders": [{"name": name, "budget": 4000, "model": "@1"} for name in ("Ann", "Ben")],
    },
    arms=(Variation(name="adaptive"), Variation(name="none", auction={"bidders": {"Ann": {"budget": 1200}}})),
    metrics=("profit",),
)


@pytest.fixture(scope="module")
def look():
    with browser() as opened:
        yield opened


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
    config = AuctionConfig(
        items=houses(4, seed=3), bidders=bidders, rules={"increment_share": 0.2}, seed=1, series={"auctions": 2}
    )
    asyncio.run(start(prepare(config, RunInputs()), folder / "series", None))
    return write_run(folder / "series", folder / "series.html")


@pytest.fixture(scope="module")
def ask(series, look):
    """Open the page of the first auction, take steps, and give what it says then."""
    return lambda answer: look(series.parent / "series_files" / "1.html", answer)


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    """The page of an experiment of two arms and one draw."""
    folder = tmp_path_factory.mktemp("arms") / "plans"
    asyncio.run(run_experiment(PLANS, folder))
    return write_experiment(folder, folder.parent / "plans.html")


class Steps:
    """A newcomer at a page, whose clicks and choices are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.taken = page, 0

    def click(self, selector: str) -> None:
        self.page.click(selector)
        self.taken += 1

    def choose(self, selector: str, **option: Any) -> None:
        self.page.select_option(selector, **option)
        self.taken += 1

    def sees(self, selector: str) -> str:
        """Give the text of an answer that is on the screen, after three steps at most."""
        assert self.taken <= 3
        assert self.page.locator(selector).first.evaluate(IN_SIGHT), f"{selector} is not on the screen"
        return self.page.locator(selector).first.inner_text()


def part(page: Page, number: int) -> None:
    """Choose an item: one step."""
    page.select_option("#part", index=number)


def latest(page: Page, bidder: str, thought: str) -> None:
    """Go to what a bidder last thought: one step."""
    page.click(thought_of(bidder, thought))


def thought_of(bidder: str, thought: str) -> str:
    return f'#matrix button[aria-label^="{bidder}: {thought}"]'


def numbers(title: str) -> str:
    """Give what opens the numbers of a picture."""
    return f".picture:has(h3:has-text('{title}')) summary"


def numbers_of_item_1(page: Page) -> tuple[str, ...]:
    """Choose item 2, go back to the end of item 1, open the numbers of its bids; give heads, Ann's row and the note."""
    steps = Steps(page)
    steps.choose("#part", index=2)
    steps.click("#event-before")
    steps.click(numbers("bids"))
    answers = ".picture table thead", '.picture tr:has-text("Ann")', ".picture .scroll .note"
    return tuple(steps.sees(one) for one in answers)


def test_why_did_ann_lose_an_item(look, tmp_path):
    """Three steps: limit, price and worth stand in her row."""
    bidders = [Bidder("Ann", bidding="limit", budget=300_000), Bidder("Ben", bidding="limit", budget=900_000)]
    Auction(items=houses(2, seed=3), bidders=bidders, seed=1).run(out=tmp_path / "run")

    heads, row, note = look(write_run(tmp_path / "run", tmp_path / "page.html"), numbers_of_item_1)
    assert [name for name in heads.split("\t") if name in ("limit", "price", "worth")] == ["limit", "price", "worth"]
    assert row.count("$") >= 3
    assert "No limits" not in note


def test_why_did_ann_lose_an_item_where_bids_are_made_call_by_call(look, tmp_path):
    """The same three steps: her last bid, her exit, price and worth, and a line that says that nobody set a limit."""
    bidders = [Bidder("Ann", bidding="call", budget=300_000), Bidder("Ben", bidding="call", budget=900_000)]
    Auction(items=houses(2, seed=3), bidders=bidders, seed=1).run(out=tmp_path / "run")

    heads, row, note = look(write_run(tmp_path / "run", tmp_path / "page.html"), numbers_of_item_1)
    columns = dict(zip(heads.split("\t"), row.split("\t"), strict=True))
    assert all("$" in columns[name] for name in ("bid", "out", "price", "worth"))
    assert note.startswith("No limits were set: bidders bid call by call; their last bid and exit stand here.")


def test_what_ann_thought_is_read_in_the_table_and_stays_on_the_screen(ask):
    """Choose item 4; her last strategy is told in words; click it: its reasons open below, and the table stays."""

    def answer(page: Page) -> tuple[str, str]:
        steps = Steps(page)
        steps.choose("#part", index=4)
        told = page.inner_text(thought_of("Ann", "strategize"))
        steps.click(thought_of("Ann", "strategize"))
        steps.sees(thought_of("Ann", "strategize"))
        return told, steps.sees("#thought")

    told, whole = ask(answer)
    assert told.split()[0] in ("chooses", "declines", "bids")
    assert whole.startswith(f"Ann {told.split()[0]}")


def test_what_did_she_believe_of_ben_then_and_was_it_true(ask):
    """Choose item 4; click her profile of Ben: shares beside those before and the persona: she was right."""

    def answer(page: Page) -> tuple[str, str]:
        steps = Steps(page)
        steps.choose("#part", index=4)
        steps.click(thought_of("Ann", "profile of Ben"))
        return steps.sees("#decision h4"), steps.sees("#decision tbody tr") and page.inner_text("#decision table")

    heading, table = ask(answer)
    assert heading == "Profile of Ben, beside the persona"
    name, share, before, truth = table.splitlines()[1].split("\t")
    assert (name, share, truth) == ("rural-home-seekers", "15%", "100%")
    assert before.endswith("%")


def test_which_calls_cost_most(ask, series):
    """Click Calls; click the head of tokens: the greatest is first; a click on it leads to its event and prompt."""

    def answer(page: Page) -> tuple[str, str, str, list[str]]:
        steps = Steps(page)
        steps.click("#show-calls")
        steps.click("#call-table th button:text('tokens in')")
        greatest, sorting = (
            steps.sees(f"{LISTED} >> tbody tr >> nth=0"),
            page.get_attribute("th[aria-sort]", "aria-sort"),
        )
        everyone = page.locator(LISTED).locator("tbody td:nth-child(5)").all_inner_texts()
        steps.click(f"{LISTED} >> tbody tr >> nth=0")
        return greatest, sorting, steps.sees("#decided"), everyone

    greatest, sorting, decided, everyone = ask(answer)
    tokens = [int(one.replace(",", "")) for one in everyone]
    assert tokens == sorted(tokens, reverse=True)
    assert (sorting, decided.split(":")[0]) == ("descending", greatest.split("\t")[1])


def test_where_did_the_plan_change_and_why(ask):
    """Choose item 3; click Ann's last plan: what was taken out and put in, and each priority beside the one before."""

    def answer(page: Page) -> tuple[str, str, str]:
        steps = Steps(page)
        steps.choose("#part", index=3)
        steps.click(thought_of("Ann", "replan"))
        return steps.sees("#changes del, #changes ins"), steps.sees("#changes h4"), page.inner_text("#decision thead")

    changed, since, heads = ask(answer)
    assert changed.strip()
    assert since.startswith("What changed since event ")
    assert heads.split("\t")[:3] == ["item", "priority", "before"]


def test_who_shaded(look, tmp_path):
    """Choose run 2; open the numbers of the picture of bids against values: each bid beside the bidder's value."""
    hold_preset("second-price", tmp_path / "run")

    def answer(page: Page) -> tuple[str, str]:
        steps = Steps(page)
        steps.choose("#part", index=2)
        steps.click(numbers("value"))
        return steps.sees(".picture:has(details[open]) thead"), steps.sees(".picture:has(details[open]) tbody")

    heads, rows = look(write_run(tmp_path / "run", tmp_path / "page.html"), answer)
    assert heads.strip().split("\t") == ["value", "", "bid", "theory"]
    entries = read_log(tmp_path / "run" / EVENTS).entries
    of_run = [one for one in results_of(entries) if one.item == "run 2"]
    values, bids = ({one.bidder: dollars(getattr(one, what)) for one in of_run} for what in ("value", "action"))
    told = [row.split("\t") for row in rows.splitlines()]
    assert told == [[values[name], name, bids[name], values[name]] for name in values]  # truth is dominant


def test_what_did_she_see_then(ask):
    """Choose item 4; choose Ann as the one who sees: board and list are hers."""

    def answer(page: Page) -> tuple[str, str]:
        steps = Steps(page)
        steps.choose("#part", index=4)
        steps.choose("#viewer", value="Ann")
        return steps.sees("#place"), steps.sees("#table tr:has-text('Ann')")

    place, _ = ask(answer)
    assert "that Ann sees" in place


def test_how_does_it_differ_from_the_same_draw_in_the_other_arm(arms, look):
    """From the experiment's page, click a game; choose the other arm: both stand at the first event that differs."""

    def answer(page: Page) -> tuple[str, str, str, str]:
        steps = Steps(page)
        steps.click("#games td a >> nth=0")
        page.wait_for_selector("#other")
        steps.choose("#other", label="none")
        there = page.frame_locator("#arms iframe")
        there.locator("#number:has-text('Event')").wait_for()
        return page.title(), steps.sees("#arms p"), page.inner_text("#number"), there.locator("#number").inner_text()

    title, told, here, there = look(arms, answer)
    assert title.startswith("plans: adaptive, all, repeat 1 ")
    assert f"is here {here.lower()}: " in told
    assert f"In none it is {there.lower()}: " in told


def test_the_page_of_a_game_of_an_experiment_has_no_serious_finding(arms, look):
    [game, *_] = sorted(arms.parent.glob("plans_files/**/*.html"))
    ways = [{"dark": dark, "phone": phone} for dark in (False, True) for phone in (False, True)]
    assert [look(game, findings, **how) for how in ways] == [[]] * 4


def test_what_is_seen_is_taken_away(ask):
    """Choose a kind; click CSV: the file has the events of the list, and the link leads to this list."""

    def answer(page: Page) -> tuple[str, str, str, int]:
        steps = Steps(page)
        steps.choose("#kind", value="item_sold")
        with page.expect_download() as events:
            steps.click("#save-events")
        with page.expect_download() as board:
            steps.click("#save-board")
        texts = [Path(one.value.path()).read_text() for one in (events, board)]
        page.wait_for_url(re.compile("kind=item_sold"))
        page.reload()
        return *texts, steps.sees("#found"), page.locator("#rows [role=option]").count()

    events, board, found, rows = ask(answer)
    assert events.splitlines()[0] == '"event","time","seen by","what happened"'
    assert len(events.splitlines()) == rows + 1
    assert found.startswith(f"{rows} of ")
    assert board.startswith('"bidder"')


def test_paper_has_the_list_as_it_is_filtered(ask):
    """Choose a kind; print: the events of this kind, and no more."""

    def answer(page: Page) -> tuple[str, int]:
        page.select_option("#kind", value="item_sold")
        return printed(page).text, page.locator("#rows [role=option]").count()

    text, rows = ask(answer)
    paper = text[text.index("Events of the kind item sold") :]
    assert sum("\t" in line and line[0].isdigit() for line in paper.splitlines()) == rows


def test_what_did_ben_pay(ask):
    """Press End: the board says what everyone has spent."""

    def answer(page: Page) -> str:
        page.keyboard.press("End")
        return page.inner_text('#table tr:has-text("Ben")')

    assert "$342,000" in ask(answer)


def test_when_did_her_money_no_longer_reach(ask):
    """Press End: the board has what is left; item by item, the same column says when."""

    def answer(page: Page) -> str:
        page.keyboard.press("End")
        return page.inner_text('#table tr:has-text("Ann")')

    assert ask(answer).split("\t")[-1] == "$60,000"


def test_what_was_she_told_at_that_moment(ask):
    """Choose item 4; click her strategy; open the prompt: text by role, what is new is marked, Copy takes all of it."""

    def answer(page: Page) -> tuple[str, list[str], int, str]:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        steps = Steps(page)
        steps.choose("#part", index=4)
        steps.click(thought_of("Ann", "strategize"))
        steps.click("summary:text('Prompt')")
        told, roles = page.inner_text(PROMPT), page.locator(f"{PROMPT} h5").all_inner_texts()
        page.click(f"{PROMPT} button:text('Copy')")
        expect(page.locator("#told")).to_have_text("Prompt copied.")
        return told, roles, page.locator(f"{PROMPT} ins").count(), page.evaluate("navigator.clipboard.readText()")

    told, roles, new, copied = ask(answer)
    assert "36 Osprey Drive" in told
    assert roles == ["system", "user"]
    assert new >= 1
    assert copied.startswith("You are a bidder")
    assert copied.rstrip().splitlines()[-1].startswith("Answer with a call of the tool ")
    assert "You are asked for the bid itself next." in copied


def test_what_did_the_model_reply_and_what_did_the_call_cost(ask):
    """Choose item 4; press the number of her strategy: the reply is open, tokens and price stand above it."""

    def answer(page: Page) -> tuple[str, str]:
        part(page, 4)
        latest(page, "Ann", "strategize")
        return page.inner_text("#decision pre >> nth=0"), page.inner_text("#decision .facts >> nth=0")

    reply, facts = ask(answer)
    assert '"strategy"' in reply
    assert "tokens" in facts
    assert "$0" in facts


def test_whom_did_she_predict_as_rival(ask):
    """Choose item 4; press the number of her prediction: what she expected beside what came."""

    def answer(page: Page) -> str:
        part(page, 4)
        latest(page, "Ann", "predict")
        return page.inner_text("#decision .beside")

    told = ask(answer)
    assert "Ben" in told
    assert "Cho" in told


def test_what_had_she_learned_earlier(series, look):
    """From the series: open auction 2; press the number of what she recalled; memories are listed."""

    def answer(page: Page) -> str:
        page.click("text=Auction 2")
        part(page, 2)
        latest(page, "Ann", "recall")
        return page.inner_text("#decision .beside")

    assert "Over 4 items, to win took" in look(series, answer)
