"""Exports the findings of an experiment for papers and other programs: LaTeX tables, CSV and Parquet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.means import METHODS
from harbor.evaluation._metrics.measurement import Unit, metric_or_none
from harbor.evaluation._report.tabular import listings
from harbor.evaluation._report.tabular.bidder_tables import GAME, BidderTable, bidder_table
from harbor.evaluation._report.tabular.formatting import (
    NOTHING,
    escaped,
    floating,
    preview,
    unit_of,
    unknown_letters,
    write,
    write_interval,
    write_printed,
)
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.page_parts import Cell, Column, Table, TableRow
from harbor.evaluation._report.tabular.tables import Finding, asked, meaning

SIMULATED = "Simulated: the built-in model played, and no language model."
"""Warning in each caption if the built-in model played."""


def _metric_tables(loaded: Loaded) -> list[BidderTable]:
    found = (bidder_table(metric, loaded.results, loaded.analysis) for metric in asked(loaded.experiment))
    return [one for one in found if one is not None]


def _caption_of_metric(loaded: Loaded, metric: str) -> str:
    """Return a caption with the metric, the interval, and a warning if a model is simulated."""
    says, own = meaning(metric) or metric.replace("_", " "), metric_or_none(metric)
    interval = METHODS.get(own.interval, "") if own else ""
    bold = (
        f"Bold: the {'highest' if own.better == 'higher' else 'lowest'} of each column, as printed, ties included."
        if own and own.better
        else ""
    )
    parts = (
        f"{loaded.experiment.title.rstrip('.')}: {says}.",
        f"Mean over games with its 95 % interval{f' ({interval})' if interval else ''}; n: games, and their draws.",
        bold,
        SIMULATED * loaded.results.simulated,
    )
    return " ".join(filter(None, parts))


def _for_paper(table: BidderTable) -> Table:
    """Return a metric's table for print, the best in bold. The name of a source stands above its numbers."""
    with_condition = len({row.condition for row in table.rows}) > 1
    best = [table.best(column) for column in range(len(table.bidders))]
    unit = unit_of(table.metric)
    below = "" if unit in ("dollars", "number") else unit
    heads = [Column(Cell(name), numeric=False) for name in ("arm", *(["condition"] if with_condition else []))]
    heads += [Column(Cell("n")), *(Column(Cell(bidder or GAME, below)) for bidder in table.bidders)]
    rows: list[TableRow] = []
    for before, row in zip((None, *table.rows), table.rows, strict=False):
        if row.source and (before is None or before.source != row.source):
            rows.append((Cell(f"published: {row.source}"),))
        games = (row.games or NOTHING) + (f" in {counted(row.draws, 'draw')}" if row.draws else "")
        place = (row.arm, row.condition, games) if with_condition else (row.arm, games)
        numbers = (_number(one, unit, row.source, best[at]) for at, one in enumerate(row.numbers))
        rows.append((*map(Cell, place), *numbers))
    return Table(tuple(heads), tuple(rows))


def _number(one: Finding | None, unit: Unit, source: str, best: str) -> Cell:
    if one is None or one.value is None:
        return Cell(NOTHING)
    if source:
        return Cell(write_printed(one.value, unit))
    text = write(one.value, unit)
    return Cell(text, write_interval(one.low, one.high, unit), bold=text == best)


def _as_frame(table: BidderTable, simulated: bool) -> pd.DataFrame:
    """Return mean, low and high of each column, in the metric's unit, with the source of the numbers.

    `simulated`: the built-in model played. Published numbers are never simulated.
    """
    rows = []
    for row in table.rows:
        named: dict[str, str | float | bool | None] = {
            "arm": row.arm,
            "condition": row.condition,
            "published": row.source,
            "simulated": simulated and not row.source,
            "n": row.games,
            "draws": row.draws or "",
        }
        for bidder, one in zip(table.bidders, row.numbers, strict=True):
            for part in ("value", "low", "high"):
                named[f"{bidder or GAME} {'mean' if part == 'value' else part}"] = getattr(one, part, None)
        rows.append(named)
    return pd.DataFrame(rows)


FRAMES = (
    "games",
    "measurements",
    "estimates",
    "differences",
    "companions",
    "correlations",
    "ratings",
    "spreads",
    "variance",
)
"""Frames of `Loaded` that are exported."""
FORMULA = r"^([=+\-@\t\r\n＝＋－＠])"  # noqa: RUF001
"""Matches a text that a spreadsheet would run as a formula."""
LONGEST = 40
"""The greatest number of rows of a table on a page."""
CAPTIONS = {
    "comparisons": "planned comparisons, paired differences with 95 % intervals; p after Holm's correction too",
    "companions": "gains and losses of rivals and the seller in the planned comparisons, without tests",
    "correlations": "Spearman's correlations with 95 % intervals",
    "ratings": "TrueSkill ratings with 95 % intervals of mu",
    "spreads": "how much games of one draw differ, as standard deviations with 95 % intervals",
    "variance": "the share of variance that each source explains, with 95 % intervals",
}
"""Captions of the analysis tables."""
Write = Callable[[Loaded, Path], None]


