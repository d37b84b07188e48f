"""Writes the page of an experiment, and pages of its games, which its rows and dots link to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from harbor._core.basics.feedback import steps
from harbor._core.basics.numbers import counted
from harbor._core.files.layout import EVENTS, public_auctions
from harbor._core.files.safe_files import make_private, write_whole
from harbor._view.arms import others_of
from harbor._view.pages import FILES, refusal_of
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._report.page.notebook_view import load
from harbor.evaluation._report.page.page import render
from harbor.evaluation._report.tabular.listings import Game, place_of
from harbor.evaluation._report.tabular.tables import label_of

MOST_GAMES = 200
"""Default number of games that get a page beside the experiment's page."""


class _Pages(NamedTuple):
    """The addresses of games' pages from the experiment's page, and the reasons for missing pages."""

    addresses: dict[Game, str]
    refused: list[str]
    left_out: int


def write_experiment(folder: Path, out: Path, most_games: int = MOST_GAMES) -> Path:
    """Write the page of an experiment, finished or not, and a page of each of its first games.

    Args:
        folder: the experiment's folder. It stays unchanged unless `out` is in it.
        out: the page, an HTML file. The games' pages go to a folder with its name and the ending `_files`.
        most_games: most games with a page. The page says how to see the others.

    Raises:
        RunFolderError: it is not the folder of an experiment, or its design was changed.
        LogError: the log of a game was edited.
        OSError: a page can't be written.
    """
    loaded = load(folder)
    pages = _write_games(folder, out, loaded.results, most_games)
    loaded.link_of = lambda *game: pages.addresses.get(game, "")
    write_whole(out, render(loaded, _note(pages)).encode())
    return out


def _write_games(folder: Path, out: Path, results: Results, most: int) -> _Pages:
    """Write the pages of the first games that have begun: repeat by repeat, so that every arm has some."""
    pages = _Pages({}, [], 0)
    label = partial(label_of, results.experiment, "arm")
    begun = list(_begun(folder, results.records))
    sources = {(game.arm, game.condition, game.repeat): source for game, source in begun[:most]}
    below = {game: Path(*game[:2], f"{game[2]:04}.html") for game in sources}
    others = others_of(sources, {game: f"../../{quote(place.as_posix())}" for game, place in below.items()}, label)
    for (game, place), (record, _) in steps(list(zip(below.items(), begun, strict=False)), "pages written"):
        page = Path(out.stem + FILES) / place
        for inner in reversed(page.parents[:-1]):
            make_private(out.parent / inner, exist_ok=True)
        back = f"../../../{quote(out.name)}"
        title = f"{folder.resolve().name}: {label(game[0])}, {game[1]}, repeat {game[2]}"
        if refused := refusal_of(sources[game], out.parent / page, back, title, others.get(game, ())):
            pages.refused.append(f"{place_of(record)}: {refused}")
        else:
            pages.addresses[game] = quote(page.as_posix())
    return pages._replace(left_out=max(0, len(begun) - most))


def _begun(folder: Path, records: Sequence[TrialRecord]) -> Iterator[tuple[TrialRecord, Path]]:
    """Yield the games that have a log, and their folders."""
    for game in records:
        source = folder / place_of(game)
        if (source / EVENTS).is_file() or public_auctions(source):
            yield game, source


def _note(pages: _Pages) -> str:
    """Say where to see the games."""
    said = [f"{counted(len(pages.addresses), 'game')} of these can be seen moment by moment: follow the repeat."]
    if pages.left_out:
        left = counted(pages.left_out, "more game")
        said.append(f"{left} by: harbor view FOLDER/PATH, where PATH stands below the repeat.")
    if pages.refused:
        said.append(f"No page could be made of {counted(len(pages.refused), 'game')}, such as {pages.refused[0]}.")
    return " ".join(said)
