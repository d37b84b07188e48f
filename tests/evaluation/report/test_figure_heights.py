"""No figure is taller than a page, whatever is compared and whoever draws it; other pages hold what one does not."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import matplotlib as mpl
import pytest
from PIL import Image

from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.design import Comparison, Side
from harbor.evaluation._metrics.strategy import ACTIONS
from harbor.evaluation._report.drawing.canvas import Drawing, paint
from harbor.evaluation._report.paper.figure_files import FILE_STYLE, WIDTHS, pictures, write_figure
from harbor.evaluation._report.paper.paging import legend_height, pages, row_height
from harbor.evaluation._report.plots.built_in import FIGURES
from harbor.evaluation._report.plots.figures import figures, means
from harbor.evaluation._report.tabular.loading import Loaded
from support.cases import some
from support.filled import crowd

PAGE = 9.0  # inches
CROWDS = [(1, 1, 50), (12, 1, 5), (3, 12, 2), (2, 2, 20)]
ABOUTS = {"strategy_share": tuple(ACTIONS), "bid_increase_share": ("[0, 10)", "[10, 11)")} | dict.fromkeys(
    ("interest_reliability", "profile_reliability"), ("predicted", "observed")
)


def inches_high(file: Path) -> float:
    """Measure a file, as a printer does."""
    if file.suffix == ".png":
        with Image.open(file) as image:
            return image.height / image.info["dpi"][1]
    told = file.read_bytes()
    if file.suffix == ".svg":
        return float(re.search(rb'height="([\d.]+)pt"', told)[1]) / 72
    return float(re.search(rb"/MediaBox \[ ?0 0 [\d.]+ ([\d.]+)", told)[1]) / 72


def shown(drawing: Drawing, width: float) -> list[float]:
    """The heights of the pages of a figure, on which each panel stands once and each series is in the legend."""
    with mpl.rc_context(FILE_STYLE):
        found = pages(drawing, width)
        assert [panel for page in found for row in page.rows for panel in row] == [*drawing.panels]
        assert {entry for page in found for entry in page.legend} == {*drawing.legend}
        return [sum(map(row_height, page.rows)) + legend_height(page.legend, width) for page in found]


@pytest.mark.studies
@pytest.mark.parametrize(
    ("figure", "size"), [*product(FIGURES, CROWDS)], ids=lambda one: getattr(one, "name", str(one))
)
def test_no_figure_of_many_arms_conditions_and_bidders_is_taller_than_a_page(figure, size):
    results = crowd(figure.needs, *size, abouts=ABOUTS.get(figure.needs, ("",)))
    drawing = figure.drawn(Loaded(results), figure.needs)
    assert max(max(shown(drawing, width)) for width in WIDTHS.values()) <= PAGE


@pytest.mark.parametrize("size", some([*CROWDS, (40, 2, 6)], [(3, 12, 2)]), ids=str)
def test_no_chart_of_means_and_no_forest_is_taller_than_a_page(size):
    arms = [f"arm-{at}" for at in range(size[0])]
    planned = tuple(Comparison(metric="profit", of=Side(arm=arm), against=Side(arm=arms[0])) for arm in arms[1:])
    loaded = Loaded(crowd("profit", *size, items=0, comparisons=planned))
    for drawing in (means(loaded, "profit"), *([figures(loaded)["differences"]] if planned else [])):
        assert max(max(shown(drawing, width)) for width in WIDTHS.values()) <= PAGE


def test_a_figure_of_several_pages_is_as_many_numbered_files_whose_captions_say_which_page(tmp_path):
    def write(name, arms):
        loaded = Loaded(crowd("health", arms, 1, 3))
        return write_figure(loaded, figures(loaded)["health"], tmp_path / name, name[-3:], "column")

    written, one = write("health.pdf", 12), write("health.svg", 2)
    count = len(written) // 2
    assert count >= 2
    for number, (picture, beside) in enumerate(zip(written[::2], written[1::2], strict=True), 1):
        assert (picture.name, beside.name) == (f"health-{number}.pdf", f"health-{number}-caption.tex")
        assert inches_high(picture) <= PAGE
        assert f"Page {number} of {count}." in beside.read_text()
        assert rf"{{{picture.name}}}" in beside.read_text()
    assert [each.name for each in one] == ["health.svg", "health-caption.txt"]
    assert "Page " not in one[1].read_text()


def grown(axes):
    axes.get_figure(root=True).set_size_inches(3.4, 58)


@pytest.mark.parametrize(("panel", "why"), [
    (paint("", "", lambda _: None, height=2_000), "a panel of it is 16.7 inches high, .*panels$"),
    (paint("", "", grown), "its function changes the size of the picture"),
])  # fmt: skip
def test_a_panel_that_is_taller_than_a_page_or_makes_itself_so_is_refused_in_one_line_with_the_remedy(panel, why):
    with pytest.raises(ConfigError, match=f"^figure 'Tower' can't be drawn: {why}"):
        pictures(Drawing("Tower", "", (panel,)), "pdf", WIDTHS["column"])
