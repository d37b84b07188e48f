"""Writes the page of a run or of a series: one file, or, where it is large, one with files of entries beside it.

Every text of the run is data: JSON whose markup is escaped, put on the page as text; the page's policy lets nothing run
but the scripts whose digests it names.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harbor._core.errors import HarborError
from harbor._core.how_far import steps
from harbor._core.layout import EVENTS
from harbor._core.parsing import printable
from harbor._core.private_files import make_private, write_whole
from harbor._view.chunks import marks_alone
from harbor._view.run_data import run_page
from harbor._view.series_data import SeriesData, auctions_in, read_series
from harbor._view.shapes import Chunk, Head, MarkRow, OtherRow, json_of
from harbor._view.still import Still

MOST_INLINE = 3_000_000
"""How many letters of entries stand in the page itself; what has more goes into files that are loaded when needed."""
SCRIPTS = (
    "store.js",
    "drawing.js",
    "chart.js",
    "pictures.js",
    "moment.js",
    "list.js",
    "calls.js",
    "arms.js",
    "page.js",
    "start.js",
)
FILES = "_files"
MARKS = "marks.js"


def write_run(
    folder: Path, out: Path, seat: str = "", back: str = "", title: str = "", others: Sequence[OtherRow] = ()
) -> Path:
    """Write the page of a run; or of a series, with pages of its auctions beside it.

    Args:
        folder: of a run or a series, or the log of a run.
        out: the page, an HTML file; what is beside it is in a folder of its name with `_files` behind it.
        seat: a bidder, whose page has what this bidder may see and nothing else; "": everything.
        back: an address that the page links back to.
        title: of the page, if it is not the name of the run.
        others: the games of the same draw in other arms of an experiment.

    Raises:
        RunFolderError: there is no log, or no bidder of this name.
        LogError: the log can't be read.
        OSError: the page can't be written.
    """
    if auctions_in(folder):
        return _write_series(folder, out, back)
    page = run_page(folder, seat)
    head, still = page.head, Still(page.head)
    if back:
        head["back"] = back
    if others:
        head["others"] = list(others)
    head["title"] = title or head["title"]
    inlined, rest = _first(still.noting(page.chunks))
    if rest is not None:
        place = out.with_name(out.stem + FILES)
        head["chunks"] = _write_chunks(chain(inlined, rest), place)
        head["marks"] = f"{_address(place.name)}/{MARKS}"
        inlined = []
    calls = [_call("head", head), *(_call("add", chunk) for chunk in inlined)]
    made = page_of(head["title"], calls, loads=rest is not None, frames=bool(others), still=still.html())
    write_whole(out, made.encode())
    return out


def refusal_of(folder: Path, out: Path, back: str, title: str = "", others: Sequence[OtherRow] = ()) -> str:
    """Write the page of one game of many, or say why there can be none; the page of one game costs no other."""
    try:
        write_run(folder, out, back=back, title=title, others=others)
    except HarborError as error:
        return str(error)
    return ""


def page_of(
    title: str,
    calls: Sequence[str] = (),
    loads: bool = False,
    follows: bool = False,
    frames: bool = False,
    still: Markup | str = "",
) -> str:
    """Write a page around its data.

    Args:
        title: of the run.
        calls: scripts that hand the data over.
        loads: the page loads more data from files beside it.
        follows: the page is fed by a server, that of `--follow`.
        frames: the page may show another page of its folder within itself.
        still: what a browser without scripts shows.
    """
    script, style = _script(follows), _text("page.css")
    sources = [_digest(one) for one in (script, *calls)] + ["'strict-dynamic'"] * loads
    rules = ["default-src 'none'", "img-src data:", f"style-src {_digest(style)}", f"script-src {' '.join(sources)}"]
    rules += (
        ["connect-src 'self'"] * follows + ["frame-src 'self'"] * frames + ["base-uri 'none'", "form-action 'none'"]
    )
    return (
        _environment()
        .get_template("page.html.j2")
        .render(title=printable(title), policy="; ".join(rules), style=style, script=script, calls=calls, still=still)
    )


def _first(chunks: Iterable[Chunk]) -> tuple[list[Chunk], Iterable[Chunk] | None]:
    """Take chunks as long as they may stand in the page; the rest is None if these are all."""
    taken, size, rest = [], 0, iter(chunks)
    for chunk in rest:
        taken.append(chunk)
        size += len(json.dumps(chunk))
        if size > MOST_INLINE:
            return taken, rest
    return taken, None


def _write_chunks(chunks: Iterable[Chunk], folder: Path) -> list[tuple[int, int, str]]:
    """Write chunks as scripts; give the first and the last entry of each, and its address from the page."""
    make_private(folder, exist_ok=True)
    written, marks = [], list[MarkRow]()
    for number, chunk in enumerate(chunks):
        file = folder / f"{number}.js"
        marks += chunk["marks"]
        write_whole(file, _call("add", {**chunk, "marks": []}).encode())
        written.append((chunk["entries"][0][0], chunk["entries"][-1][0], f"{_address(folder.name)}/{file.name}"))
    write_whole(folder / MARKS, _call("add", marks_alone(marks)).encode())
    return written


def _call(function: str, data: Head | Chunk) -> str:
    """Write a call of the page's script; nothing in the data can end the script element that it stands in."""
    text = json_of(data)  # letters beyond ASCII are escaped, the line separators with them
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return f"harborView.{function}({text});"


def _write_series(folder: Path, out: Path, back: str) -> Path:
    series = read_series(folder)
    place = out.with_name(out.stem + FILES)
    make_private(place, exist_ok=True)
    links = {}
    for auction in steps(series.auctions, "pages written"):
        page = place / f"{auction}.html"
        if refused := refusal_of(folder / auction / EVENTS, page, back=f"../{_address(out.name)}"):
            series.notes.append(f"no page could be made of auction {int(auction)}: {refused}")
        else:
            links[auction] = f"{_address(place.name)}/{page.name}"
    write_whole(out, _series_page(series, links, back).encode())
    return out


def _series_page(series: SeriesData, links: dict[str, str], back: str) -> str:
    style = _text("page.css")
    policy = f"default-src 'none'; img-src data:; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    template = _environment().get_template("series.html.j2")
    return template.render(series=series, links=links, back=back, policy=policy, style=style)


def _address(name: str) -> str:
    """Write the name of a file as a part of an address."""
    return quote(name)


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _script(follows: bool) -> str:
    parts = "\n".join(_text(name) for name in (*SCRIPTS, *["follow.js"] * follows))
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def _text(name: str) -> str:
    return (files("harbor._view") / name).read_text()


@cache
def _environment() -> Environment:
    loader = PackageLoader("harbor._view", "")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
