"""Checks filled sheets, unblinds them by the key, and returns scores by criterion and the agreement of raters."""

from __future__ import annotations

import csv
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from harbor._core.basics.actions import printable
from harbor._core.basics.errors import RatingError, unknown
from harbor._core.files.safe_files import MOST_SETTINGS, read_sent
from harbor.evaluation._rating.sheets import (
    JUDGE,
    JUDGES,
    LEVELS,
    NOT_RATED,
    SHEET,
    SHEETS,
    Criterion,
    Key,
    RatedRecord,
    columns,
    read_key,
    rubric,
)

PEOPLE = "people"
"""Source of the scores of all people together."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A rater's score of a record on a criterion, with the unblinded record."""

    rater: str
    record: str
    criterion: str
    score: int
    of: RatedRecord

    @property
    def source(self) -> str:
        """Return the kind of rater: "people", or a judge model with all its opinions."""
        return self.rater.partition("#")[0] if self.rater.startswith(f"{JUDGE}:") else PEOPLE


@dataclass(frozen=True, slots=True)
class MissingScores:
    """Criteria on which a rater did not score a record."""

    rater: str
    record: str
    criteria: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """All scores of a folder of ratings, and the scores that are missing from its sheets."""

    ratings: tuple[Rating, ...]
    missing: tuple[MissingScores, ...]

    @property
    def simulated(self) -> bool:
        """Return whether the built-in model played or judged any rated record."""
        return any("simulated" in (rating.of.player.split(" ")[0], _model(rating.source)) for rating in self.ratings)


def _model(source: str) -> str:
    return source.partition(":")[2]


