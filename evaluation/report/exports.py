"""An experiment's findings for other programs: CSV, Parquet, and tables for LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from harbor.errors import ConfigError
from harbor.evaluation.report import listings
from harbor.evaluation.report.formatting import MINUS, legible
from harbor.evaluation.report.loading import Loaded
from harbor.evaluation.report.sections import findings_tables
from harbor.evaluation.report.tables import Cell, Table

FRAMES = ("games", "measurements", "estimates", "differences", "correlations", "ratings")
Write = Callable[[Loaded, Path], None]


def to_csv(loaded: Loaded, folder: Path) -> None:
    """Write each frame of an experiment as a CSV file, in UTF-8."""
    for name in FRAMES:
        getattr(loaded, name).to_csv(folder / f"{name}.csv", index=False, encoding="utf-8")


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
    """Write the tables of the report as tabulars for LaTeX's booktabs, a file each."""
    analysis, experiment = loaded.analysis, loaded.experiment
    tables = {
        f"estimates-{metric.replace(' ~ ', '-with-')}": table for metric, table in findings_tables(loaded).items()
    }
    if analysis.differences:
        tables["comparisons"] = listings.comparisons(analysis.differences, experiment)
    if analysis.correlations:
        tables["correlations"] = listings.correlations(analysis.correlations, experiment)
    if analysis.ratings:
        tables["ratings"] = listings.ratings(analysis.ratings, experiment)
    for name, table in tables.items():
        (folder / f"{name}.tex").write_text(latex(table), encoding="utf-8")


def latex(table: Table) -> str:
    """Write a table as a tabular, every text escaped."""
    cells = pd.DataFrame([[_text(cell) for cell in row] for row in table.rows])
    heads = [_text(column.head) for column in table.columns]
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    styler = cells.set_axis(heads, axis="columns").style.hide(axis="index").format(escape="latex")
    return str(styler.format_index(escape="latex", axis="columns").to_latex(hrules=True, column_format=columns))


def _text(cell: Cell) -> str:
    """Put a cell in one line; LaTeX's fonts have no minus sign in text."""
    return legible(f"{cell.text} {cell.below}".strip()).replace(MINUS, "-")


EXPORTS: dict[str, Write] = {"csv": to_csv, "parquet": to_parquet, "latex": to_latex}
"""The formats by name; each writes files of fixed names into a folder that exists."""
