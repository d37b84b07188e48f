"""Ten questions of somebody who sees a run for the first time, answered from its page alone, as docs/view.md says.

Each takes the steps (clicks, keys or choices) that it counts, from the page as it opens:
why Ann lost item 3: 2 · what she believed of Ben then: 2 · whether it was true: 2 · what Ben paid: 1 ·
when her money no longer reached: 1 · what she was told: 3 · what the model replied: 2 · what the call cost: 2 ·
whom she predicted as rival: 2 · what she had learned earlier: 3.
"""

from __future__ import annotations

import asyncio

import pytest
from playwright.sync_api import Page

from harbor import Bidder, houses
from harbor._config.auction import AuctionConfig
from harbor._runs.inputs import RunInputs
from harbor._runs.run import start
from harbor._runs.series import prepare
from harbor._view.pages import write_run
from support.browser import browser, needs_browser

pytestmark = [pytest.mark.slow, needs_browser]


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


def part(page: Page, number: int) -> None:
    """Choose an item: one step."""
    page.select_option("#part", index=number)


def latest(page: Page, bidder: str, thought: str) -> None:
    """Go to what a bidder last thought: one step."""
    page.click(f'#matrix button[aria-label^="{bidder}: {thought}"]')


def test_why_did_ann_lose_item_3(ask):
    """Choose item 4, where item 3 is over; press the number of her last strategy: her reasons are the event."""

    def answer(page: Page) -> str:
        part(page, 4)
        latest(page, "Ann", "strategize, 36 Osprey Drive")
        return page.inner_text("#words")

    assert "I decline" in ask(answer) or "Ann chooses" in ask(answer)


def test_what_did_she_believe_of_ben_then_and_was_it_true(ask):
    """Choose item 4; press the number of her profile of Ben: shares beside the persona: she was right."""

    def answer(page: Page) -> tuple[str, str]:
        part(page, 4)
        latest(page, "Ann", "profile of Ben")
        return page.inner_text("#decision h4 >> nth=0"), page.inner_text("#decision table >> nth=0")

    heading, table = ask(answer)
    assert heading == "Profile of Ben, beside the persona"
    assert table.splitlines()[1].split("\t") == ["rural-home-seekers", "15%", "100%"]


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
    """Choose item 4; press the number of her strategy; open the prompt."""

    def answer(page: Page) -> str:
        part(page, 4)
        latest(page, "Ann", "strategize")
        page.click("summary:text('Prompt')")
        return page.inner_text("#decision details:has(summary:text('Prompt'))")

    assert "36 Osprey Drive" in ask(answer)


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
