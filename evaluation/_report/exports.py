"""An experiment's findings for other programs: CSV, Parquet, and tables for LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from harbor._core.errors import ConfigError
from harbor.evaluation._report import listings
from harbor.evaluation._report.formatting import MINUS, NOTHING, legible
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.sections import findings_tables
from harbor.evaluation._report.tables import Cell, Table

FRAMES = ("games", "measurements", "estimates", "differences", "correlations", "ratings", "spreads")
FORMULA = r"^([=+\-@\t\r\n＝＋－＠])"  # noqa: RUF001
"""Matches a text that a spreadsheet would run as a formula."""
_PLAIN = str.maketrans({MINUS: "-", NOTHING: "--", "\ufffd": "?"})
"""Characters that LaTeX's text fonts lack."""
_UNESCAPED = str.maketrans({"<": r"\textless{}", ">": r"\textgreater{}"})
"""What pandas does not escape, and TeX's oldest encoding prints as other characters."""
Write = Callable[[Loaded, Path], None]


def to_csv(loaded: Loaded, folder: Path) -> None:
    """Write each frame of an experiment as a CSV file, in UTF-8.

    Names and errors are foreign text: a single quote is put before any that a spreadsheet would take for a formula.
    Numbers have none, and `harbor.evaluation.load` gives every text unchanged. Source: OWASP, "CSV Injection".
    """
    for name in FRAMES:
        inert = getattr(loaded, name).replace(FORMULA, r"'\1", regex=True)
        # with the line ends of RFC 4180 a carriage return inside a text is quoted too
        inert.to_csv(folder / f"{name}.csv", index=False, encoding="utf-8", lineterminator="\r\n")


def to_parquet(loaded: Loaded, folder: Path) -> None:
    """Write each frame of an experiment as a Parquet file.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ConfigError("parquet needs pyarrow; pip install 'harbor-auctions[parquet]', or take csv") from error
    for name in FRAMES:
        getattr(loaded, name).to_parquet(folder / f"{name}.parquet", engine="pyarrow", index=False)


def to_latex(loaded: Loaded, folder: Path) -> None:
    """Write each table of the report as a file with a tabular for LaTeX's booktabs."""
    tables = {
        f"estimates-{metric.replace(' ~ ', '-with-')}": table for metric, table in findings_tables(loaded).items()
    }
    for name, table in (tables | listings.of_analysis(loaded.analysis, loaded.experiment)).items():
        (folder / f"{name}.tex").write_text(latex(table), encoding="utf-8")


def latex(table: Table) -> str:
    """Write a table as a tabular, every text escaped."""
    cells = pd.DataFrame([[_text(cell) for cell in row] for row in table.rows])
    heads = [_text(column.head) for column in table.columns]
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    styler = cells.set_axis(heads, axis="columns").style.hide(axis="index").format(escape="latex")
    text = styler.format_index(escape="latex", axis="columns").to_latex(hrules=True, column_format=columns)
    return str(text).translate(_UNESCAPED)


def _text(cell: Cell) -> str:
    """Put a cell on one line, its lower line in parentheses."""
    below = cell.below if cell.is_interval or not cell.below else f"({cell.below})"
    return legible(f"{cell.text} {below}".strip()).translate(_PLAIN)


EXPORTS: dict[str, Write] = {"csv": to_csv, "parquet": to_parquet, "latex": to_latex}
"""The formats by name; each writes files of fixed names into a folder that exists."""
