"""The marks of pictures for each viewer of a page: those of the game's board, and those of what bidders thought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harbor._core.events import Event
from harbor._games.board import GuardedBoard
from harbor._games.drawn import Mark, Number, Picture, is_drawable
from harbor._games.game import Game
from harbor._view.shapes import MarkRow, PictureRow
from harbor._view.thought_marks import ThoughtMarks, pictures_of_thoughts


def pictures_drawn(game: Game | None) -> list[PictureRow]:
    """Give the pictures of a page; None: the game is not known, and nothing is drawn."""
    return [(one.name, one.title, one.x, one.y, one.scale, one.of_part, one.x_scale) for one in _pictures(game)]


def _pictures(game: Game | None) -> list[Picture]:
    return [*GuardedBoard(game.name, game.board).pictures, *pictures_of_thoughts(game)] if game else []


class Marks:
    """Gathers marks for all viewers; a mark that several see stands once.

    Args:
        game: that is shown.
        viewers: in the order of the head of the page.
    """

    def __init__(self, game: Game | None, viewers: Sequence[str]) -> None:
        self._places = {one.name: place for place, one in enumerate(_pictures(game))}
        self._thoughts = {viewer: ThoughtMarks(game) for viewer in viewers}

    def of(self, seq: int, event: Event, boards: Mapping[str, GuardedBoard]) -> list[MarkRow]:
        """Give the marks that an event adds; `boards` are those of the viewers who see it, and have noted it."""
        seen: dict[Mark, int] = {}
        for place, (viewer, thoughts) in enumerate(self._thoughts.items()):
            if viewer in boards:
                for mark in (*boards[viewer].marks(event), *filter(is_drawable, thoughts.marks(event))):
                    seen[mark] = seen.get(mark, 0) | 1 << place
        return [
            (seq, self._places[one.picture], one.panel, one.series, one.role, one.kind, _place(one.x), _number(one.y),
             _number(one.high), viewers)
            for one, viewers in seen.items()
            if one.picture in self._places
        ]  # fmt: skip


def _number(value: Number | None) -> float | None:
    return None if value is None else int(value) if value == int(value) else float(value)


def _place(value: Number | str | None) -> float | str | None:
    return value if isinstance(value, str) else _number(value)