def to_csv(loaded: Loaded, folder: Path) -> None:
    """Write each frame of an experiment, and each metric by arm and bidder, as a CSV file, in UTF-8.

    Texts may come from strangers, so a single quote goes before each that a spreadsheet would take for a formula.
    Numbers get none, and `harbor.evaluation.load` returns every text unchanged. Source: OWASP, "CSV Injection".
    """
    for name in FRAMES:
        _write_csv(_labelled(loaded, name), folder / f"{name}.csv")
    for table in _metric_tables(loaded):
        _write_csv(_as_frame(table, loaded.results.simulated), folder / f"table-{plain_name(table.metric)}.csv")


def _labelled(loaded: Loaded, name: str) -> pd.DataFrame:
    """Return a frame with the column `simulated`: whether the built-in model played in any game of the experiment."""
    frame: pd.DataFrame = getattr(loaded, name)
    return frame.assign(simulated=loaded.results.simulated)


def _write_csv(frame: pd.DataFrame, file: Path) -> None:
    file.write_bytes(as_csv(frame).encode())


def as_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV without any text that a spreadsheet would run as a formula."""
    inert = frame.replace(FORMULA, r"'\1", regex=True).rename(columns=lambda name: re.sub(FORMULA, r"'\1", name))
    # the line ends of RFC 4180 make pandas quote a carriage return inside a text, too
    return str(inert.to_csv(index=False, lineterminator="\r\n"))


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
        _labelled(loaded, name).to_parquet(folder / f"{name}.parquet", engine="pyarrow", index=False)


def to_latex(loaded: Loaded, folder: Path) -> None:
    """Write the table of each metric and of each analysis as a file to be input, and `preview.tex`, which shows all.

    Letters that pdfLaTeX's fonts lack become "?"; one warning names them.
    """
    written = {}
    for one in _metric_tables(loaded):
        name = plain_name(one.metric)
        written[f"table-{name}"] = latex(_for_paper(one), _caption_of_metric(loaded, one.metric), name)
    for name, table in listings.of_analysis(loaded.analysis, loaded.experiment).items():
        written[name] = latex(table, _caption(loaded, name), name)
    files = [folder / f"{name}.tex" for name in written]
    for file, text in zip(files, written.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    (folder / "preview.tex").write_text(preview(files), encoding="utf-8")
    _warn_of_lost(loaded)


def plain_name(text: str) -> str:
    """Return a text as a name for a file and a LaTeX label.

    >>> plain_name("priority_initial ~ bids")
    'priority-initial-with-bids'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", text.replace("~", "with")).strip("-") or "unnamed"


def latex(table: Table, caption: str, label: str) -> str:
    """Return a table as LaTeX tables, each short enough for a page. A row of one cell is the head of those below it."""
    across = len(table.columns)
    heads = [_tex(column.head) for column in table.columns]
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    parts = list(_parts(table))
    return "\n".join(
        floating(
            heads,
            [[_tex(cell) for cell in row] if len(row) == across else [_across(row[0], across)] for row in part],
            columns,
            f"{caption} ({place} of {len(parts)})" if len(parts) > 1 else caption,
            f"{label}-{place}" if place > 1 else label,
        )
        for place, part in enumerate(parts, 1)
    )


def _parts(table: Table) -> Iterator[list[TableRow]]:
    """Split the rows among pages. If a group continues on the next page, its head stands there again."""
    head: list[TableRow] = []
    for first in range(0, len(table.rows), LONGEST):
        part = [*table.rows[first : first + LONGEST]]
        heads = [row for row in part if len(row) < len(table.columns)]
        yield part if part[0] in heads else head + part
        head = heads[-1:] or head


def _caption(loaded: Loaded, name: str) -> str:
    simulated = f" {SIMULATED}" if loaded.results.simulated else ""
    return f"{loaded.experiment.title.rstrip('.')}: {CAPTIONS[name]}.{simulated}"


def _tex(cell: Cell) -> str:
    """Return a cell on one line, its lower line in parentheses or smaller. Write the name of a metric as words."""
    text = cell.text.replace("_", " ") if metric_or_none(cell.text) else cell.text
    if cell.below and not cell.is_interval:
        return escaped(f"{text[:-1]}, {cell.below})" if text.endswith(")") else f"{text} ({cell.below})")
    written = rf"\textbf{{{escaped(text)}}}" if cell.bold else escaped(text)
    return rf"{written} {{\scriptsize {escaped(cell.below)}}}" if cell.below else written


def _across(cell: Cell, columns: int) -> str:
    return rf"\multicolumn{{{columns}}}{{@{{}}l@{{}}}}{{\emph{{{escaped(cell.text)}}}}}"


def _warn_of_lost(loaded: Loaded) -> None:
    if lost := unknown_letters(loaded.experiment.model_dump_json()):
        warnings.warn(f"pdfLaTeX's fonts lack {' '.join(lost)}: they are '?' in the tables", stacklevel=2)


EXPORTS: dict[str, Write] = {"csv": to_csv, "parquet": to_parquet, "latex": to_latex}
"""The formats by name. Each writes files of fixed names into an existing folder."""
