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


def tabular(heads: Iterable[Sequence[str]], groups: Iterable[Iterable[Sequence[str]]], columns: str) -> str:
    """Write a tabular of cells that are LaTeX already, a rule between groups of rows."""
    lines = [rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule", *map(_row, heads)]
    for group in groups:
        lines += [r"\midrule", *map(_row, group)]
    return "\n".join((*lines, r"\bottomrule", r"\end{tabular}"))


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def floating(body: str, caption: str, label: str) -> str:
    """Put a tabular in a table of its own with caption and label; one that is too wide is made to fit."""
    said = escaped(caption).replace(r" \%", r"~\%")
    return "\n".join(
        (
            "% needs \\usepackage[T1]{fontenc}, {textcomp}, {booktabs} and {graphicx}",
            r"\begin{table}[tbp]",
            r"\centering",
            rf"\caption{{{said}}}",
            rf"\label{{tab:{label}}}",
            r"\medskip\small",
            r"\sbox0{%",
            body + "%",
            "}%",
            r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
            r"\end{table}",
            "",
        )
    )


def preview(files: Iterable[Path]) -> str:
    """Write a document that shows these files, one below the other."""
    shown = "\n".join(rf"\input{{{one.stem}}}\clearpage" for one in files)
    return f"{PREAMBLE}\n\\begin{{document}}\n{shown}\n\\end{{document}}\n"
