"""The time of a report over 1,000 games. `make bench` prints it. Nothing here fails for being slow."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

from playwright.sync_api import Page

from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trial_runs import run_trial
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._report.comparing.side_by_side import Compared
from harbor.evaluation._report.page.page import render
from harbor.evaluation._report.tabular.loading import Loaded
from support.browser import browser, needs_browser

GAMES = 1000
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
METRICS = ("profit", "profit_ratio", "priority", "remaining_budget", "bid_increase_share", "winning_bid", "engagement")


def test_report_over_1000_games(benchmark, figure):
    """Measure from records to the page. The games are copies of a few held games, with other numbers."""
    results = thousand()
    page = benchmark.pedantic(lambda: render(Loaded(results)), rounds=1, iterations=1)
    rows = sum(len(game.measurements) for game in results.records)
    measured_seconds = benchmark.stats.stats.max
    figure(
        f"report over {GAMES:,} games", "< 30 s", f"{measured_seconds:.1f} s, {rows:,} values, {len(page) / 1e6:.1f} MB"
    )


@needs_browser
def test_the_page_of_1000_games_opens(benchmark, figure, tmp_path):
    """Measure from the request to the drawing in Chromium. Every game has a row, and dots link to games."""
    loaded = Loaded(thousand())
    loaded.link_of = lambda arm, condition, repeat: f"page_files/{arm}/{condition}/{repeat:04}.html"
    page = tmp_path / "page.html"
    page.write_text(render(loaded))
    with browser() as look:
        milliseconds = benchmark.pedantic(lambda: look(page, opened), rounds=3, iterations=1)
    figure(f"page of {GAMES:,} games opens", "< 3 s", f"{milliseconds / 1e3:.2f} s, {page.stat().st_size / 1e6:.1f} MB")


def opened(page: Page) -> float:
    """Return the milliseconds from the request to the first frame after the load."""
    taken: float = page.evaluate(DRAWN)
    return taken


def test_two_experiments_of_1000_games_side_by_side(benchmark, figure):
    """Measure from records to all paired differences with their tests, and to their page."""
    one, other = thousand(), thousand(seed=1)
    compared = benchmark.pedantic(
        lambda: Compared({"one": Loaded(one), "other": Loaded(other)}), rounds=1, iterations=1
    )
    seconds, tests = benchmark.stats.stats.max, len(compared.contrasts)
    assert {one.how for one in compared.contrasts} == {"paired"}
    figure(f"two experiments of {GAMES:,} games compared", "< 10 s", f"{seconds:.1f} s, {tests} differences")


def thousand(seed: int = 0) -> Results:
    """The theory-of-mind experiment with the metrics of most figures, its games repeated with noise."""
    design = chosen(experiment("tom"), repeats=1)
    design = Experiment.model_validate({**design.model_dump(), "metrics": tuple({*design.metrics, *METRICS})})
    held = [asyncio.run(run_trial(game, measured(design))) for game in trials(design)]
    rng, repeats = Random(seed), GAMES // len(held)
    again = [noisy(record, repeat, rng) for repeat in range(1, repeats + 1) for record in held]
    return Results(design.model_copy(update={"repeats": repeats}), tuple(again))


def noisy(record: TrialRecord, repeat: int, rng: Random) -> TrialRecord:
    return replace(record, repeat=repeat, measurements=tuple(noise(one, rng) for one in record.measurements))


def noise(one: Measurement, rng: Random) -> Measurement:
    if one.value is None or one.metric in ("rank", "priority"):
        return one
    return replace(one, value=one.value * rng.uniform(0.8, 1.2))
