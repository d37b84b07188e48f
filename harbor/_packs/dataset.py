"""The dataset files of a public copy: a card, a citation, and Parquet tables of its events and measurements."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import counted
from harbor._core.faces import __version__
from harbor._core.log.log_entries import encode
from harbor._packs.contents import CARD, CITATION, EVENTS_TABLE, MEASUREMENTS_TABLE, Kind
from harbor._packs.publishing import PublicCopy, PublicGame

UNKNOWN_LICENSE, NOBODY_NAMED = "unknown", "unknown"
LICENSE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,60}")
LONGEST_LINE = 200
"""The greatest number of characters of an author's name or a title."""
SIZES = {0: "n<1K", 1_000: "1K<n<10K", 10_000: "10K<n<100K", 100_000: "100K<n<1M", 1_000_000: "1M<n<10M"}
"""Size classes of datasets on hubs, by their smallest number of rows."""
WHERE: dict[Kind, str] = {"run": "", "series": "*/", "experiment": "games/*/*/*/"}
LEFT_OUT = (
    "Left out: budgets, estimates and true values that were not announced, objectives, personas (unless the settings"
    " say that they are published), plans, reasons and other thoughts, memories, prompts, replies, failed bids, the"
    " seed, all times, tokens and costs, settings of models and of minds, why games failed, and every digest over any"
    " of these. Only public events are here, each as everyone in the room was told it, and settings and results that"
    " are listed as public. A result that needs private events is missing, with the reason; it is never 0. How often a"
    " bidder was asked again is public, as everyone heard it: it tells of failed bids, not what was wrong with them."
)
PAIRED = "Games of one repeat share their draws in all arms: what one arm announces may have been private in another."


@dataclass(frozen=True, slots=True)
class Credits:
    """The citation of a public copy: its license in a hub's spelling, its authors, and its title (empty: its own).

    Raises:
        ConfigError: the license is no license name, or an author or the title is no single line.
    """

    license: str = UNKNOWN_LICENSE
    authors: Sequence[str] = ()
    title: str = ""

    def __post_init__(self) -> None:
        if not LICENSE.fullmatch(self.license):
            raise ConfigError(f"license {self.license!r} is no name of a license; give one such as cc-by-4.0")
        for name in self.authors:
            if not name.strip() or not _is_line(name):
                raise ConfigError(f"author {name[:LONGEST_LINE]!r} is no name on one line; give one such as 'Ann Lee'")
        if not _is_line(self.title):
            raise ConfigError(f"title {self.title[:LONGEST_LINE]!r} is too long, or not on one line; shorten it")


def _is_line(text: str) -> bool:
    return text.isprintable() and len(text) <= LONGEST_LINE


def write_card(folder: Path, about: PublicCopy, tables: Mapping[str, Mapping[str, str]], credits_: Credits) -> None:
    """Write the card and the citation into a public copy. `tables` describes each column of each table."""
    (folder / CARD).write_text(card(about, tables, credits_.license), encoding="utf-8", errors="replace")
    (folder / CITATION).write_text(citation(about, credits_), encoding="utf-8", errors="replace")


def card(about: PublicCopy, tables: Mapping[str, Mapping[str, str]], license_: str) -> str:
    """Return the dataset card: a YAML header as on dataset hubs, and a description for readers."""
    size = list(SIZES.values())[bisect_right(list(SIZES), about.events) - 1]
    label = ["simulated"] if about.simulated else []
    files = {name: name for name in tables} or {"events": f"{WHERE[about.kind]}events.jsonl"}
    header = [
        "---",
        f"license: {license_}",
        "language: [en]",
        f"pretty_name: {_quoted(about.title)}",
        f"size_categories: ['{size}']",
        f"tags: {json.dumps(['auctions', 'agents', 'harbor', *label])}",
        "configs:",
        *(f"- config_name: {name.partition('.')[0]}\n  data_files: {json.dumps(file)}" for name, file in files.items()),
        "---",
    ]
    return "\n".join([*header, "", *_body(about, tables)]) + "\n"


def _body(about: PublicCopy, tables: Mapping[str, Mapping[str, str]]) -> list[str]:
    played = (
        "**Simulated.** Harbor's built-in model played in it. It is no language model: the numbers show how the games"
        " work, not what a language model would do."
        if about.simulated
        else "The built-in model of Harbor did not play in it."
    )
    failed = f" {about.failed} more failed; they are listed, without the reason." if about.failed else ""
    where = WHERE[about.kind]
    return [
        f"# {_line(about.title)}",
        "",
        *([_line(about.question), ""] if about.question else []),
        f"A public {about.kind} of Harbor {__version__}: {counted(about.games, 'game')}"
        f" ({', '.join(sorted(about.named))}) with {about.events:,} public events.{failed}",
        "",
        played,
        "",
        "## Files",
        "",
        f"- `{where}events.jsonl`: the public events of each game, one JSON object per line, chained by digests",
        f"- `{where}config.json`: the public settings of each game, with its rules",
        *(["- `experiment.json`: the public part of the design"] if about.kind == "experiment" else []),
        "- `results.json`: the measurements, from the public events alone",
        *(f"- `{name}`: " + "; ".join(f"`{one}` {says}" for one, says in tables[name].items()) for name in tables),
        "- `pack.json`: the SHA-256 of each file",
        "",
        "## How to verify it",
        "",
        "`harbor unpack FILE` checks every digest, and `harbor verify FOLDER` takes the recorded bids through the rules"
        " again. Whether bids were within budgets can't be checked, as budgets are private.",
        "",
        "## What was left out",
        "",
        LEFT_OUT,
        *(["", PAIRED] if about.kind == "experiment" else []),
    ]


def citation(about: PublicCopy, credits_: Credits) -> str:
    """Return the citation file in Citation File Format."""
    return "\n".join(
        [
            "cff-version: 1.2.0",
            "message: If you use these data, please cite them.",
            "type: dataset",
            f"title: {_quoted(about.title)}",
            "authors:",
            *(f"- name: {_quoted(name)}" for name in credits_.authors or (NOBODY_NAMED,)),
            *([] if credits_.license == UNKNOWN_LICENSE else [f"license: {credits_.license}"]),
            "references:",
            "- type: software",
            "  title: Harbor",
            f"  version: {json.dumps(__version__)}",
            "  authors:",
            "  - name: the authors of Harbor",
            "",
        ]
    )


def _quoted(text: str) -> str:
    """Quote a text for YAML, which does not know the surrogate pairs in JSON escapes."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _line(text: str) -> str:
    """Return a text from the design on one line, with its markup escaped."""
    return "".join(f"\\{letter}" if letter in r"\`*_[]<>#|!" else letter for letter in " ".join(text.split()))


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
"""Rows that are collected before they are written, so that memory stays bounded."""
OF_LINES = ("seq", "at", "audience", "type", "digest")


class Tables:
    """Writes the tables of a public copy, one game at a time. It is a context manager."""

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
