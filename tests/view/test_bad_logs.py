"""Pages of logs that are cut short, strange or hostile: each opens, draws an event, and complains of nothing."""

from __future__ import annotations

import shutil

import pytest

from harbor import Auction, Bidder, Item
from harbor._core.basics.errors import LogError
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import digest_of
from harbor._view.pages import write_run
from support.browser import browser, needs_browser
from support.shown_runs import think_much

pytestmark = needs_browser
EVIL = '</script><img src=x onerror="document.title=1"><b>{}</b>&'
LONG = "A" * 200


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return think_much(tmp_path_factory.mktemp("bad") / "run")


@pytest.fixture(scope="module")
def look():
    with browser() as opened:
        yield opened


def walked(page):
    """Walk to the end and back; give the number of the event, its words, and whether markup became elements."""
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    shown = [page.locator(f"#{name}").text_content() for name in ("number", "words")]
    return [*shown, page.locator("img").count(), page.title() != "1"]


def cut_in_a_line(folder):
    log = folder / "events.jsonl"
    log.write_bytes(log.read_bytes()[:-200])


def cut_before_anybody_is_told(folder):
    log = folder / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]))


def without_calls(folder):
    (folder / "calls.jsonl").unlink()


def rewrite(folder, change):
    """Write the lines of a log anew, with digests that follow."""
    log, digest, written = folder / "events.jsonl", "", b""
    for line in log.read_text().splitlines():
        body = change(line).partition(',"digest":')[0].encode()
        digest = digest_of(body + b',"digest":""}\n', digest)
        written += body + b',"digest":"' + digest.encode() + b'"}\n'
    log.write_bytes(written)


def of_an_unknown_game(folder):
    """Name another game, whose package is not installed."""
    rewrite(folder, lambda line: line.replace('"name":"english"', '"name":"unheard of"'))
    with pytest.raises(LogError, match="unheard of"):
        read_log(folder / "events.jsonl")


def with_long_names(folder):
    """Name a bidder by more letters than settings allow: a log may come from elsewhere."""
    rewrite(folder, lambda line: line.replace("Ann", LONG))
    assert any(LONG in str(entry.event) for entry in read_log(folder / "events.jsonl").entries)


@pytest.mark.parametrize(
    "spoil", [cut_in_a_line, cut_before_anybody_is_told, without_calls, of_an_unknown_game, with_long_names]
)
def test_a_log_that_lacks_something_opens(spoil, run, look, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    spoil(folder)
    number, words, images, titled = look(write_run(folder, tmp_path / "page.html"), walked)
    assert number.startswith("Event ")
    assert words
    assert (images, titled) == (0, True)


def test_names_that_are_markup_are_text(look, tmp_path):
    bidders = [Bidder(EVIL.format(one), rule="random", budget=5_000) for one in "AB"]
    items = [Item(name=EVIL.format(one), start=1_000, true_value=2_000) for one in "CD"]
    Auction(items=items, bidders=bidders, seed=1).run(out=tmp_path / "run")
    number, _, images, titled = look(write_run(tmp_path / "run", tmp_path / "page.html"), walked)
    assert number.startswith("Event ")
    assert (images, titled) == (0, True)
