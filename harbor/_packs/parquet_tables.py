"""The events and the measurements of a public copy as Parquet tables."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harbor._core.log_lines import encode
from harbor._packs.contents import EVENTS_TABLE, MEASUREMENTS_TABLE
from harbor._packs.publishing import PublicGame

COLUMNS = {
    EVENTS_TABLE: {
        "game": "the folder of the game",
        "seq": "the number of the event in its game",
        "type": "what happened",
        "item": "what it is about, where it is about one item, day or run",
        "bidder": "whose act it is, where it is one bidder's",
        "fields": "all fields of the event, as JSON",
    },
    MEASUREMENTS_TABLE: {
        "game": "the folder of the game",
        "metric": "what was measured",
        "bidder": "whose it is; empty: the game's",
        "about": "its subject",
        "at": "its place in the game, from 1",
        "value": "the number; none where it is missing",
        "missing": "why it is missing",
    },
}
ROWS_AT_ONCE = 100_000
OF_LINES = ("seq", "at", "audience", "type", "digest")


class Tables:
    """Writes the tables of a public copy, game by game; a context manager."""

    def __init__(self, folder: Path) -> None:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        number, text, real = pyarrow.int64(), pyarrow.string(), pyarrow.float64()
        kinds = {"seq": number, "at": number, "value": real}
        self._table = pyarrow.table
        self._schemas = {
            name: pyarrow.schema([(column, kinds.get(column, text)) for column in columns])
            for name, columns in COLUMNS.items()
        }
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
        self._stack = ExitStack()
        self._writers = {
            name: self._stack.enter_context(ParquetWriter(folder / name, schema))
            for name, schema in self._schemas.items()
        }

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        for name in COLUMNS:
            self._flush(name)
        self._stack.close()

    def add(self, game: PublicGame) -> None:
        """Write the rows of one game."""
        self._rows[EVENTS_TABLE] += [_event(game.place, encode(entry, "")[0]) for entry in game.entries]
        self._rows[MEASUREMENTS_TABLE] += [
            (game.place, one.metric, one.bidder, one.about, one.at, one.value, one.missing) for one in game.measurements
        ]
        for name, rows in self._rows.items():
            if len(rows) >= ROWS_AT_ONCE:
                self._flush(name)

    def _flush(self, name: str) -> None:
        rows, self._rows[name] = self._rows[name], []
        columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS[name])
        self._writers[name].write_table(
            self._table(dict(zip(COLUMNS[name], columns, strict=True)), self._schemas[name])
        )


def _event(place: str, line: bytes) -> tuple[Any, ...]:
    fields = json.loads(line)
    own = {key: value for key, value in fields.items() if key not in OF_LINES}
    item, bidder = (own.get(key) if isinstance(own.get(key), str) else None for key in ("item", "bidder"))
    return place, fields["seq"], fields["type"], item, bidder, json.dumps(own, ensure_ascii=False)
