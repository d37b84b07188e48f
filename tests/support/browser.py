"""Opens pages in Debian's Chromium as a person sees them: on a desktop or a phone, in light or dark, or on paper.

Playwright's calls run in their own thread, because its event loop would conflict with that of a test.

    with browser() as look:
        title = look(path, lambda page: page.title())
        found = look(path, findings, phone=True, dark=True)
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; on Debian: apt-get install chromium")
DESKTOP, PHONE = (1280, 800), (390, 800)
GRAVE = ("serious", "critical")
T = TypeVar("T")


class Look:
    """A browser that opens pages. A page may only request addresses that begin with one of `at_home`."""

    def __init__(self, thread: ThreadPoolExecutor, opened: Browser) -> None:
        self._thread, self._browser = thread, opened
        self.at_home: tuple[str, ...] = ("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost")

    def __call__(
        self,
        where: str | Path,
        see: Callable[[Page], T],
        phone: bool = False,
        dark: bool = False,
        fragment: str = "",
        scripts: bool = True,
    ) -> T:
        """Open a page in a new window and return the result of `see`.

        Args:
            where: a file, or an address.
            see: called once the page has loaded.
            phone: True for a narrow window.
            dark: True if the user prefers dark colours.
            fragment: the part of the address after `#`.
            scripts: True if the browser runs scripts.

        Raises:
            AssertionError: the page wrote an error to its console, or requested another address.
        """
        address = where if isinstance(where, str) else where.resolve().as_uri()
        how = (phone, dark, scripts)
        return self._thread.submit(self._see, address + f"#{fragment}" * bool(fragment), see, *how).result()

    def _see(self, address: str, see: Callable[[Page], T], phone: bool, dark: bool, scripts: bool) -> T:
        width, height = PHONE if phone else DESKTOP
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            has_touch=phone,
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
        )
        try:
            page = context.new_page()
            complaints: list[str] = []
            page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda asked: complaints.extend(_outside([asked.url], self.at_home)))
            page.goto(address, wait_until="load")
            seen = see(page)
            assert complaints == [], f"{address}: {complaints[:5]}"
            return seen
        finally:
            context.close()


def _outside(urls: list[str], at_home: tuple[str, ...]) -> list[str]:
    return [f"asks for {url[:200]}" for url in urls if not url.startswith(at_home)]


@contextmanager
def browser() -> Iterator[Look]:
    """Start Chromium, and end it."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="browser") as thread:
        driver = thread.submit(lambda: sync_playwright().start()).result()
        try:
            opened = thread.submit(
                lambda: driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            ).result()
            try:
                yield Look(thread, opened)
            finally:
                thread.submit(opened.close).result()
        finally:
            thread.submit(driver.stop).result()


def findings(page: Page) -> list[str]:
    """Return the serious and critical findings of axe: its rule and the first element, one line per rule."""
    # axe would fetch style sheets, which browsers refuse for files, and list every element that passed
    options = {"preload": False, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]} ({one['nodes'][0].get('failureSummary', '')})"
        for one in found
        if one["impact"] in GRAVE
    ]


def overflow(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wider


class Paper(NamedTuple):
    """A printed page: the PDF, its number of sheets, and its text."""

    pdf: bytes
    sheets: int
    text: str


def printed(page: Page) -> Paper:
    """Print a page to PDF."""
    page.emulate_media(media="print")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    text: str = page.evaluate("document.body.innerText")  # leaves out elements that are hidden on paper
    pdf: bytes = page.pdf(prefer_css_page_size=True)
    page.emulate_media(media="null")
    return Paper(pdf, len(re.findall(rb"/Type\s*/Page\b", pdf)), text)
