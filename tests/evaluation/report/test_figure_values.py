"""Figures from a stranger's package or module: a few lines of matplotlib become panels of a real report."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from markupsafe import escape

from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.design import Experiment
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


@pytest.mark.parametrize(("code", "why"), [
    ('@figure("Bad", ".", "letters")\ndef bad(axes, values):\n    raise ValueError("<b>no")\n', "ValueError: <b>no"),
    (
        "from harbor.evaluation import Figure\n"
        "bad = Figure(name='it', description='It', caption='-', needs='letters', draw=lambda *_: 7)\n",
        "its function gives 7, and no drawing; mend it",
    ),
], ids=["error", "no drawing"])  # fmt: skip
def test_a_bad_figure_costs_that_figure_alone_and_says_why_and_another_is_drawn_in_each_arm_with_its_words(
    code, why, place
):
    (place / "mine.py").write_text(f"{MINE}\n{code}")
    said = f"figure 'mine:bad' can't be drawn: {why}"
    with installed():
        design = Experiment(**DESIGN, figures=["mine:bad", "mine:name_lengths"])
        page = report(design, place / "out", f"harbor: warning: {said}\n")
    assert page.count(escape(said)) == 1
    assert page.count('aria-label="Letters of &lt;names&gt;') == 2
    assert all(words in page for words in ("Ann has 3, Benedict has 8", "Mean over games."))
