"""Writes numbers by the unit of their metric, and foreign text so that a page or LaTeX takes it.

Shares are never percentages. In LaTeX every character is escaped, or replaced by a command that pdfLaTeX knows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.levels import ALPHA
from harbor.evaluation._metrics.measurement import Unit, metric_or_none
from harbor.evaluation._report.tabular.page_parts import legible

NOTHING = "\N{EN DASH}"
"""Shown in place of a missing number."""
MINUS = "\N{MINUS SIGN}"
EXACT_DOLLARS = 1000
"""From this amount on, dollars have no cents."""
PLACES: dict[str, int] = {"share": 3, "ratio": 3, "nats": 3, "correlation": 3, "tokens": 0}
"""Places after the point by unit; two for all others."""
WHOLE_DOLLARS = 10
"""An axis of at least this span has ticks at whole dollars."""
TICKS = ((1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))
"""The least span of an axis, in dollars, for ticks in a unit, that unit, and its letter."""
SMALLEST_P = 0.001
"""A smaller p is shown as "< 0.001"."""
PLACES_OF_P = range(3, 7)
"""Places of p to try: more than three if p would otherwise read 0.050 though it is below 0.05."""


def unit_of(metric: str) -> Unit:
    """Return the unit of a metric. Correlations ("a ~ b") and ratings are no metrics and have their own units."""
    if (found := metric_or_none(metric)) is not None:
        return found.unit
    return "correlation" if "~" in metric else "number"


def write(value: float | None, unit: Unit) -> str:
    """Write a number in a unit."""
    return NOTHING if value is None else write_to(value, unit, _places(unit, [value]))


def write_printed(value: float, unit: Unit) -> str:
    """Write a published number with all its printed places."""
    printed = len(f"{value!r}".partition(".")[2].removesuffix("0"))
    return write_to(value, unit, max(printed, 0 if unit == "dollars" else _places(unit, [value])))


def write_interval(low: float | None, high: float | None, unit: Unit) -> str:
    """Write an interval as ``[low, high]``; "" if an end is None."""
    if low is None or high is None:
        return ""
    places = _places(unit, [low, high])
    return f"[{write_to(low, unit, places)}, {write_to(high, unit, places)}]"


def write_p(p: float | None) -> str:
    """Write a p-value; a bound if it is tiny.

    >>> write_p(0.04), write_p(0.0004)
    ('0.040', '< 0.001')
    """
    if p is None:
        return NOTHING
    if p < SMALLEST_P:
        return f"< {SMALLEST_P}"
    written = (f"{p:.{places}f}" for places in PLACES_OF_P)
    return next((text for text in written if (float(text) < ALPHA) == (p < ALPHA)), f"< {ALPHA}")


def equation_of_p(p: float | None) -> str:
    """Write a p-value for a sentence: ``p = 0.040``, or ``p < 0.001``."""
    written = write_p(p)
    return f"p {written}" if written.startswith("<") else f"p = {written}"


def in_draws(games: int, draws: int) -> str:
    """Say how many draws the games have; "" if each game is one.

    >>> in_draws(15, 5), in_draws(15, 15)
    (' in 5 draws', '')
    """
    return f" in {counted(draws, 'draw')}" if 0 < draws < games else ""


def _places(unit: Unit, values: Sequence[float]) -> int:
    if unit == "dollars":
        return 0 if max(map(abs, values)) >= EXACT_DOLLARS else 2
    return PLACES.get(unit, 2)


def write_to(value: float, unit: Unit, places: int) -> str:
    """Write a number with this many places, its sign first."""
    size = f"{abs(value):,.{places}f}"
    sign = MINUS if value < 0 and any(digit in "123456789" for digit in size) else ""
    return f"{sign}{'$' if unit == 'dollars' else ''}{size}"


def write_tick(value: float, span: float) -> str:
    """Write dollars beside an axis of this span: in thousands or millions on a long axis."""
    size, letter = next(((size, letter) for least, size, letter in TICKS if span >= least), (1, ""))
    if not letter:
        return write_to(value, "dollars", 0 if span >= WHOLE_DOLLARS else 2)
    scaled = round(value / size, 3)
    return f"{MINUS if scaled < 0 else ''}${abs(scaled):,g}{letter if scaled else ''}"


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip
"""LaTeX for ASCII characters with a meaning in LaTeX."""
_KNOWN = {
    "−": "$-$", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\ldots{}", "×": r"$\times$",  # noqa: RUF001
    "·": r"$\cdot$", "‖": r"$\Vert$", "≤": r"$\le$", "≥": r"$\ge$", "±": r"$\pm$", "→": r"$\to$", "●": r"$\bullet$",
    "◆": r"$\diamond$", "\ufffd": "?", "\u00a0": "~", "µ": r"$\mu$", "°": r"$^\circ$", "²": "$^2$", "½": r"$\frac12$",
}  # fmt: skip
"""LaTeX for further characters."""
_LATIN = re.compile(r"[ -~À-ÖØ-öø-\u017e]")
"""ASCII, and the letters that every font of the T1 encoding has."""
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|[{}$\\]")
"""A LaTeX command or brace, which takes no room in print."""
COLUMN = 52
"""Small letters that fit into one column of a page with two columns."""
PREAMBLE = "\n".join(
    (
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage[utf8]{inputenc}",
        r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}",
        r"\usepackage{textcomp}",
        r"\usepackage{booktabs}",
        r"\usepackage{graphicx}",
        r"\usepackage[margin=2cm]{geometry}",
    )
)
"""Packages that the tables and figures need."""


def escaped(text: str) -> str:
    """Escape a text for LaTeX. A character that the font encoding T1 lacks becomes "?"."""
    return "".join(map(_letter, unicodedata.normalize("NFC", legible(text))))


def unknown_letters(text: str) -> str:
    """Return the characters that `escaped` loses, each once."""
    return "".join(dict.fromkeys(one for one in legible(text) if one != "?" and _letter(one) == "?"))


def _letter(one: str) -> str:
    if one in _SPECIAL:
        return _SPECIAL[one]
    return _KNOWN.get(one) or (one if _LATIN.fullmatch(one) else "?")


def floating(heads: Sequence[str], rows: Sequence[Sequence[str]], columns: str, caption: str, label: str) -> str:
    """Return a LaTeX table with caption and label, from cells of LaTeX. A row with one spanning cell has a rule above.

    A table too wide for a column spans both, if there are two, and is scaled to fit.
    """
    kind = "table*" if _letters([heads, *rows]) > COLUMN else "table"
    ruled = (at == 0 or len(row) < len(heads) for at, row in enumerate(rows))
    said = escaped(caption).replace(r" \%", r"~\%")
    return "\n".join(
        (
            "% needs \\usepackage[T1]{fontenc}, {textcomp}, {booktabs} and {graphicx}",
            rf"\begin{{{kind}}}[tbp]",
            r"\centering",
            rf"\caption{{{said}}}",
            rf"\label{{tab:{label}}}",
            r"\medskip\small",
            r"\sbox0{%",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            _row(heads),
            *(f"\\midrule\n{_row(row)}" if rule else _row(row) for rule, row in zip(ruled, rows, strict=True)),
            r"\bottomrule",
            r"\end{tabular}%",
            "}%",
            r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
            rf"\end{{{kind}}}",
            "",
        )
    )


def _letters(rows: Sequence[Sequence[str]]) -> int:
    """Return the total length of the widest cells of all columns, without cells that span them."""
    plain = [[_COMMAND.sub("", cell) for cell in row] for row in rows if len(row) == len(rows[0])]
    return sum(max(map(len, column)) + 2 for column in zip(*plain, strict=True))


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def preview(files: Iterable[Path]) -> str:
    """Return a LaTeX document that shows these files, each with a page break after it."""
    shown = "\n".join(rf"\input{{{one.stem}}}\clearpage" for one in files)
    return f"{PREAMBLE}\n\\begin{{document}}\n{shown}\n\\end{{document}}\n"
