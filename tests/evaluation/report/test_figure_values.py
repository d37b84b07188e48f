"""Figures from a stranger's package or module: a few lines of matplotlib become panels of a real report."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.extensions import lacks
from harbor.evaluation import Figure
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._report.plots.built_in import FIGURES
from harbor.evaluation._running.runner import run_experiment
from support.commands import harbor
from support.plugins import install, installed

MINE = """
from harbor import of_type
from harbor.evaluation import by_bidder, figure, metric
from harbor.events import BidderSeated

@metric("names, in letters", "letters")
def letters(name, entries):
    return by_bidder(name, {seat.bidder: len(seat.bidder) for seat in of_type(entries, BidderSeated)})

@figure("Letters of <names>", "Mean over games.", "letters")
def name_lengths(axes, values):
    means = values.groupby("bidder")["value"].mean()
    axes.bar(range(len(means)), means)
    return ", ".join(f"{bidder} has {mean:.0f}" for bidder, mean in means.items())
"""
DESIGN = {
    "name": "named", "title": "Names", "question": "Who has the longest?", "source": "nobody", "repeats": 2,
    "auction": {
        "items": [{"name": "Vase", "start": 100, "true_value": 300}],
        "bidders": [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Benedict")],
    },
    "arms": [{"name": "one"}, {"name": "two", "auction": {"bidders": {"Ann": {"max_bids": 2}}}}],
    "metrics": ["mine:letters"],
}  # fmt: skip


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """The user's working directory, with a module of its own."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(design: Experiment, out: Path, says: str = "") -> str:
    """Run an experiment and write its report."""
    asyncio.run(run_experiment(design, out))
    done = harbor("report", out)
    assert (done.returncode, done.stderr) == (0, says)
    return (out / "report.html").read_text(encoding="utf-8")


def test_each_of_harbors_own_figures_is_whole():
    assert [lacks(one) for one in FIGURES] == [""] * len(FIGURES)
    assert len({one.name for one in FIGURES}) == len(FIGURES)


@pytest.mark.parametrize("part", ["name", "description", "caption", "needs", "draw"])
def test_a_figure_without_a_part_says_which(part):
    parts = {"name": "mine", "description": "it", "caption": "all", "needs": "profit", "draw": lambda *_: None}
    assert lacks(Figure(**parts | {part: None})).startswith(f"lacks {part}: ")


def test_a_figure_that_the_design_names_is_drawn_in_each_arm_with_its_words(place):
    with installed():
        page = report(Experiment(**DESIGN, figures=["mine:name_lengths"]), place / "out")
    assert page.count('aria-label="Letters of &lt;names&gt;') == 2
    assert "Ann has 3, Benedict has 8" in page
    assert "Mean over games." in page


def test_a_figure_of_an_installed_package_is_drawn_where_its_metric_was_measured(tmp_path):
    figures, metrics = {"name-lengths": "named:name_lengths"}, {"letters": "named:letters"}
    points = {"harbor.figures": figures, "harbor.metrics": metrics}
    with installed(install(tmp_path / "site", "named", {"named.py": MINE}, points)):
        pages = {one: report(Experiment(**DESIGN | {"metrics": [one]}), tmp_path / one) for one in ("letters", "bids")}
    assert "Letters of &lt;names&gt;" in pages["letters"]
    assert "Letters of &lt;names&gt;" not in pages["bids"]


@pytest.mark.parametrize(("metric", "figure", "said"), [
    ("bids", "mine:name_lengths", "figure 'name-lengths' needs the metric 'letters'; add it to"),
    ("mine:letters", "rank", "unknown figure 'rank'; did you mean 'ranks'"),
])  # fmt: skip
@pytest.mark.usefixtures("place")
def test_a_figure_that_is_unknown_or_without_its_metric_is_refused_with_the_remedy(metric, figure, said):
    with installed(), pytest.raises(ConfigError, match=said):
        Experiment(**DESIGN | {"metrics": [metric]}, figures=[figure])


def bad(body: str) -> str:
    return f"@figure('Bad', 'None.', 'letters')\ndef bad(axes, values):\n    {body}\n"


@pytest.mark.parametrize(("code", "why"), [
    (bad('raise ValueError("<b>no")'), "ValueError: <b>no"),
    (bad("axes.nowhere()"), "AttributeError: 'Axes' object has no attribute 'nowhere'"),
    (
        "from harbor.evaluation import Figure\n"
        "bad = Figure(name='it', description='It', caption='-', needs='letters', draw=lambda *_: 7)\n",
        "its function gives 7, and no drawing; mend it",
    ),
], ids=["error", "no such name", "no drawing"])  # fmt: skip
def test_a_bad_figure_costs_that_figure_alone_and_the_report_says_why(code, why, place):
    (place / "mine.py").write_text(f"{MINE}\n{code}")
    said = f"harbor: warning: figure 'mine:bad' can't be drawn: {why}\n"
    with installed():
        page = report(Experiment(**DESIGN, figures=["mine:bad", "mine:name_lengths"]), place / "out", said)
    assert "Ann has 3, Benedict has 8" in page
