"""Merging the filled sheets of people and judge models: every entry is checked, then unblinded by the key."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from harbor._core.errors import RatingError, unknown
from harbor._core.parsing import printable
from harbor._core.sent_files import MOST_SETTINGS, read_sent
from harbor.evaluation._rating.rubric import LEVELS, Criterion, rubric
from harbor.evaluation._rating.sheets import (
    JUDGE,
    JUDGES,
    NOT_RATED,
    SHEET,
    SHEETS,
    Key,
    RatedRecord,
    columns,
    read_key,
)

PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Rating:
    """A rater's score of a record on a criterion, and what the record is."""

    rater: str
    record: str
    criterion: str
    score: int
    of: RatedRecord

    @property
    def source(self) -> str:
        """The kind of rater: "people", or a judge model with all its opinions."""
        return self.rater.partition("#")[0] if self.rater.startswith(f"{JUDGE}:") else PEOPLE


@dataclass(frozen=True, slots=True)
class MissingScores:
    """Criteria on which a rater did not score a record."""

    rater: str
    record: str
    criteria: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """All scores of a folder of ratings, and those that are missing from its sheets."""

    ratings: tuple[Rating, ...]
    missing: tuple[MissingScores, ...]

    @property
    def simulated(self) -> bool:
        """Whether the built-in model played or judged any of it."""
        return any("simulated" in (rating.of.player.split(" ")[0], _model(rating.source)) for rating in self.ratings)


def _model(source: str) -> str:
    return source.partition(":")[2]


def merge(folder: Path, sheets: Iterable[Path] = ()) -> Merged:
    """Merge the sheets of a folder of ratings.

    Args:
        folder: with the key.
        sheets: the files to merge; all in the folder by default.

    Raises:
        RatingError: there is no key or no sheet, or an entry of a sheet can't be used; it names the file and the line.
    """
    key = read_key(folder)
    paths = list(sheets) or sorted([*folder.glob(f"{SHEETS}/*/{SHEET}"), *folder.glob(f"{JUDGES}/*/{SHEET}")])
    if not paths:
        raise RatingError(f"{str(folder)!r} holds no {SHEET}; make some with harbor rate sheets or harbor rate judge")
    rows: dict[tuple[str, str], _Row] = {}
    for row in (row for path in paths for row in _rows(path, key)):
        twin = rows.setdefault((row.rater, row.record), row)
        if twin is not row:
            raise RatingError(f"{row.place}: {row.rater} has rated {row.record} already, at {twin.place}; drop one")
    raters = list(dict.fromkeys(rater for rater, _ in rows))
    ratings = tuple(rating for row in rows.values() for rating in row.ratings())
    return Merged(ratings, tuple(_missing(key, raters, ratings)))


def _missing(key: Key, raters: Sequence[str], ratings: Sequence[Rating]) -> Iterator[MissingScores]:
    given = {(rating.rater, rating.record, rating.criterion) for rating in ratings}
    for rater in raters:
        for id_, record in key.records.items():
            wanted = rubric().of(record.persona) if _assigned(rater, record) else []
            lacking = tuple(one.id for one in wanted if (rater, id_, one.id) not in given)
            if lacking:
                yield MissingScores(rater, id_, lacking)


def _assigned(rater: str, record: RatedRecord) -> bool:
    return rater.startswith(f"{JUDGE}:") or rater in record.raters


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a sheet, whose rater and record are known; `place` is its file and line."""

    place: str
    rater: str
    record: str
    of: RatedRecord
    cells: dict[str, str]

    def ratings(self) -> Iterator[Rating]:
        for criterion in rubric().criteria:
            score = self._score(criterion)
            if score is not None:
                yield Rating(self.rater, self.record, criterion.id, score, self.of)

    def _score(self, criterion: Criterion) -> int | None:
        """Read a score; None if the cell is empty, or rightly not rated."""
        cell = self.cells[criterion.id]
        if cell in ("", NOT_RATED):
            return None
        if criterion.persona_only and not self.of.persona:
            raise RatingError(
                f"{self.place}: {criterion.id} {cell!r}, but that player had no persona; leave it {NOT_RATED}"
            )
        number = float(cell) if cell.replace(".", "", 1).isdecimal() else 0.0
        if number not in range(1, LEVELS + 1):
            raise RatingError(
                f"{self.place}: {criterion.id} {cell!r} is no score; give a whole number from 1 to {LEVELS}"
            )
        return int(number)


def _rows(path: Path, key: Key) -> Iterator[_Row]:
    """Read a sheet, as a spreadsheet may have saved it: with commas, semicolons or tabs, and lines left empty."""
    try:
        text = read_sent(path, MOST_SETTINGS).decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise RatingError(f"sheet {str(path)!r} can't be read ({error.strerror}); give a filled {SHEET}") from error
    head = text.partition("\n")[0]
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    lacking = [name for name in columns()[:-1] if name not in (reader.fieldnames or ())]
    if lacking:
        raise RatingError(f"sheet {str(path)!r} has no column {lacking[0]!r}; restore its first line")
    for row in _whole(reader, path):
        cells = {name: printable((row[name] or "").strip()) for name in columns()[:-1]}
        if any(cells.values()):
            yield _checked(f"sheet {str(path)!r} line {reader.line_num}", cells, key)


def _whole(reader: csv.DictReader[str], path: Path) -> Iterator[dict[str, str | None]]:
    try:
        yield from reader
    except csv.Error as error:
        raise RatingError(f"sheet {str(path)!r} line {reader.line_num} is no row ({error}); mend it") from error


def _checked(place: str, cells: dict[str, str], key: Key) -> _Row:
    rater, id_ = cells["rater"], cells["record"]
    if id_ not in key.records:
        raise RatingError(f"{place}: {unknown('record', id_, key.records)}")
    if rater not in key.raters and not rater.startswith(f"{JUDGE}:"):
        raise RatingError(f"{place}: {unknown('rater', rater, key.raters)}")
    record = key.records[id_]
    if not _assigned(rater, record):
        raise RatingError(
            f"{place}: record {id_!r} is not for {rater}, but for {', '.join(record.raters)}; mend the row"
        )
    return _Row(place, rater, id_, record, cells)
