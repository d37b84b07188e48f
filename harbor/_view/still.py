"""What a browser without scripts shows of a run: a still picture of its end, and its first and last events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from harbor._core.parsing import printable
from harbor._view.shapes import Chunk, EntryRow, Head, MarkRow

MOST_ROWS, MOST_WORDS, MOST_MARKS, MOST_NAME = 60, 200, 1_000, 40
"""How many rows at each end, letters of words, marks, and letters of a level's name are in the page: 100 kB at most."""
WIDTH, HEIGHT, EDGE = 640, 260, 20
COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa7700", "#66ccee", "#aa3377")


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
                seq, at, to.removeprefix("bidder:"), printable(words)[:MOST_WORDS]
            )
            for seq, at, to, _, words, *_ in (*self._first, *self._last)
        )
        head = Markup("<thead><tr><th>event<th>seconds<th>seen by<th>what happened</tr></thead>")
        return self._picture() + note + Markup("<table>") + head + rows + Markup("</table>")

    def _picture(self) -> Markup:
        """Draw the first picture that has marks, of its last part, as it stands at the end."""
        for row, kept in zip(self._head["pictures"], self._marks, strict=True):
            starts = [seq for seq, what, _ in self._head["places"] if what == "part" and kept and seq <= kept[-1][0]]
            since = starts[-1] if row[5] and starts else 0
            marks = [one for one in kept if one[0] >= since and one[2] == kept[-1][2] and one[7] is not None]
            if marks:
                cut = f" (the last {MOST_MARKS:,} marks)" if len(marks) > MOST_MARKS else ""
                return _svg(row[1] + cut, row[2], row[3], marks[-MOST_MARKS:])
        return Markup("")


def _svg(title: str, along: str, up: str, marks: Sequence[MarkRow]) -> Markup:
    """Draw marks on axes that hold all of them; those of a series, role and kind are one path, or points."""
    names = list(dict.fromkeys(one[6] for one in marks if isinstance(one[6], str)))
    xs = [float(names.index(one[6]) if isinstance(one[6], str) else one[6] or 0) for one in marks]
    ys = [float(one[7] or 0) for one in marks]
    low, high = min(0.0, *ys), max(ys)
    placed = [x for x, one in zip(xs, marks, strict=True) if one[6] is not None] or [0.0]
    start, end = min(placed), max(placed)
    colours = {series: COLOURS[at % len(COLOURS)] for at, series in enumerate(dict.fromkeys(one[3] for one in marks))}
    points, paths = Markup(""), dict[tuple[str, str, str], str]()
    for (_, _, _, series, role, kind, x, *_), across, value in zip(marks, xs, ys, strict=True):
        h = round(EDGE + (WIDTH - 2 * EDGE) * (across - start) / ((end - start) or 1))
        v, zero = (round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (one - low) / ((high - low) or 1)) for one in (value, 0))
        if role == "out":
            cross = Markup('<path stroke="{}" d="M{} {}l8 8m0-8l-8 8"/>')
            points += cross.format(colours[series], h - 4, v - 4)
            continue
        if x is not None and kind in ("point", "band"):
            points += Markup('<circle fill="{}" cx="{}" cy="{}" r="3"/>').format(colours[series], h, v)
            continue
        before = paths.get((series, role, kind), "")
        if x is None:
            adds = f"M{EDGE} {v}H{WIDTH - EDGE}"
            name = printable(f"{series}: {role}" if role != series else role)[:MOST_NAME]
            points += Markup('<text x="{}" y="{}" text-anchor="end" font-size="10">{}</text>').format(
                WIDTH, v - 3, name
            )
        elif kind == "bar":
            adds = f"M{h} {zero}V{v}"
        elif kind == "step" and before:
            adds = f"H{h}V{v}"
        else:
            adds = f"{'L' if before else 'M'}{h} {v}"
        paths[series, role, kind] = before + adds
    line = Markup('<path stroke="{}" stroke-width="{}" fill="none" d="{}"/>')
    lines = Markup("").join(
        line.format(colours[series], 6 if kind == "bar" else 1, path) for (series, _, kind), path in paths.items()
    )
    legend = Markup(" ").join(
        Markup('<tspan fill="{}">● {}</tspan>').format(colour, printable(name)) for name, colour in colours.items()
    )
    says = f"{title}: {up} from {low:,.10g} to {high:,.10g}" + (f", by {along}" if along else "")
    return Markup(
        '<h2>{0}</h2><svg viewBox="0 0 {1} {2}" width="{1}" role="img" aria-label="{0}">{3}{4}'
        '<text x="{5}" y="14" font-size="12">{6}</text></svg>'
    ).format(says, WIDTH, HEIGHT, lines, points, EDGE, legend)
