"""Writes the page of a run or of a series: one file, or a file with a folder of entries beside it if it is large.

Every text of the run is data: JSON with escaped markup, which the page shows as text. The page's policy allows only
scripts whose digests it names.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from harbor._core.basics.actions import printable
from harbor._core.basics.errors import HarborError
from harbor._core.basics.feedback import steps
from harbor._core.files.layout import EVENTS
from harbor._core.files.safe_files import make_private, write_whole
from harbor._core.log.log_entries import told_alone
from harbor._view.chunks import marks_alone
from harbor._view.page_data import SeriesData, auctions_in, read_series, run_page
from harbor._view.shapes import Chunk, EntryRow, Head, MarkRow, OtherRow, json_of
from harbor.evaluation._report.tabular.page_parts import filled, packaged

MOST_ROWS, MOST_WORDS, MOST_MARKS, MOST_NAME = 60, 200, 1_000, 24
"""Limits of the static view, 100 kB at most: rows at each end, letters of words, marks, and letters of a name below."""
WIDTH, HEIGHT, EDGE = 640, 260, 20
"""Pixels of the static picture: width, height and margin."""
NAMES, LINE = 4, 16
"""Names per line below the picture, and the height of a line in pixels."""
Spot = tuple[int | None, int | None, int | None]
"""The place of a mark in pixels: x, y and the upper end."""
COLOURS = 8
"""Number of bidder colours in the page's style."""
WAYS = {
    "point": (7, "M{x} {y}h0"),
    "bar": (7, "M{x} {zero}V{y}"),
    "band": (3, "M{x} {y}V{high}"),
    "out": (1.5, "M{x} {y}m-4-4l8 8m0-8l-8 8"),
    "line": (1.5, "L{x} {y}"),
    "step": (1.5, "H{x}V{y}"),
}
"""The width in pixels of each kind of mark, and the path segment that draws one."""
GROUP = Markup(
    '<path class="{tint}" transform="translate({aside})" stroke-width="{wide}" opacity="{pale}" d="{path}"/>'
    '<text x="{x}" y="{y}"><tspan class="{tint}" opacity="{pale}">●</tspan> {says}</text>'
)


class Still:
    """Collects the static view from chunks while they are written. A seat's page holds only the seat's data."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._first, self._last = list[EntryRow](), deque[EntryRow](maxlen=MOST_ROWS)
        self._marks = [deque[MarkRow](maxlen=MOST_MARKS + 1) for _ in head["pictures"]]

    def noting(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks unchanged, and keep the rows and marks that the static page shows."""
        for chunk in chunks:
            for row in chunk["entries"]:
                (self._first if len(self._first) < MOST_ROWS else self._last).append(row)
            for mark in chunk["marks"]:
                if mark[9] & 1:  # the owner of the page, the head's first viewer, sees this mark
                    self._marks[mark[1]].append(mark)
            yield chunk

    def html(self) -> Markup:
        """Return the picture and the table as HTML."""
        left = self._head["length"] - len(self._first) - len(self._last)
        between = f"{left:,} events between the first {MOST_ROWS} and the last {MOST_ROWS} are left out."
        note = Markup("<p>{}</p>").format(between) if left > 0 else ""
        rows = Markup("").join(
            Markup("<tr><td>{}</td><td>{:.1f}</td><td>{}</td><td>{}</td></tr>").format(
                seq, at, " and ".join(told_alone(to)) or to, printable(words)[:MOST_WORDS]
            )
            for seq, at, to, _, words, *_ in (*self._first, *self._last)
        )
        head = Markup("<thead><tr><th>event<th>seconds<th>seen by<th>what happened</tr></thead>")
        return self._picture() + note + Markup("<table>") + head + rows + Markup("</table>")

    def _picture(self) -> Markup:
        """Draw the final state of the first picture with marks, if possible one of the whole game, not of a part."""
        pictures = zip(self._head["pictures"], self._marks, strict=True)
        drawn = [(row, marks) for row, marks in pictures if any(one[7] is not None for one in marks)]
        if not drawn:
            return Markup("")
        row, kept = min(drawn, key=lambda one: one[0][5])
        starts = [seq for seq, what, _ in self._head["places"] if what == "part" and seq <= kept[-1][0]]
        since = starts[-1] if row[5] and starts else 0
        marks = [one for one in kept if one[0] >= since and one[2] == kept[-1][2]]
        cut = f" (the last {MOST_MARKS:,} marks)" if len(marks) > MOST_MARKS else ""
        return _svg(row[1] + cut, row[2], row[3], marks[-MOST_MARKS:], self._head["seats"])


