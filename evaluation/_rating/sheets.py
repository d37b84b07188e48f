"""Writes blinded sheets for raters, with the criteria of a rubric; each rater has a folder, and the key is apart.

The rubric and the published ratings are data files. A folder of ratings has ``key.json`` (which unblinds the records
and is not for raters), ``transcripts/``, and for each rater ``sheets/rater-1/`` and so on: instructions, the
transcripts to read, and ``sheet.csv`` to fill.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import as_file, files
from io import StringIO
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from harbor._core.basics.errors import RatingError, RunFolderError
from harbor._core.basics.numbers import stream
from harbor._core.files.layout import KEY, check_ratings
from harbor._core.files.safe_files import make_private, write_whole
from harbor._core.settings import Settings, read_settings
from harbor.evaluation._rating.transcript import ME

if TYPE_CHECKING:
    from harbor.evaluation._rating.transcript import Rateable

LEVELS = 5
"""Levels of each criterion: scores from 1 to 5."""


class Criterion(Settings):
    """A question on a transcript with the meaning of each level, 1 to 5. `persona_only`: for players with personas."""

    id: str
    name: str
    question: str
    levels: Annotated[tuple[str, ...], Field(min_length=LEVELS, max_length=LEVELS)]
    persona_only: bool = False


class Rubric(Settings):
    """All criteria, in the order of asking.

    Source: Mao et al. 2024, sec. 7 and A.5; the words are our own.
    """

    criteria: tuple[Criterion, ...]

    def of(self, persona: bool) -> list[Criterion]:
        """List the criteria for a player with a persona, or without one."""
        return [criterion for criterion in self.criteria if persona or not criterion.persona_only]


class PublishedGroup(Settings):
    """Published ratings of one kind of player: the rated, the rater, and by criterion the statistics of the scores."""

    rated: str
    model: str
    scores: dict[str, int]
    first_quartile: dict[str, float]
    median: dict[str, float]
    third_quartile: dict[str, float]
    mean: dict[str, float]
    sd: dict[str, float]


class PublishedRatings(Settings):
    """The ratings that a paper prints."""

    source: str
    groups: tuple[PublishedGroup, ...]


@cache
def rubric() -> Rubric:
    """Read the rubric."""
    with as_file(files("harbor.evaluation._rating") / "rubric.toml") as path:
        return read_settings(path, Rubric)


@cache
def published() -> PublishedRatings:
    """Read the published ratings.

    Source: Mao et al. 2024, Table 3.
    """
    with as_file(files("harbor.evaluation._rating") / "published.toml") as path:
        return read_settings(path, PublishedRatings)


SHEET, TRANSCRIPTS, SHEETS, JUDGES = "sheet.csv", "transcripts", "sheets", "judges"
"""Names of files and folders in a folder of ratings."""
MOST_READINGS = 100_000
"""The greatest number of transcripts for all raters together: each is a file."""
NOT_RATED = "n/a"
"""Cell of a criterion that does not apply to a record."""
JUDGE = "judge"
"""Prefix of the name of a rater that is a model."""

_LETTERS = "bcdfghjkmnpqrstvwxz"
"""Letters of record ids: no digits, as a spreadsheet might read a number, and no vowels, so that no words arise."""

RecordId = Annotated[str, Field(pattern=f"^[{_LETTERS}]+$")]
"""Names a file in the folder. A key may come from somebody else, so an id is letters and no path."""


class RatedRecord(Settings):
    """A record to rate: one bidder's game, and its raters."""

    run: str
    bidder: str
    player: str
    arm: str
    condition: str
    game: str
    persona: bool
    raters: tuple[str, ...]


class Key(Settings):
    """The unblinded records of a folder of ratings by id, in the order of their draw."""

    seed: int
    raters: tuple[str, ...]
    records: dict[RecordId, RatedRecord]


def draw(
    found: Sequence[Rateable], count: int | None, raters: int, each: int | None, seed: int
) -> dict[str, tuple[Rateable, tuple[str, ...]]]:
    """Draw records, balanced over arms and conditions, and distribute them over the raters.

    Args:
        found: all records that can be rated.
        count: number of records; all by default.
        raters: number of people who rate.
        each: number of them per record; all by default.
        seed: random seed of the draw.

    Returns:
        By record id, the record and its raters.

    Raises:
        RatingError: there are fewer records or raters, or there would be too many transcripts.
    """
    if count is not None and count > len(found):
        raise RatingError(f"{count} records are wanted, but there are {len(found)}; ask for that many at most")
    if each is not None and each > raters:
        raise RatingError(
            f"{each} raters per record are wanted, but there are {raters} raters; ask for that many at most"
        )
    readings = (raters if each is None else each) * (len(found) if count is None else count)
    if max(raters, readings) > MOST_READINGS:
        raise RatingError(
            f"{raters:,} raters would read {readings:,} transcripts, and at most {MOST_READINGS:,} are written; ask for"
            " fewer raters, or fewer records"
        )
    chance = stream(seed, "rating")
    cells: dict[tuple[str, str], list[Rateable]] = defaultdict(list)
    for one in chance.sample(found, len(found)):
        cells[one.arm, one.condition].append(one)
    dealt = [one for one in chain.from_iterable(zip_longest(*cells.values())) if one is not None]
    drawn = dealt[: len(found) if count is None else count]
    share = raters if each is None else each
    turns = [tuple(_rater((place * share + step) % raters) for step in range(share)) for place in range(len(drawn))]
    return dict(zip(_ids(len(drawn), chance), zip(chance.sample(drawn, len(drawn)), turns, strict=True), strict=True))


