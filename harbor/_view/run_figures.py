"""The pictures of a run as figures for a paper: the marks of its page, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harbor._core.errors import ConfigError
from harbor._core.events import LogOpened
from harbor._core.finding import command
from harbor._core.layout import auction_logs
from harbor._core.log import of_type
from harbor._core.log_lines import Entry, is_over
from harbor._games.board import GuardedBoard
from harbor._games.drawn import Mark, Picture
from harbor._games.game import Game
from harbor._view.run_data import places_of, seats_of
from harbor._view.run_record import RunRecord, read_run
from harbor._view.thought_marks import PICTURES, ThoughtMarks
from harbor.evaluation._metrics.lineup import is_simulated
from harbor.evaluation._report.canvas import Drawing
from harbor.evaluation._report.mark_panels import Part, run_figure
from harbor.evaluation._report.paper_tables import SIMULATED


def run_drawings(run: Path) -> dict[str, Drawing]:
    """Give the pictures of a run that have marks, by name, with nothing drawn yet.

    Raises:
        RunFolderError: there is no log.
        LogError: nothing of it can be read.
        ConfigError: nothing of it is drawn, or it is a series.
    """
    if auctions := auction_logs(run):
        inside = str(auctions[0].parent)
        raise ConfigError(f"{str(run)!r} is a series; give the folder of one of its auctions, such as {inside!r}")
    record = read_run(run)
    found = list(_pictures(record.game, record.entries)) if record.game else []
    if not found:
        raise ConfigError(f"{str(run)!r} has no picture: nothing in its log is drawn; see: {command()} view")
    seats, caption = seats_of(record.entries), _caption(record)
    return {picture.name: run_figure(picture, parts, seats, caption) for picture, parts in found}


def _pictures(game: Game, entries: Sequence[Entry]) -> Iterator[tuple[Picture, list[Part]]]:
    """Give each picture that has marks, and its marks by parts; what is before the first part belongs to it."""
    board, thoughts = GuardedBoard(game.name, game.board), ThoughtMarks()
    starts = [(seq, name) for seq, kind, name in places_of(entries) if kind == "part"] or [(0, "")]
    marks: list[tuple[int, Mark]] = []
    place = 0
    for seq, _, event in entries:
        place += place + 1 < len(starts) and starts[place + 1][0] <= seq
        board.note(event)
        marks += [(place, mark) for mark in (*board.marks(event), *thoughts.marks(event))]
    for picture in (*board.pictures, *PICTURES):
        parts: dict[tuple[int, str], list[Mark]] = {}
        for place, mark in marks:
            if mark.picture == picture.name:
                parts.setdefault((place if picture.of_part else -1, mark.panel), []).append(mark)
        named = [(starts[place][1] if picture.of_part else "", panel, own) for (place, panel), own in parts.items()]
        if named:
            yield picture, [(" · ".join(filter(None, (part, panel))), own) for part, panel, own in named]


def _caption(record: RunRecord) -> str:
    """Say which run it is of, how to read its marks, and what is not there."""
    opened = next(iter(of_type(record.entries[:1], LogOpened)), None)
    name, game = opened.run if opened else record.folder.name, record.game.name if record.game else ""
    told = (
        f"One game ({game}); source: the log of {name}.",
        "Solid and filled: what happened. Dashed and open: what bidders thought or aimed at, and theory.",
        "" if is_over(record.entries) else "The game is not over.",
        SIMULATED * is_simulated(record.entries),
    )
    return " ".join(filter(None, told))