def _svg(title: str, along: str, up: str, marks: Sequence[MarkRow], seats: Sequence[str]) -> Markup:
    """Draw marks to scale. The marks of one series, role and kind are one path with a name below the picture."""
    names = list(dict.fromkeys(one[6] for one in marks if isinstance(one[6], str)))
    room = (WIDTH - 2 * EDGE) // len(names) if names else 0
    places = [names.index(one[6]) if isinstance(one[6], str) else one[6] for one in marks]
    heights = [y for one in marks for y in (*one[7:9], 0 if one[5] == "bar" else None) if y is not None]
    across = _scale([x for x in places if x is not None] or [0], EDGE, WIDTH - EDGE - room)
    upward = _scale(heights, HEIGHT - EDGE, EDGE)
    groups: dict[tuple[str, str, str], list[Spot]] = {}
    for x, (_, _, _, series, role, kind, _, y, high, _) in zip(places, marks, strict=True):
        key = series, role, "out" if role == "out" else kind
        groups.setdefault(key, []).append((across(x), upward(y), upward(high)))
    bars = list(dict.fromkeys(role for _, role, kind in groups if kind == "bar"))
    drawn = Markup("")
    for at, name in enumerate(names):
        drawn += Markup('<text x="{}" y="{}">{}</text>').format(across(at), HEIGHT - 4, printable(name)[: room // 6])
    for at, ((series, role, kind), spots) in enumerate(groups.items()):
        turn, (wide, way) = bars.index(role) if kind == "bar" else 0, WAYS[kind]
        drawn += GROUP.format(
            aside=turn * wide,
            tint=f"c{seats.index(series) % COLOURS}" if series in seats else "ink",
            wide=wide,
            pale=0.4 if turn else 1,
            path=_path(way, [*{one[0]: one for one in spots}.values()] if kind == "bar" else spots, upward(0)),
            x=EDGE + at % NAMES * (WIDTH // NAMES),
            y=HEIGHT + LINE * (at // NAMES + 1),
            says=printable(role if role == series else f"{series}: {role}")[:MOST_NAME],
        )
    says = f"{title}: {up} from {min(heights):,.10g} to {max(heights):,.10g}" + (f", by {along}" if along else "")
    return Markup(
        '<h2>{0}</h2><svg viewBox="0 0 {1} {2}" width="{1}" role="img" aria-label="{0}" font-size="10"'
        ' fill="currentColor" stroke-linecap="round">{3}</svg>'
    ).format(says, WIDTH, HEIGHT + LINE * (len(groups) // NAMES + 2), drawn)


def _scale(values: Sequence[float], start: int, end: int) -> Callable[[float | None], int | None]:
    """Return the function that maps the smallest value to `start` and the largest to `end`, linearly."""
    low, high = min(values), max(values)
    return lambda one: None if one is None else round(start + (end - start) * (one - low) / ((high - low) or 1))


def _path(way: str, spots: Sequence[Spot], zero: int | None) -> str:
    """Return the path of marks. A mark without x is a level, and the last level counts. A mark without y is a gap."""
    if spots[-1][0] is None:
        return f"M{EDGE} {spots[-1][1]}H{WIDTH - EDGE}" if spots[-1][1] is not None else ""
    path, joined = "", False
    for x, y, high in spots:
        there = x is not None and y is not None
        if there:
            path += (way if joined or way.startswith("M") else "M{x} {y}h0").format(x=x, y=y, high=high, zero=zero)
        joined = there
    return path + f"H{WIDTH - EDGE}" * (joined and way.startswith("H"))


MOST_INLINE = 3_000_000
"""The greatest number of characters of entries in the page itself. A larger page loads files when needed."""
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
    """Write the page of a run, or of a series with pages of its auctions.

    Args:
        folder: folder of a run or a series, or the log of a run.
        out: the page, an HTML file. Its other files go to a folder with its name and the ending `_files`.
        seat: the bidder whose view the page shows ("": everything).
        back: an address that the page links back to.
        title: title of the page ("": the name of the run).
        others: the games of the same condition and repeat in other arms of an experiment.

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
    """Write the page of one game, or say why it has none, so that one bad game does not stop the others."""
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
    """Return the HTML of a page with its data.

    Args:
        title: title of the run.
        calls: scripts that pass the data to the page.
        loads: True if the page loads more data from files beside it.
        follows: True if the server of `--follow` feeds the page.
        frames: True if the page may show another page of its folder in a frame.
        still: the view for a browser without scripts.
    """
    script, style = _script(follows), packaged("harbor._view/page.css")
    sources = [_digest(one) for one in (script, *calls)] + ["'strict-dynamic'"] * loads
    rules = ["default-src 'none'", "img-src data:", f"style-src {_digest(style)}", f"script-src {' '.join(sources)}"]
    rules += (
        ["connect-src 'self'"] * follows + ["frame-src 'self'"] * frames + ["base-uri 'none'", "form-action 'none'"]
    )
    own = {"policy": "; ".join(rules), "style": style, "script": script}
    return filled("harbor._view/page.html.j2", title=printable(title), calls=calls, still=still, **own)


def _first(chunks: Iterable[Chunk]) -> tuple[list[Chunk], Iterable[Chunk] | None]:
    """Take as many chunks as fit in the page. Return these and the rest, or None if no chunk is left."""
    taken, size, rest = [], 0, iter(chunks)
    for chunk in rest:
        taken.append(chunk)
        size += len(json.dumps(chunk))
        if size > MOST_INLINE:
            return taken, rest
    return taken, None


def _write_chunks(chunks: Iterable[Chunk], folder: Path) -> list[tuple[int, int, str]]:
    """Write chunks as scripts. Return the first and the last entry of each, and its address from the page."""
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
    """Return a call of the page's script. No character of the data can end the script element."""
    text = json_of(data)  # it escapes all non-ASCII characters, also the line separators
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
    style = packaged("harbor._view/page.css")
    policy = f"default-src 'none'; img-src data:; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    return filled("harbor._view/series.html.j2", series=series, links=links, back=back, policy=policy, style=style)


def _address(name: str) -> str:
    """Return the name of a file as part of an address."""
    return quote(name)


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _script(follows: bool) -> str:
    parts = "\n".join(packaged(f"harbor._view/{name}") for name in (*SCRIPTS, *["follow.js"] * follows))
    return f'(() => {{\n"use strict";\n{parts}}})();\n'
