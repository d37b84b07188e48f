"""An experiment's findings are exported for papers and other programs: LaTeX tables, CSV and Parquet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.means import METHODS
from harbor.evaluation._metrics.measurement import Better, metric_or_none
from harbor.evaluation._report.tabular import listings
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
from harbor.evaluation._report.tabular.page_parts import Cell, Table
from harbor.evaluation._report.tabular.tables import Finding, asked, findings, label_of, meaning, published_numbers

SIMULATED = "Simulated: the built-in model played, and no language model."
GAME = "game"
"""The column of what is measured of a game and not of a bidder."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: an arm and a condition by their labels, whose numbers they are ("" for ours), and one number a column.

    `draws` counts the draws that games share; empty where each game is one of its own.
    """

    arm: str
    condition: str
    source: str
    games: str
    draws: str
    numbers: tuple[Finding | None, ...]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A metric by arm and condition (rows) and bidder (columns), ours first and then the published numbers."""

    metric: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def better(self) -> Better:
        """Which numbers are the better ones."""
        own = metric_or_none(self.metric)
        return own.better if own else ""


def paper_tables(loaded: Loaded) -> list[PaperTable]:
    """Make the table of each metric that has numbers for whole games."""
    found = (_table(loaded, metric) for metric in asked(loaded.experiment))
    return [one for one in found if one is not None]


def _table(loaded: Loaded, metric: str) -> PaperTable | None:
    own = [
        one
        for one in findings(metric, loaded.analysis)
        if one.place.at is None and not one.place.about and one.value is not None
    ]
    if not own:
        return None
    columns = tuple(dict.fromkeys(one.place.bidder for one in own))
    rows = [*_rows(loaded, own, columns, ""), *_published_rows(loaded, metric, own, columns)]
    return PaperTable(metric, _caption_of_table(loaded, metric), columns, tuple(rows))


def _rows(loaded: Loaded, found: Sequence[Finding], columns: Sequence[str], source: str) -> list[Row]:
    rows = []
    for arm, condition in dict.fromkeys((one.place.arm, one.place.condition) for one in found):
        here = {one.place.bidder: one for one in found if (one.place.arm, one.place.condition) == (arm, condition)}
        games = sorted({one.games for one in here.values() if one.games})
        span = "" if not games else str(games[0]) if len(games) == 1 else f"{games[0]} to {games[-1]}"
        draws = max(one.draws for one in here.values())
        shared = str(draws) if 0 < draws < max(games, default=0) else ""
        arm_label, condition_label = (
            label_of(loaded.experiment, kind, name) for kind, name in (("arm", arm), ("condition", condition))
        )
        rows.append(
            Row(arm_label, condition_label, source, span, shared, tuple(here.get(bidder) for bidder in columns))
        )
    return rows


def _published_rows(loaded: Loaded, metric: str, own: Sequence[Finding], columns: Sequence[str]) -> list[Row]:
    rows = []
    for one, values in published_numbers(metric, own, loaded.experiment).items():
        printed = [
            Finding(place, value.value, None, None, one.games(value) or 0)
            for place, value in values.items()
            if place.at is None and not place.about and place.bidder in columns
        ]
        rows += _rows(loaded, printed, columns, f"{one.produced_by}, {one.source}")
    return rows


def _caption_of_table(loaded: Loaded, metric: str) -> str:
    """Say what the numbers are, and by which interval; that a model is simulated is said first of all."""
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


def in_latex(table: PaperTable, label: str) -> str:
    """Write it as a table of LaTeX; a rule parts ours from each source of published numbers."""
    with_condition = len({row.condition for row in table.rows}) > 1
    best, groups = _best(table), dict[str, list[list[str]]]()
    for row in table.rows:
        cells = [
            escaped(row.arm),
            *([escaped(row.condition)] if with_condition else []),
            (row.games or "--") + (f" in {counted(int(row.draws), 'draw')}" if row.draws else ""),
        ]
        numbers = [_number(table, row, place, best[place]) for place in range(len(table.columns))]
        groups.setdefault(row.source, []).append([*cells, *numbers])
    heads = ["arm", *(["condition"] if with_condition else []), "n"]
    heads += [escaped(_column(one)) + _unit(table.metric) for one in table.columns]
    for source, rows in groups.items():
        if source:
            rows.insert(0, [rf"\multicolumn{{{len(heads)}}}{{@{{}}l@{{}}}}{{\emph{{published: {escaped(source)}}}}}"])
    columns = "l" * (1 + with_condition) + "r" * (1 + len(table.columns))
    return floating(heads, groups.values(), columns, table.caption, label)


def _column(bidder: str) -> str:
    return bidder or GAME


def _unit(metric: str) -> str:
    unit = unit_of(metric)
    return "" if unit in ("dollars", "number") else f" ({escaped(unit)})"


def _best(table: PaperTable) -> list[str]:
    """Write the best of our numbers in each column; empty where none is better than others."""
    found = []
    for place in range(len(table.columns)):
        own = [one.value for row in table.rows if not row.source and (one := row.numbers[place]) is not None]
        values = [value for value in own if value is not None]
        best = (max if table.better == "higher" else min)(values) if table.better and len(set(values)) > 1 else None
        found.append("" if best is None else write(best, unit_of(table.metric)))
    return found


def _number(table: PaperTable, row: Row, place: int, best: str) -> str:
    """Write a number and, below it and smaller, its interval."""
    one, unit = row.numbers[place], unit_of(table.metric)
    if one is None or one.value is None:
        return escaped(NOTHING)
    if row.source:
        return escaped(write_printed(one.value, unit))
    text, interval = write(one.value, unit), write_interval(one.low, one.high, unit)
    number = rf"\textbf{{{escaped(text)}}}" if text == best else escaped(text)
    return rf"{number} {{\scriptsize {escaped(interval)}}}" if interval else number


