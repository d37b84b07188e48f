"""A figure as a file for a paper, and the same figure in a page: sizes, fonts, marks, and names with markup."""

from __future__ import annotations

import re
from io import BytesIO
from itertools import chain
from operator import attrgetter
from pathlib import Path
from xml.etree import ElementTree
from zlib import decompress

import matplotlib as mpl
import pytest
from PIL import Image

from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.design import Comparison, Side
from harbor.evaluation._metrics.strategy import ACTIONS
from harbor.evaluation._report.drawing.canvas import Drawing, legend, link, paint
from harbor.evaluation._report.drawing.inline import chart, inlined
from harbor.evaluation._report.paper.figure_files import FILE_STYLE, FORMATS, WIDTHS, pictures, write_figure
from harbor.evaluation._report.paper.paging import DOTS_AN_INCH, legend_height, pages, row_height
from harbor.evaluation._report.plots.built_in import FIGURES
from harbor.evaluation._report.plots.figures import figures, means
from harbor.evaluation._report.tabular.loading import Loaded
from support.cases import some
from support.filled import crowd

NAME = r"<b>Ann</b> $\frac{1}{2}$ & ]]> \input{x}"
PANELS, DOTS = 3, 7
SVG = "{http://www.w3.org/2000/svg}"


def draw(axes):
    dots = axes.scatter(range(DOTS), range(DOTS))
    dots.set_gid("games")
    dots.set_urls([link(f"files/{place}.html", f"game {place}") for place in range(DOTS)])
    axes.set(xlabel=NAME, ylabel="dollars")


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    panels = tuple(paint(f"{place} {NAME}", f"dots of {NAME}", draw) for place in range(PANELS))
    return Drawing("Dots", "All of them.", panels, legend(["Ann", NAME, "a long name " * 9]))


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_a_png_and_a_pdf_are_as_wide_as_asked_with_all_panels_and_only_embedded_fonts(drawing, width):
    image, pdf = Image.open(BytesIO(only(drawing, "png", width))), only(drawing, "pdf", width)
    assert (image.width, round(image.info["dpi"][0])) == (round(width * DOTS_AN_INCH), DOTS_AN_INCH)
    assert len(image.getcolors(1_000_000)) > 20
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    assert float(box[1]) == pytest.approx(width * 72, abs=0.5)
    assert pdf.count(b"/FontFile2") == len(re.findall(rb"/Type /FontDescriptor", pdf)) > 0
    assert b"/Type1" not in pdf
    assert b"/Annots [ ]" in pdf or b"files/0.html" not in pdf
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    page = max((decompress(one) for one in streams if one[:1] == b"x"), key=len)
    assert page.count(b"/M0 Do") + page.count(b"cm") + page.count(b"Do") >= PANELS * DOTS


def only(drawing: Drawing, form: str, width: float) -> bytes:
    """A figure of one page as a file."""
    [one] = pictures(drawing, form, width)
    return one.data


def test_an_svg_is_sound_and_needs_no_font(drawing):
    root = ElementTree.fromstring(only(drawing, "svg", WIDTHS["column"]))
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(WIDTHS["column"] * 72)
    games = [one for one in root.iter(f"{SVG}g") if one.get("id") == "games"]
    assert [len(list(one.iter(f"{SVG}use"))) for one in games] == [DOTS] * PANELS
    assert not [one.tag for one in root.iter() if one.tag in (f"{SVG}text", f"{SVG}a", f"{SVG}script")]


ODD = {
    "axes.facecolor": "red", "savefig.facecolor": "blue", "font.family": ["monospace"], "text.usetex": True,
    "lines.solid_capstyle": "round", "svg.image_inline": False, "path.simplify": False,
    "axes.prop_cycle": mpl.cycler(color=["red"]),
}  # fmt: skip