def merge(folder: Path, sheets: Iterable[Path] = ()) -> Merged:
    """Merge the sheets of a folder of ratings.

    Args:
        folder: the folder, with its key.
        sheets: files to merge; by default all in the folder.

    Raises:
        RatingError: there is no key or no sheet, or an entry of a sheet can't be used. The message names file and line.
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
    """A row of a sheet, with a known rater and record. `place` is its file and line."""

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
        """Return a score. None if the cell is empty or "n/a"."""
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
    """Yield the rows of a sheet, as any spreadsheet saves it: with commas, semicolons or tabs, and with empty lines."""
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


RESAMPLES = 500
"""Resamples of the records for an interval."""
SEED = 0
"""Seed of the resamples: the same scores give the same interval."""
MOST_UNDEFINED = 0.05
"""Largest share of resamples without alpha; above it there is no interval."""


@dataclass(frozen=True, slots=True)
class Rated:
    """One rater's score of one record."""

    rater: str
    record: str
    score: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of the records with two ratings or more (None: `undefined` has the reason).

    1 is full agreement, 0 agreement by chance, below 0 less. `low` and `high` bound the 95 % interval from
    resampled records (None: too few of them).
    """

    raters: int
    records: int
    alpha: float | None
    low: float | None
    high: float | None
    undefined: str = ""


def agreement(ratings: Iterable[Rated]) -> Agreement:
    """Return the agreement of raters.

    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability", with the ordinal metric difference.

    Raises:
        RatingError: nltk, which computes alpha, is not installed.
    """
    by_record: dict[str, list[Rated]] = defaultdict(list)
    for rated in ratings:
        by_record[rated.record].append(rated)
    pairable = [rated for rated in by_record.values() if len(rated) > 1]
    raters = len({one.rater for rated in pairable for one in rated})
    if not pairable:
        return Agreement(raters, 0, None, None, None, "no record was rated by two raters")
    if not _varied(pairable):
        return Agreement(
            raters, len(pairable), None, None, None, "all scores are equal: nothing tells chance from skill"
        )
    return Agreement(raters, len(pairable), alpha(pairable), *_interval(pairable))


def alpha(records: Sequence[Sequence[Rated]]) -> float:
    """Return Krippendorff's alpha of records with two ratings or more. The scores must not all be equal.

    Raises:
        RatingError: nltk, which computes alpha, is not installed.
    """
    try:
        from nltk.metrics.agreement import AnnotationTask
    except ImportError as error:
        raise RatingError("agreement between raters needs nltk; run: pip install 'harbor-auctions[rating]'") from error

    scores = Counter(one.score for rated in records for one in rated)
    triples = [(one.rater, place, one.score) for place, rated in enumerate(records) for one in rated]
    return float(AnnotationTask(triples, distance=ordinal(scores)).alpha())


def ordinal(scores: Counter[int]) -> Callable[[int, int], float]:
    """Return the ordinal difference: the number of scores between two levels, both ends counting half, squared."""

    def difference(one: int, other: int) -> float:
        low, high = sorted((one, other))
        between = sum(count for score, count in scores.items() if low <= score <= high)
        return (between - (scores[low] + scores[high]) / 2) ** 2

    return difference


def _interval(records: Sequence[Sequence[Rated]]) -> tuple[float | None, float | None]:
    """Return the percentile interval over resampled records. (None, None) if over 5 % of them have equal scores."""
    import numpy as np
    from scipy.stats import bootstrap

    def of(places: Sequence[int]) -> float:
        drawn = [records[place] for place in places]
        return alpha(drawn) if _varied(drawn) else float("nan")

    if len(records) < 2:
        return None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of resamples without alpha; they are counted below
        places, chance = (range(len(records)),), np.random.default_rng(SEED)
        found = bootstrap(places, of, n_resamples=RESAMPLES, vectorized=False, method="percentile", random_state=chance)
    drawn = found.bootstrap_distribution
    if np.isnan(drawn).mean() > MOST_UNDEFINED:
        return None, None
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def _varied(records: Sequence[Sequence[Rated]]) -> bool:
    return len({one.score for rated in records for one in rated}) > 1


@dataclass(frozen=True, slots=True)
class CriterionScores:
    """Scores on a criterion by one kind of rater ("people", or a judge model), in an arm ("": all).

    `low` and `high` bound the 95 % interval of the mean, cluster-robust by game, as the scores of one game,
    by several raters or of several bidders, are correlated (None: fewer than two games, or all scores equal).
    """

    criterion: str
    source: str
    arm: str
    players: tuple[str, ...]
    scores: int
    records: int
    games: int
    first_quartile: float
    median: float
    third_quartile: float
    mean: float
    sd: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """Agreement of the raters of one kind on a criterion ("all": people and judges together)."""

    criterion: str
    source: str
    agreement: Agreement


def scores(merged: Merged) -> list[CriterionScores]:
    """Return the scores of each criterion by kind of rater, over all arms and per arm."""
    cells: dict[tuple[str, str, str], list[Rating]] = defaultdict(list)
    for rating in merged.ratings:
        for arm in dict.fromkeys(("", rating.of.arm)):
            cells[rating.criterion, rating.source, arm].append(rating)
    order = [criterion.id for criterion in rubric().criteria]
    return [_described(*cell, cells[cell]) for cell in sorted(cells, key=lambda cell: (order.index(cell[0]), cell[1:]))]


def _described(criterion: str, source: str, arm: str, ratings: Sequence[Rating]) -> CriterionScores:
    import numpy as np

    from harbor.evaluation._analysis.means import clustered_mean

    values = [rating.score for rating in ratings]
    games = [rating.of.game for rating in ratings]
    first, median, third = (float(found) for found in np.quantile(values, [0.25, 0.5, 0.75]))
    found = clustered_mean(values, games, bounds=(1, LEVELS))
    return CriterionScores(
        criterion,
        source,
        arm,
        players=tuple(sorted({rating.of.player for rating in ratings})),
        scores=len(ratings),
        records=len({rating.record for rating in ratings}),
        games=len(set(games)),
        first_quartile=first,
        median=median,
        third_quartile=third,
        mean=float(np.mean(values)),
        sd=found.sd,
        low=found.low,
        high=found.high,
    )


def agreements(merged: Merged) -> list[CriterionAgreement]:
    """Return the agreement of raters on each criterion, per kind of rater and, if there are several, over all."""
    return [CriterionAgreement(*cell, agreement(rated)) for cell, rated in _rated(merged.ratings)]


def _rated(ratings: Sequence[Rating]) -> Iterator[tuple[tuple[str, str], list[Rated]]]:
    sources = sorted({rating.source for rating in ratings})
    for criterion in rubric().criteria:
        own = [rating for rating in ratings if rating.criterion == criterion.id]
        for source in (*sources, "all") if len(sources) > 1 else sources:
            chosen = [rating for rating in own if source in (rating.source, "all")]
            if chosen:
                yield (criterion.id, source), [Rated(one.rater, one.record, one.score) for one in chosen]