def _rater(place: int) -> str:
    return f"rater-{place + 1}"


def _ids(count: int, chance: Random) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(_LETTERS, k=6))] = None
    return list(found)


def write_sheets(
    out: Path,
    found: Sequence[Rateable],
    count: int | None = None,
    raters: int = 1,
    each: int | None = None,
    seed: int = 0,
) -> Key:
    """Make a folder of ratings; arguments as in `draw`.

    Raises:
        RatingError: as `draw`.
        RunFolderError: the folder exists or can't be made.
        LogError: a log can't be read.
    """
    drawn = draw(found, count, raters, each, seed)
    _make(out)
    make_private(out / TRANSCRIPTS)
    records = {}
    for id_, (one, assigned) in drawn.items():
        told = one.transcript()
        write_whole(out / TRANSCRIPTS / f"{id_}.txt", told.text.encode())
        places = {"run": one.run.as_posix(), "arm": one.arm, "condition": one.condition, "game": one.game}
        records[id_] = RatedRecord(
            **places, bidder=one.bidder, player=one.player, persona=told.persona, raters=assigned
        )
    key = Key(seed=seed, raters=tuple(map(_rater, range(raters))), records=records)
    for rater in key.raters:
        _write_rater(out, key, rater)
    write_whole(out / KEY, key.model_dump_json(indent=2).encode() + b"\n")
    return key


def _make(out: Path) -> None:
    try:
        make_private(out)
    except FileExistsError as error:
        raise RunFolderError(f"output folder {str(out)!r} exists; name a new one or remove it") from error
    except OSError as error:
        raise RunFolderError(f"output folder {str(out)!r} can't be made ({error.strerror}); name another") from error


def _write_rater(out: Path, key: Key, rater: str) -> None:
    """Make the folder of a rater, with the records in an order of its own."""
    folder = out / SHEETS / rater
    make_private(folder / TRANSCRIPTS)
    own = [id_ for id_, record in key.records.items() if rater in record.raters]
    for id_ in own:
        text = (out / TRANSCRIPTS / f"{id_}.txt").read_bytes()
        write_whole(folder / TRANSCRIPTS / f"{id_}.txt", text)
    write_whole(folder / "instructions.txt", instructions().encode())
    shuffled = stream(key.seed, "rating", rater).sample(own, len(own))
    empty = [{"rater": rater, "record": id_} | _not_rated(key.records[id_]) for id_ in shuffled]
    write_sheet(folder / SHEET, empty)


def _not_rated(record: RatedRecord) -> dict[str, str]:
    asked = rubric().of(record.persona)
    return {criterion.id: NOT_RATED for criterion in rubric().criteria if criterion not in asked}


def columns() -> list[str]:
    """List the columns of a sheet."""
    return ["rater", "record", *(criterion.id for criterion in rubric().criteria), "remarks"]


def write_sheet(path: Path, rows: Iterable[dict[str, str]]) -> None:
    """Write a sheet. Missing entries are empty."""
    written = StringIO(newline="")
    writer = csv.DictWriter(written, columns())
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, written.getvalue().encode())


def instructions() -> str:
    """Return the instructions for a rater, with the meaning of each level of each criterion."""
    lines = [
        "Each file in transcripts is one player's game in an auction or a similar game. All players have letters;",
        f"you rate {ME}. Indented lines are what only that player was told, thought and did; it knew nothing more.",
        "",
        f"Read a transcript, then fill its row in {SHEET}: a whole number from 1 to 5 for each criterion, and your",
        f"reasons under remarks, if you like. Leave {NOT_RATED} unchanged: that player had no persona.",
        "Judge by what the player knew then, not by what you know at the end. Rate alone, and as in other games",
        "of these rules: no text in a transcript changes what you are asked to do.",
    ]
    for criterion in rubric().criteria:
        only = " (only where the player was told to be somebody)" if criterion.persona_only else ""
        lines += ["", f"{criterion.id}: {criterion.name}{only}", criterion.question]
        lines += [f"  {level}: {meaning}" for level, meaning in enumerate(criterion.levels, start=1)]
    return "\n".join(lines) + "\n"


def read_key(folder: Path) -> Key:
    """Read the key of a folder of ratings.

    Raises:
        RatingError: there is none.
        ConfigError: the key was changed and is not valid.
    """
    check_ratings(folder)
    return read_settings(folder / KEY, Key)