def in_csv(table: PaperTable, simulated: bool) -> pd.DataFrame:
    """Give it as a frame: mean, low and high of each column, in the metric's unit, and whose numbers they are.

    `simulated`: the built-in model played; published numbers are never simulated.
    """
    rows = []
    for row in table.rows:
        named: dict[str, str | float | bool | None] = {
            "arm": row.arm,
            "condition": row.condition,
            "published": row.source,
            "simulated": simulated and not row.source,
            "n": row.games,
            "draws": row.draws,
        }
        for bidder, one in zip(table.columns, row.numbers, strict=True):
            for part in ("value", "low", "high"):
                named[f"{_column(bidder)} {'mean' if part == 'value' else part}"] = getattr(one, part, None)
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
FORMULA = r"^([=+\-@\t\r\n＝＋－＠])"  # noqa: RUF001
"""Matches a text that a spreadsheet would run as a formula."""
LONGEST = 40
"""The most rows of a table on a page."""
CAPTIONS = {
    "comparisons": "planned comparisons, paired differences with 95 % intervals; p after Holm's correction too",
    "companions": "what rivals and the seller gain or lose in the planned comparisons, without tests",
    "correlations": "Spearman's correlations with 95 % intervals",
    "ratings": "TrueSkill ratings with 95 % intervals of mu",
    "spreads": "how much games of one draw differ, as standard deviations with 95 % intervals",
    "variance": "the share of variance that each source explains, with 95 % intervals",
}
Write = Callable[[Loaded, Path], None]


def to_csv(loaded: Loaded, folder: Path) -> None:
    """Write each frame of an experiment, and each metric by arm and bidder, as a CSV file, in UTF-8.

    Names and errors are foreign text: a single quote is put before any that a spreadsheet would take for a formula.
    Numbers have none, and `harbor.evaluation.load` gives every text unchanged. Source: OWASP, "CSV Injection".
    """
    for name in FRAMES:
        _write_csv(_labelled(loaded, name), folder / f"{name}.csv")
    for table in paper_tables(loaded):
        _write_csv(in_csv(table, loaded.results.simulated), folder / f"table-{plain_name(table.metric)}.csv")


def _labelled(loaded: Loaded, name: str) -> pd.DataFrame:
    """Return a frame with the column `simulated`: whether the built-in model played in any game of the experiment."""
    frame: pd.DataFrame = getattr(loaded, name)
    return frame.assign(simulated=loaded.results.simulated)


def _write_csv(frame: pd.DataFrame, file: Path) -> None:
    inert = frame.replace(FORMULA, r"'\1", regex=True).rename(columns=lambda name: re.sub(FORMULA, r"'\1", name))
    # with the line ends of RFC 4180 a carriage return inside a text is quoted too
    inert.to_csv(file, index=False, encoding="utf-8", lineterminator="\r\n")


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

    Letters that pdfLaTeX's fonts lack are "?"; one warning names them.
    """
    written = {f"table-{plain_name(one.metric)}": in_latex(one, plain_name(one.metric)) for one in paper_tables(loaded)}
    for name, table in listings.of_analysis(loaded.analysis, loaded.experiment).items():
        written[name] = latex(table, _caption(loaded, name), name)
    files = [folder / f"{name}.tex" for name in written]
    for file, text in zip(files, written.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    (folder / "preview.tex").write_text(preview(files), encoding="utf-8")
    _warn_of_lost(loaded)


def plain_name(text: str) -> str:
    """Give a name that a file and a label of LaTeX may have.

    >>> plain_name("priority_initial ~ bids")
    'priority-initial-with-bids'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", text.replace("~", "with")).strip("-") or "unnamed"


def latex(table: Table, caption: str, label: str) -> str:
    """Write a table of the report as tables of LaTeX, each short enough for a page."""
    heads = [_tex(column.head) for column in table.columns]
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    rows = [[_tex(cell) for cell in row] for row in table.rows]
    parts = [rows[first : first + LONGEST] for first in range(0, len(rows), LONGEST)]
    return "\n".join(
        floating(
            heads,
            [part],
            columns,
            f"{caption} ({place} of {len(parts)})" if len(parts) > 1 else caption,
            f"{label}-{place}" if place > 1 else label,
        )
        for place, part in enumerate(parts, 1)
    )


def _caption(loaded: Loaded, name: str) -> str:
    simulated = f" {SIMULATED}" if loaded.results.simulated else ""
    return f"{loaded.experiment.title.rstrip('.')}: {CAPTIONS[name]}.{simulated}"


def _tex(cell: Cell) -> str:
    """Put a cell on one line, its lower line in parentheses; a name of a metric is read as words."""
    text = cell.text.replace("_", " ") if metric_or_none(cell.text) else cell.text
    if cell.is_interval or not cell.below:
        return escaped(f"{text} {cell.below}".strip())
    return escaped(f"{text[:-1]}, {cell.below})" if text.endswith(")") else f"{text} ({cell.below})")


def _warn_of_lost(loaded: Loaded) -> None:
    if lost := unknown_letters(loaded.experiment.model_dump_json()):
        warnings.warn(f"pdfLaTeX's fonts lack {' '.join(lost)}: they are '?' in the tables", stacklevel=2)


EXPORTS: dict[str, Write] = {"csv": to_csv, "parquet": to_parquet, "latex": to_latex}
"""The formats by name; each writes files of fixed names into a folder that exists."""