def test_figures_do_not_hang_on_settings_of_matplotlib_and_leave_them_as_they_were(drawing):
    width = WIDTHS["column"]
    figures = [only(drawing, form, width) for form in FORMATS]
    page = inlined("one", drawing).charts
    with mpl.rc_context(ODD):
        assert [only(drawing, form, width) for form in FORMATS] == figures
        assert inlined("one", drawing).charts == page
        assert {name: mpl.rcParams[name] for name in ODD} == ODD


def test_in_a_page_text_is_text_marks_are_links_with_names_and_no_id_is_there_twice(drawing):
    page = inlined("first", drawing), inlined("second", drawing)
    roots = [ElementTree.fromstring(one.svg) for one in chain(*(each.charts for each in page))]
    ids = [found for root in roots for one in root.iter() if (found := one.get("id"))]
    assert ids
    assert len(ids) == len(set(ids))
    for root in roots:
        assert NAME in [one.text for one in root.iter("text")]
        assert (root.get("role"), root.get("aria-label")) == ("group", f"dots of {NAME}")
        links = [one for one in root.iter() if one.tag == "a"]
        assert [one.get("aria-label") for one in links] == [f"game {place}" for place in range(DOTS)]
        assert not [one for one in root.iter() if "style" in one.attrib or one.tag in ("style", "script")]


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "//elsewhere", "vbscript:x y", ""])
def test_a_mark_leads_to_no_script_and_to_no_other_scheme(address):
    def linked(axes):
        axes.scatter([1], [1]).set_urls([address])

    svg = chart(paint("", "x", linked), "one").svg
    assert (svg.count('role="img"'), svg.count("<title>")) == (1, 0)


def test_a_figure_that_fails_costs_itself_alone_in_a_page_and_is_one_line_as_a_file():
    def broken(_):
        raise ValueError("no\nway")

    drawing = Drawing("Lost", "", (paint("", "", broken),))
    with pytest.warns(UserWarning, match="figure 'lost' can't be drawn: ValueError: no way"):
        shown = inlined("lost", drawing)
    assert (shown.charts, bool(shown.drawing.failure)) == ((), True)
    with pytest.raises(ConfigError, match="figure 'Lost' can't be drawn: ValueError: no way"):
        only(drawing, "pdf", 3.4)


def test_a_letter_that_the_fonts_lack_is_named_once(recwarn):
    panel = paint("拍卖", "", lambda axes: axes.set_xlabel("拍卖"))
    only(Drawing("Names", "", (panel, panel)), "pdf", 3.4)
    assert [str(one.message).split(":")[0] for one in recwarn] == ["the fonts here lack 拍 卖"]


def test_a_picture_that_is_higher_than_a_page_has_more_columns_and_then_more_pages():
    one = paint("", "", lambda _: None, 430, 280)
    count = {panels: len(pictures(Drawing("Many", "", (one,) * panels), "svg", WIDTHS["page"])) for panels in (9, 12)}
    assert count == {9: 1, 12: 2}


PAGE = 9.0  # inches
CROWDS = [(1, 1, 50), (12, 1, 5), (3, 12, 2), (2, 2, 20)]
ABOUTS = {"strategy_share": tuple(ACTIONS), "bid_increase_share": ("[0, 10)", "[10, 11)")} | dict.fromkeys(
    ("interest_reliability", "profile_reliability"), ("predicted", "observed")
)


def inches_high(pdf: Path) -> float:
    return float(re.search(rb"/MediaBox \[ ?0 0 [\d.]+ ([\d.]+)", pdf.read_bytes())[1]) / 72


def shown(drawing: Drawing, width: float) -> list[float]:
    """The heights of the pages of a figure, on which each panel stands once and each series is in the legend."""
    with mpl.rc_context(FILE_STYLE):
        found = pages(drawing, width)
        assert [panel for page in found for row in page.rows for panel in row] == [*drawing.panels]
        assert {entry for page in found for entry in page.legend} == {*drawing.legend}
        return [sum(map(row_height, page.rows)) + legend_height(page.legend, width) for page in found]


@pytest.mark.studies
@pytest.mark.parametrize("size", CROWDS, ids=str)
@pytest.mark.parametrize("figure", FIGURES, ids=attrgetter("name"))
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
