"""Text and tables as LaTeX that compiles: every character is escaped, or one that pdfLaTeX knows stands for it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from harbor.evaluation._report.formatting import legible

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip
_KNOWN = {
    "−": "$-$", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\ldots{}", "×": r"$\times$",  # noqa: RUF001
    "·": r"$\cdot$", "‖": r"$\Vert$", "≤": r"$\le$", "≥": r"$\ge$", "±": r"$\pm$", "→": r"$\to$", "●": r"$\bullet$",
    "◆": r"$\diamond$", "\ufffd": "?", "\u00a0": "~", "µ": r"$\mu$", "°": r"$^\circ$", "²": "$^2$", "½": r"$\frac12$",
}  # fmt: skip
_LATIN = re.compile(r"[ -~À-ÖØ-öø-\u017e]")
"""ASCII, and the letters that every font of the T1 encoding has."""
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|[{}$\\]")
COLUMN = 52
"""How many small letters a column of a page of two has room for."""
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
"""What the tables and figures need."""


def escaped(text: str) -> str:
    """Write any text for LaTeX; a character without a letter in T1 is "?"."""
    return "".join(map(_letter, unicodedata.normalize("NFC", legible(text))))


def unknown_letters(text: str) -> str:
    """Give the characters that `escaped` loses, each once."""
    return "".join(dict.fromkeys(one for one in legible(text) if one != "?" and _letter(one) == "?"))


def _letter(one: str) -> str:
    if one in _SPECIAL:
        return _SPECIAL[one]
    return _KNOWN.get(one) or (one if _LATIN.fullmatch(one) else "?")


def floating(
    heads: Sequence[str], groups: Iterable[Iterable[Sequence[str]]], columns: str, caption: str, label: str
) -> str:
    """Write a table with caption and label, of cells that are LaTeX already, a rule between groups of rows.

    One that is too wide for a column goes over both, where there are two, and is made to fit.
    """
    rows = [list(group) for group in groups]
    kind = "table*" if _letters([heads, *(row for group in rows for row in group)]) > COLUMN else "table"
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
            *(line for group in rows for line in (r"\midrule", *map(_row, group))),
            r"\bottomrule",
            r"\end{tabular}%",
            "}%",
            r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
            rf"\end{{{kind}}}",
            "",
        )
    )


def _letters(rows: Sequence[Sequence[str]]) -> int:
    """Count the letters of the widest cells of all columns; a cell that spans them is left out."""
    plain = [[_COMMAND.sub("", cell) for cell in row] for row in rows if len(row) == len(rows[0])]
    return sum(max(map(len, column)) + 2 for column in zip(*plain, strict=True))


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def preview(files: Iterable[Path]) -> str:
    """Write a document that shows these files, one below the other."""
    shown = "\n".join(rf"\input{{{one.stem}}}\clearpage" for one in files)
    return f"{PREAMBLE}\n\\begin{{document}}\n{shown}\n\\end{{document}}\n"
