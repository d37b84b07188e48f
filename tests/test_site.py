"""The site of the docs: it is built without a warning, needs no network, and can be read by everybody."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.browser import browser, findings, needs_browser, overflow
from support.folders import ROOT

PAGES = (
    "docs/index", "docs/tutorials/from-a-question-to-a-figure", "docs/reference/extensions", "docs/troubleshooting",
    "search",
)  # fmt: skip
FROM_ELSEWHERE = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"")
IN_STYLES = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    built = tmp_path_factory.mktemp("site")
    options = ["-b", "html", "-c", "docs", "-W", "--keep-going", "-n", "-q", "-d", built / "trees", ".", built / "html"]
    command = [sys.executable, "-m", "sphinx", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return built / "html"


def test_no_page_of_the_site_takes_anything_from_elsewhere(site):
    pages, styles = list(site.rglob("*.html")), list(site.rglob("*.css"))
    assert len(pages) > len(PAGES)
    assert [(page, found) for page in pages for found in FROM_ELSEWHERE.findall(page.read_text("utf-8"))] == []
    assert [style for style in styles if IN_STYLES.search(style.read_text("utf-8"))] == []


def seen(page) -> tuple[list[str], int]:
    return findings(page), overflow(page)


@pytest.mark.studies
@needs_browser
def test_everybody_can_read_the_site_on_a_desktop_and_a_phone_in_light_and_dark(site):
    with browser() as look:
        for page in PAGES:
            for phone, dark in ((False, False), (True, True)):
                found = look(site / f"{page}.html", seen, phone, dark)
                assert found == ([], 0), (page, phone, dark)


@needs_browser
def test_the_site_is_searched_without_a_server(site):
    def search(page):
        page.goto(f"{page.url}?q=placebo")
        page.wait_for_selector("#search-results li a")
        return page.locator("#search-results li").count()

    with browser() as look:
        assert look(site / "search.html", search) >= 3
