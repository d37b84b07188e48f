"""Entries, boards, decisions, texts and marks in chunks of limited size, which a page loads one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harbor._core.basics.feedback import steps
from harbor._core.log.events import Event, ModelCalled
from harbor._core.log.log_entries import Entry, is_seen_by, name_in_log
from harbor._games.board import GuardedBoard, Mark, Number, Picture, Shown, is_drawable
from harbor._games.game import Game
from harbor._models.replies.replay import RawCall
from harbor._view.conclusions import ThoughtMarks, pictures_of_thoughts
from harbor._view.entries import Decision, Decisions, fields_of, spell_of, words_of
from harbor._view.run_record import CallFile, RunRecord
from harbor._view.shapes import CallData, Chunk, DecisionData, EntryRow, MarkRow, PictureRow
from harbor.evaluation._metrics.calls import noted, notes_of


def pictures_drawn(game: Game | None) -> list[PictureRow]:
    """Return the pictures of a page, or none if the game is unknown."""
    return [(one.name, one.title, one.x, one.y, one.scale, one.of_part, one.x_scale) for one in _pictures(game)]


def _pictures(game: Game | None) -> list[Picture]:
    return [*GuardedBoard(game.name, game.board).pictures, *pictures_of_thoughts(game)] if game else []


class Marks:
    """Collects marks for all viewers. A mark that several viewers see is stored once.

    Args:
        game: the game on the page.
        viewers: the viewers, in the order of the page's head.
    """

    def __init__(self, game: Game | None, viewers: Sequence[str]) -> None:
        self._places = {one.name: place for place, one in enumerate(_pictures(game))}
        self._thoughts = {viewer: ThoughtMarks(game) for viewer in viewers}

    def of(self, seq: int, event: Event, boards: Mapping[str, GuardedBoard]) -> list[MarkRow]:
        """Return the marks that an event adds. `boards` are the boards of its viewers, which have noted the event."""
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


CHARACTERS = 1_000_000
"""The greatest number of characters of text in a chunk, not counting the text of its last entry."""
ANALYSTS = ""
"""The viewer that sees everything."""


class Chunks:
    """Makes the chunks of a run, in order. The boards carry over from one chunk to the next.

    Args:
        record: the data of the run.
        decisions: the decisions from its entries.
        viewers: the seats whose boards are made, or `ANALYSTS`.
    """

    def __init__(self, record: RunRecord, decisions: Decisions, viewers: Sequence[str]) -> None:
        self._calls, self._decisions = record.calls, decisions
        game = record.game
        self._game, self._spell = game, spell_of(game)
        self._boards = {viewer: GuardedBoard(game.name, game.board) for viewer in viewers} if game else {}
        self._marks = Marks(game, viewers)
        self._last: dict[str, Shown] = {}

    @property
    def complaints(self) -> list[str]:
        """The faults of the game's boards so far, each once."""
        return list(dict.fromkeys(board.complaint for board in self._boards.values() if board.complaint))

    def made_of(self, entries: Sequence[Entry], numbers: Sequence[int | None]) -> Iterator[Chunk]:
        """Yield the chunks of entries and of their decisions. There is at least one."""
        chunk = self._begun()
        for entry, decision in zip(steps(entries, "events shown"), numbers, strict=True):
            if chunk.size > CHARACTERS:
                yield chunk.data
                chunk = self._begun()
            self._add(chunk, entry, decision)
        yield chunk.data

    def of(self, entries: Sequence[Entry], numbers: Sequence[int | None], changed: Iterable[int]) -> Chunk:
        """Return one chunk with entries and with the decisions that have changed."""
        chunk = self._begun()
        for entry, decision in zip(entries, numbers, strict=True):
            self._add(chunk, entry, decision)
        for decision in changed:
            chunk.decide(decision, self._decisions.made[decision], self._calls)
        return chunk.data

    def _begun(self) -> _Chunk:
        return _Chunk(self._boards)

    def _add(self, chunk: _Chunk, entry: Entry, decision: int | None) -> None:
        seq, at, event = entry
        fields = list(fields_of(event, self._spell))
        words = words_of(event, self._game)
        chunk.enter((seq, round(at, 3), event.audience, name_in_log(event), words, fields, decision))
        seeing = {viewer: board for viewer, board in self._boards.items() if _sees(viewer, event)}
        for board in seeing.values():
            board.note(event)
        chunk.data["marks"] += self._marks.of(seq, event, seeing)
        for viewer, board in self._boards.items():
            before = self._last.get(viewer)
            shown = board.shown() if viewer in seeing else before or Shown()
            if shown != before or not chunk.data["boards"][viewer]:
                self._last[viewer] = shown
                chunk.show(viewer, seq, shown, before)
        if decision is not None:
            chunk.decide(decision, self._decisions.made[decision], self._calls)


