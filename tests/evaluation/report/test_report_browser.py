"""The report in a real browser: no console errors, and every figure is seen, in light and dark, wide and narrow."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest
from PIL import Image

from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._report.built_in import FIGURES
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.page import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NEEDED = "no Chromium here; on Debian: apt-get install chromium"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=NEEDED)]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--enable-logging=stderr",
    "--v=0",
]
TALL = 16_000
KINDS = {"priority": ("1", "2"), "bid_increase_share": ("[0, 10)", "[10, 11)"), "strategy_share": ("A", "F")}
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
LOOK = """<script>addEventListener("load", () => {
  const seen = [...document.images].map(one => {
    const box = one.getBoundingClientRect();
    return [one.naturalWidth, box.left, box.top, box.width, box.height];
  });
  document.body.dataset.seen = JSON.stringify({images: seen, wide: document.documentElement.scrollWidth});
});</script>"""


@dataclass
class Seen:
    """What a browser showed of a page: its console, a screenshot, natural width and box of every image."""

    console: list[str]
    shot: Image.Image
    images: list[list[float]]
    wide: int


def chromium(page: Path, width: int, *words: str) -> subprocess.CompletedProcess[str]:
    profile = page.with_name(f"{page.stem}-profile")
    return subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{TALL}", *words, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def console(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def look(html: str, folder: Path, width: int, dark: bool = False) -> Seen:
    """Open the page for console and screenshot, without tables to make room, and a copy that measures itself."""
    page, copy, shot = folder / "page.html", folder / "copy.html", folder / "shot.png"
    html = html.replace("</style>", "table, details, .metric + .metric { display: none }</style>")
    page.write_text(html, encoding="utf-8")
    copy.write_text(POLICY.sub("", html) + LOOK, encoding="utf-8")
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    opened = chromium(page, width, f"--screenshot={shot}", *scheme)
    dumped = chromium(copy, width, "--dump-dom", *scheme)
    seen = json.loads(unescape(re.search(r'data-seen="([^"]*)"', dumped.stdout)[1]))
    return Seen(console(opened), Image.open(shot).convert("RGB"), seen["images"], seen["wide"])


@pytest.fixture(scope="module")
def html() -> str:
    """A report with every figure there is."""
    metrics = ("profit", *(figure.needs for figure in FIGURES))
    bidders = [{"name": name, "model": "@1"} for name in ("Ann", "Ben", "<b>Cho</b> $\\frac$ 拍卖")]
    arms = (Variation(name="one"), Variation(name="two", label="a long label " * 8, auction={"seed": 3}))
    experiment = Experiment(
        name="all-figures",
        title="All figures",
        question="Are they seen?",
        source="Nobody 2024",
        repeats=3,
        auction={"bidders": bidders},
        arms=arms,
        metrics=metrics,
        trueskill=True,
    )
    names = [bidder["name"] for bidder in bidders]
    games = [
        TrialRecord(
            arm.name,
            "all",
            repeat,
            7,
            "finished",
            players=tuple((name, "simulated") for name in names),
            measurements=tuple(one for metric in (*metrics, "rank") for one in measured(metric, names, repeat)),
        )
        for arm in arms
        for repeat in (1, 2, 3)
    ]
    failed = TrialRecord("one", "all", 4, 8, "failed", detail="<script>alert(1)</script>")
    return render(Loaded(Results(experiment, (*games, failed))))


def measured(metric: str, bidders: list[str], repeat: int) -> list[Measurement]:
    ats = (None,) if metric in ("profit", "rank") or metric.endswith("_share") else (1, 2, 3)
    return [
        Measurement(metric, _value(metric, seat, repeat, at or 0), bidder, about, at)
        for seat, bidder in enumerate(bidders)
        for at in ats
        for about in KINDS.get(metric, ("",))
    ]


def _value(metric: str, seat: int, repeat: int, at: int) -> float:
    if metric == "rank":
        return 1.0 + (seat + repeat) % 3
    return 0.5 if metric.endswith("_share") else math.sin(seat + repeat * 3 + at) + 2


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (500, True)], ids=["wide-light", "narrow-dark"])
def test_every_figure_is_seen_and_the_console_is_silent(html, tmp_path, width, dark):
    seen = look(html, tmp_path, width, dark)
    assert seen.console == []
    assert len(seen.images) == html.count("<img ") >= len(FIGURES)
    assert all(natural > 0 for natural, *_ in seen.images)
    shown = [box for _, *box in seen.images if box[2]]
    assert len(shown) > len(FIGURES)
    for left, top, wide, high in shown:
        assert top + high < TALL, "the screenshot is too short for all figures"
        colours = seen.shot.crop((left, top, min(left + wide, width), top + high)).getcolors(100_000)
        assert len(colours) > 10, "a figure is blank"
    assert seen.wide <= width, "the page is wider than the screen"
    light = sum(seen.shot.getpixel((2, 2))) / 3
    assert light < 60 if dark else light > 200


def test_a_page_that_would_run_something_is_stopped_by_its_own_policy_and_heard(html, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(html.replace("</body>", "<script>document.title = 'run'</script></body>"), encoding="utf-8")
    opened = chromium(page, 800, "--dump-dom")
    assert "<title>All figures" in opened.stdout
    assert any("Content Security Policy" in line for line in console(opened))
