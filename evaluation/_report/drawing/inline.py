"""Figures inside a page: SVG text in the reader's fonts, colours that follow the page, and marks that are links.

Everything that a page may style is an attribute, so that a page needs no inline style. All ids differ.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from io import StringIO
from xml.etree import ElementTree

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

from harbor.evaluation._report.drawing.canvas import COLOURS, FAINT, INK, PIXELS_AN_INCH, STYLE, Drawing, Panel, failed
from harbor.evaluation._report.tabular.page_parts import legible

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
"""Prefixes of tags and attributes in an SVG file."""
ON_BLACK = ((INK, "#dfe3e8"), (FAINT, "#454b55"), (COLOURS[0], "#3d9ad6"))
"""Colours that change on a black page: the light one and the dark one."""
CSS = (
    ".chart{max-width:100%;height:auto;font-family:system-ui,sans-serif}"
    ".chart a:focus-visible{outline:2px solid currentColor;outline-offset:2px}"
    "@media(prefers-color-scheme:dark){"
    + "".join(f'.chart [{what}="{light}"]{{{what}:{dark}}}' for light, dark in ON_BLACK for what in ("fill", "stroke"))
    + "}"
)
"""Rules for the style sheet of a page with charts."""
MOST_PANELS = 4
"""The greatest number of panels of a figure on a page, as each costs 80 ms; files have all."""
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML forbids; matplotlib writes them nevertheless."""
_NUMBERED = re.compile(r".*_\d+")
"""An id that matplotlib made."""
_TOO_EXACT = re.compile(r"(\.\d\d)\d+")
"""A number with more than two decimals."""
_ADDRESS = re.compile(r"(?!//)(https?:|(?![a-zA-Z][\w+.-]*:))[^\s\x00-\x1f]+")
"""An address within the page's folder or on the web: never a script."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One panel on a page: its heading, its description, and its SVG with escaped texts."""

    heading: str
    alt: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class Inlined:
    """A figure on a page. A drawing that failed has no charts."""

    drawing: Drawing
    charts: tuple[Chart, ...] = ()


def inlined(name: str, drawing: Drawing, most: int = MOST_PANELS) -> Inlined:
    """Return the first panels of a figure for a page; the name must be unique there.

    A panel that fails leaves a note and a warning.
    """
    try:
        return Inlined(drawing, tuple(chart(one, f"{name}/{place}") for place, one in enumerate(drawing.panels[:most])))
    except Exception as error:  # a failing extension must not stop other figures
        return Inlined(failed(name, drawing.title, error))


def chart(panel: Panel, key: str) -> Chart:
    """Return a panel as SVG. Equal panels with equal keys give equal text; different keys share no id."""
    style = STYLE | {"svg.fonttype": "none", "svg.hashsalt": key}
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+")  # the reader's fonts may have the glyph
        figure = Figure((panel.width / PIXELS_AN_INCH, panel.height / PIXELS_AN_INCH), layout="constrained")
        alt = legible(panel.drawn(figure.subplots()))
        text = StringIO()
        figure.savefig(text, format="svg", transparent=True)
    return Chart(panel.heading, alt, _for_page(ElementTree.fromstring(legal(text.getvalue())), panel, alt))  # noqa: S314 - our own


def legal(svg: str) -> str:
    """Replace characters that XML forbids."""
    return _UNWRITABLE.sub("\ufffd", svg)


def _for_page(root: ElementTree.Element, panel: Panel, alt: str) -> Markup:
    """Turn matplotlib's file into a part of a page."""
    root.set("width", str(panel.width))
    root.set("height", str(panel.height))
    root.attrib.update({"class": "chart", "stroke-linejoin": "round", "stroke-linecap": "butt", "aria-label": alt})
    _leave_out(root)
    linked = [_linked(one) for one in root.iter(f"{SVG}a")]
    root.set("role", "group" if any(linked) else "img")
    known = {found for one in root.iter() for value in one.attrib.values() for found in re.findall(r"#(\w+)", value)}
    for one in root.iter():
        _unstyled(one)
        _named(one, known)
        one.tag = one.tag.removeprefix(SVG)
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=True))  # noqa: S704 - escaped by XML


def _leave_out(root: ElementTree.Element) -> None:
    """Remove metadata, and the style sheet, which would style the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):
                parent.remove(child)


def _linked(mark: ElementTree.Element) -> bool:
    """Turn a `set_urls` argument into a link: an address and, after a space, its name. Return whether it is one."""
    address, _, words = mark.attrib.pop(f"{XLINK}href", "").partition(" ")
    mark.attrib.clear()
    if not _ADDRESS.fullmatch(address):
        return False
    # a page can have thousands of dots, so the Tab key skips them; its table has the same links
    mark.attrib.update({"href": address, "aria-label": words or address, "tabindex": "-1"})
    ElementTree.SubElement(mark, "title").text = words or address
    return True


def _unstyled(one: ElementTree.Element) -> None:
    """Turn a style into attributes, which the page's style sheet can overrule. Drop fonts: they are the page's."""
    for rule in one.attrib.pop("style", "").split(";"):
        name, _, value = rule.partition(":")
        if name.strip() and name.strip() != "font-family":
            one.set(name.strip(), value.strip())
    if (target := one.attrib.pop(f"{XLINK}href", None)) is not None:
        one.set("href", target)
    for name in ("d", "x", "y", "transform"):
        if name in one.attrib:
            one.set(name, _TOO_EXACT.sub(r"\1", one.attrib[name]).replace("\n", ""))


def _named(one: ElementTree.Element, known: set[str]) -> None:
    """Drop an id without a reference. A name that a figure gave with `set_gid` becomes a class."""
    name = one.attrib.get("id", "")
    if name and name not in known:
        del one.attrib["id"]
        if not _NUMBERED.fullmatch(name):
            one.set("class", name)