class _Chunk:
    """A chunk that is being filled."""

    def __init__(self, viewers: Iterable[str]) -> None:
        self.data = _empty()
        self.data["boards"] = {viewer: [] for viewer in viewers}
        self.size = 0
        self._texts: dict[str, int] = {}

    def enter(self, row: EntryRow) -> None:
        self.data["entries"].append(row)
        self.size += len(row[4]) + sum(len(name) + len(text) for name, text in row[5])

    def show(self, viewer: str, seq: int, shown: Shown, before: Shown | None) -> None:
        """Add a board, or only its changed rows if the chunk already holds a board of the same shape."""
        frames = self.data["boards"][viewer]
        if before is None or not frames or _shape(before) != _shape(shown):
            rows = dict(enumerate(shown.rows))
            frames.append((seq, (shown.headline, shown.state, list(shown.columns), [list(row) for row in shown.rows])))
        else:
            rows = {at: row for at, row in enumerate(shown.rows) if row != before.rows[at]}
            frames.append((seq, (shown.headline, shown.state, {str(at): list(row) for at, row in rows.items()})))
        self.size += len(shown.headline) + len(shown.state) + sum(len(cell) for row in rows.values() for cell in row)

    def decide(self, place: int, decision: Decision, calls: CallFile) -> None:
        if str(place) in self.data["decisions"]:
            return
        told: DecisionData = {
            "bidder": decision.bidder,
            "what": decision.what,
            "item": decision.item,
            "round": decision.round,
            "calls": [self._call(event, None if at is None else calls.at(at)) for event, at in decision.calls],
            "beside": decision.beside,
        }
        self.data["decisions"][str(place)] = told

    def _call(self, event: ModelCalled, raw: RawCall | None) -> CallData:
        return {
            "attempt": event.attempt,
            "outcome": event.outcome,
            "model": event.model,
            "answered_by": event.answered_by,
            "prompt": [self._text(text) for text in raw.prompt] if raw else [],
            "reply": self._text(raw.reply) if raw else None,
            "error": raw.error if raw else "",
            "tokens": (event.input_tokens, event.cached_tokens, event.output_tokens, event.reasoning_tokens),
            "dollars": event.cost_dollars,
            "seconds": round(event.seconds, 3),
            "retries": event.retries,
            "cached": event.cached,
            "reasoning": self._text(raw.reasoning) if raw and raw.reasoning else None,
            "notes": list(notes_of(noted([event]), event.probes, event.lost, event.cost_dollars)),
        }

    def _text(self, text: str) -> int:
        """Return the index of a text in the chunk. Store each text once."""
        if text not in self._texts:
            self._texts[text] = len(self.data["texts"])
            self.data["texts"].append(text)
            self.size += len(text)
        return self._texts[text]


def _shape(shown: Shown) -> tuple[tuple[str, ...], int]:
    return shown.columns, len(shown.rows)


def raw_chunk(rows: Sequence[EntryRow]) -> Chunk:
    """Return a chunk of entries from a log that this Harbor can't read."""
    return {**_empty(), "entries": list(rows)}


def marks_alone(marks: list[MarkRow]) -> Chunk:
    """Return a chunk with marks alone: a page that loads its entries later needs all marks at once for its pictures."""
    return {**_empty(), "marks": marks}


def _empty() -> Chunk:
    return {"entries": [], "boards": {}, "marks": [], "decisions": {}, "texts": []}


def _sees(viewer: str, event: Event) -> bool:
    return viewer == ANALYSTS or is_seen_by(viewer, event)
