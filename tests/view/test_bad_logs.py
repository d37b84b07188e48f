"""Pages of logs that are cut short, strange or hostile: each opens, draws an event, and complains of nothing."""

from __future__ import annotations

import shutil

import pytest

from harbor import Auction, Bidder, Item
from harbor._view.pages import write_run
from support import forging
from support.browser import needs_browser
from support.folders import contents, cut

pytestmark = needs_browser
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
    "cut in a line": lambda log: log.write_bytes(log.read_bytes()[:-200]),
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
