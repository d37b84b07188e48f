"""Figures over items, runs and bins: a panel for whom they are of, a line for what is compared, intervals by draws."""

from __future__ import annotations

from itertools import product

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure as Sheet
from matplotlib.text import Text

from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._metrics.profiling import binned
from harbor.evaluation._report.paper.figure_files import FILE_STYLE, WIDTHS, _figure
from harbor.evaluation._report.paper.paging import TALLEST, pages
from harbor.evaluation._report.plots.distributions import bins
from harbor.evaluation._report.plots.figures import figures
from harbor.evaluation._report.tabular.loading import Loaded

NEW = ("prices", "interest-reliability", "profile-reliability", "profit-by-item", "series-profits", "earnings-by-run")


def loaded(metric, value, arms=("one", "two"), repeats=4):
    """Games of these arms; `value` measures one, by its repeat."""
    experiment = Experiment(
        name="small", title="T", question="Who?", source="S", repeats=repeats, metrics=(metric,),
        auction={"bidders": [{"name": name, "model": "@1"} for name in ("Ann", "Ben")]},
        arms=tuple(Variation(name=name) for name in arms),
    )  # fmt: skip
    cells = [(arm, n) for arm in arms for n in range(1, repeats + 1)]
    games = [TrialRecord(arm, "all", n, n, "finished", measurements=tuple(value(metric, n))) for arm, n in cells]
    return Loaded(Results(experiment, tuple(games)))


def by_place(metric, repeat):
    places = product(("Ann", "Ben"), ("price", "highest bid") if metric == "prices" else ("",), (1, 2, 3))
    return [Measurement(metric, float(repeat * at), bidder, about, at) for bidder, about, at in places]


def calibrated(metric, repeat):
    del repeat
    return binned(metric, [("Ann", tenth / 10, float(nth < tenth)) for tenth in range(11) for nth in range(10)])


def drawn(drawing, panel=0):
    axes = Sheet(layout="constrained").subplots()
    drawing.panels[panel].drawn(axes)
    return axes


def shown(name, **games):
    """Draw a figure of games of these arms."""
    places = {"series-profits": "series_profit", "earnings-by-run": "earned_by_run"}
    metric = places.get(name, name.replace("-", "_"))
    return figures(loaded(metric, calibrated if "reliability" in name else by_place, **games))[name]


@pytest.mark.parametrize("name", ["series-profits", "earnings-by-run"])
def test_a_learning_curve_has_a_panel_per_bidder_and_a_line_per_arm(name):
    drawing = shown(name)
    assert [panel.heading for panel in drawing.panels] == ["Ann", "Ben"]
    lines = [line for line in drawn(drawing).lines if len(line.get_xdata()) == 3]
    assert [list(line.get_ydata()) for line in lines] == [[2.5, 5.0, 7.5]] * 2


def test_of_one_arm_a_learning_curve_has_a_line_per_bidder():
    drawing = shown("series-profits", arms=("one",))
    assert [panel.heading for panel in drawing.panels] == [""]
    assert [key.label for key in drawing.legend] == ["Ann", "Ben"]


def test_prices_and_highest_bids_have_a_panel_each_with_a_line_per_arm():
    drawing = shown("prices")
    assert {panel.heading for panel in drawing.panels} == {"price", "highest bid"}
    assert [key.label for key in drawing.legend] == ["one", "two"]


def test_profit_by_item_has_intervals():
    axes = drawn(shown("profit-by-item"))
    [first, *_] = [band.get_paths()[0].vertices for band in axes.collections]
    assert first[:, 1].min() < 2.5 < first[:, 1].max()


@pytest.mark.parametrize("name", ["interest-reliability", "profile-reliability"])
def test_a_calibrated_source_lies_on_the_diagonal(name):
    axes = drawn(shown(name))
    diagonal, *curves = axes.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert len(curves) == 2
    for curve in curves:
        np.testing.assert_allclose(curve.get_xdata(), np.arange(11) / 10)
        np.testing.assert_allclose(curve.get_xdata(), curve.get_ydata())


def test_bins_are_pooled_over_games_by_what_was_counted_and_intervals_go_by_draws():
    def one(metric, repeat):
        pairs = [("Ann", 0.5, 1.0)] * (3 if repeat == 1 else 1) + [("Ann", 0.5, 0.0)] * (repeat == 2)
        return binned(metric, pairs)

    rows = loaded("interest_reliability", one, arms=("one",), repeats=2).measurements
    [found] = bins(rows).to_dict("records")
    assert (found["predicted"], found["observed"], found["n"]) == (0.5, 0.8, 5)
    assert 0 <= found["low"] < 0.8 < found["high"] <= 1
    assert np.isnan(bins(rows[rows["repeat"] == 2])["low"]).all()  # one draw has no interval


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("width", WIDTHS.values())
def test_every_text_is_legible_inside_the_page_and_no_page_is_too_tall(name, width):
    drawing = shown(name)
    with mpl.rc_context(FILE_STYLE):
        for page in pages(drawing, width):
            sheet = _figure(page, width)
            sheet.draw_without_rendering()
            assert sheet.get_size_inches()[1] <= TALLEST
            texts = [one for one in sheet.findobj(Text) if one.get_visible() and one.get_text().strip()]
            assert min(one.get_fontsize() for one in texts) >= 7
            assert -0.01 <= sheet.get_tightbbox().x0 < sheet.get_tightbbox().x1 <= width + 0.01


@pytest.mark.parametrize("name", NEW)
def test_a_figure_of_one_game_is_drawn_without_an_interval(name):
    drawing = shown(name, arms=("one",), repeats=1)
    assert not drawing.failure
    assert drawn(drawing).lines
