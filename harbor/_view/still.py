"""What a browser without scripts shows of a run: a still picture of its end, and its first and last events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from markupsafe import Markup

from harbor._core.log_lines import told_alone
from harbor._core.parsing import printable
from harbor._view.shapes import Chunk, EntryRow, Head, MarkRow

MOST_ROWS, MOST_WORDS, MOST_MARKS, MOST_NAME = 60, 200, 1_000, 24
"""How many rows at each end, letters of words, marks, and letters of a name below are in the page: 100 kB at most."""
WIDTH, HEIGHT, EDGE = 640, 260, 20
NAMES, LINE = 4, 16
"""How many names stand in a line below the picture, and how high a line is."""
Spot = tuple[int | None, int | None, int | None]
"""Where a mark is drawn: x, y and its upper end."""
COLOURS = 8
"""How many colours of bidders the style of the page has."""
WAYS = {
    "point": (7, "M{x} {y}h0"),
    "bar": (7, "M{x} {zero}V{y}"),
    "band": (3, "M{x} {y}V{high}"),
    "out": (1.5, "M{x} {y}m-4-4l8 8m0-8l-8 8"),
    "line": (1.5, "L{x} {y}"),
    "step": (1.5, "H{x}V{y}"),
}
"""How wide each kind of mark is, and how a path goes on to one."""
GROUP = Markup(
    '<path class="{tint}" transform="translate({aside})" stroke-width="{wide}" opacity="{pale}" d="{path}"/>'
    '<text x="{x}" y="{y}"><tspan class="{tint}" opacity="{pale}">●</tspan> {says}</text>'
)


class Still:
    """Keeps what is needed of chunks while they are written; a page of a seat has that seat's alone."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._first, self._last = list[EntryRow](), deque[EntryRow](maxlen=MOST_ROWS)
        self._marks = [deque[MarkRow](maxlen=MOST_MARKS + 1) for _ in head["pictures"]]

    def noting(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Give chunks as they come, and keep what is shown of them."""
        for chunk in chunks:
            for row in chunk["entries"]:
                (self._first if len(self._first) < MOST_ROWS else self._last).append(row)
            for mark in chunk["marks"]:
                if mark[9] & 1:  # whose page it is sees it: the first of the head's viewers
                    self._marks[mark[1]].append(mark)
            yield chunk

    def html(self) -> Markup:
        """Write the picture and the table."""
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
        """Draw the first picture of the whole game that has marks, or of its last part, as it stands at the end."""
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
    """Draw marks between the lowest and the highest; those of a series, role and kind are one path, named below."""
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
    """Give what puts the lowest of some numbers at the start, and the highest at the end."""
    low, high = min(values), max(values)
    return lambda one: None if one is None else round(start + (end - start) * (one - low) / ((high - low) or 1))


def _path(way: str, spots: Sequence[Spot], zero: int | None) -> str:
    """Write the path of marks; one without a place is a level, the last of which stands, and one without y is a gap."""
    if spots[-1][0] is None:
        return f"M{EDGE} {spots[-1][1]}H{WIDTH - EDGE}" if spots[-1][1] is not None else ""
    path, joined = "", False
    for x, y, high in spots:
        there = x is not None and y is not None
        if there:
            path += (way if joined or way.startswith("M") else "M{x} {y}h0").format(x=x, y=y, high=high, zero=zero)
        joined = there
    return path + f"H{WIDTH - EDGE}" * (joined and way.startswith("H"))
