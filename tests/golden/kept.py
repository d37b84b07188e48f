"""The stored data of a game: lists and tables of texts, by kind, without clocks and without names of event types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from golden.decisions import Witness, begins_turn, decisions
from harbor._core.log.events import AnalystEvent, AuctionHeld, PublicEvent
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, is_seen_by, plain_sentence
from harbor._games.board import GuardedBoard
from harbor._games.game import game_of
from harbor._house.auctioneer import told_to
from harbor._view.entries import spell_of, words_of
from harbor._view.page_data import run_page, seats_of
from harbor.evaluation._metrics.measurement import Measurement, fitting, measure
from harbor.evaluation._metrics.summary import summarise

Kept = dict[str, Any]
Entries = Sequence[Entry]
MOMENTS = 5
EVERYBODY, ANALYST = "everybody", "the analyst"
_LINE = re.compile(r"(?:line |:)\d+")
"""The line of a failure in a file."""
TIMED = frozenset({"seconds", "run"})


def kept_of(folder: Path, log: Entries, witness: Witness, metrics: Mapping[str, Sequence[str]]) -> Kept:
    """Return the stored data of a game by kind. `metrics` names the metrics of each game."""
    summary = summarise(log)
    return {
        "decision": list(decisions([entry.event for entry in log], witness.settled)),
        "ask": witness.asked,
        "standing": [_row(row) for row in summary.standings],
        "result": _results(summary),
        "metric": metrics_of(log, metrics),
        "prompt": prompts_of(folder),
        "told": told_in(log),
        "board": boards_of(log),
        "page": page_of(folder),
        "words": list(_words(log)),
    }


def kept_of_series(log: Entries, metrics: Mapping[str, Sequence[str]]) -> Kept:
    """Return the stored data of a series' log: the result of each auction, and the metrics of all."""
    held = [{**asdict(event), "profits": _row(event)["profits"]} for event in of_type(log, AuctionHeld)]
    return {"standing": json.loads(json.dumps(held, default=str)), "metric": metrics_of(log, metrics, "series")}


def _row(row: Any) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json.dumps(asdict(row), default=str))
    return told


def _results(summary: Any) -> Kept:
    rows = [_row(one) for one in (*summary.items, *summary.refusals) if is_dataclass(one)]
    rows += [{**_row(one), "first": _LINE.sub("line", one.first)} for one in summary.failures]
    return {"rows": rows, "figures": summary.figures, "unheeded": summary.unheeded}


# ---------------------------------------------------------------- metrics


def metrics_of(log: Entries, known: Mapping[str, Sequence[str]], kind: str = "") -> dict[str, list[str]]:
    """Return the values of the game's known metrics, or of all metrics that fit the game."""
    names = known.get(kind or game_of(log).name) if known else fitting(log)
    found: dict[str, list[str]] = {name: [] for name in names or ()}
    for one in measure(found, log):
        found[one.metric].append(_measured(one))
    return found


def _measured(one: Measurement) -> str:
    place = "" if one.at is None else f" at {one.at}"
    counted = "" if one.counted is None else f" of {one.counted}"
    return f"{one.bidder} {one.about}{place}: {one.missing if one.value is None else format(one.value, '.9g')}{counted}"


# ---------------------------------------------------------------- prompts, and what is told


def prompts_of(folder: Path) -> dict[str, list[str]]:
    """Return each prompt in order, by bidder, with its purpose and its reply."""
    found: dict[str, list[str]] = {}
    for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        told = (f"{call['purpose']}, attempt {call['attempt']}: {call['outcome']}", *call["prompt"], call["reply"])
        found.setdefault(call["bidder"], []).append("\n----\n".join(map(str, told)))
    return found


def told_in(log: Entries) -> dict[str, list[str]]:
    """Return the words to each bidder before each turn, and after the last one."""
    said: dict[str, list[list[str]]] = {seat: [[]] for seat in seats_of(log)}
    for entry in log:
        for seat, turns in said.items():
            if begins_turn(entry.event):
                turns.append([])
            if is_seen_by(seat, entry.event):
                turns[-1] += told_to(seat, entry.event)
    return {seat: ["\n".join(lines) for lines in turns] for seat, turns in said.items()}


# ---------------------------------------------------------------- what is shown


def boards_of(log: Entries) -> dict[str, list[str]]:
    """Return the boards before some evenly spaced turns, and at the end."""
    seats = seats_of(log)
    return {viewer: _shown(log, viewer) for viewer in (EVERYBODY, ANALYST, *seats)}


def _shown(log: Entries, viewer: str) -> list[str]:
    game = game_of(log)
    board = GuardedBoard(game.name, game.board)
    wanted = _moments(log)
    shown = []
    for place, entry in enumerate(log):
        if place in wanted:
            shown.append(json.dumps(board.shown()))
        if _sees(viewer, entry.event):
            board.note(entry.event)
    return [*shown, json.dumps(board.shown()), *filter(None, [board.complaint])]


def _sees(viewer: str, event: Any) -> bool:
    return viewer == ANALYST or is_seen_by("" if viewer == EVERYBODY else viewer, event)


def _moments(log: Entries) -> set[int]:
    begun = [place for place, entry in enumerate(log) if begins_turn(entry.event)]
    return {begun[number * len(begun) // MOMENTS] for number in range(MOMENTS)} if begun else set()


def page_of(folder: Path) -> Kept:
    """Return the texts of a page that do not depend on event types or line numbers."""
    head, parts = run_page(folder)
    chunks = list(parts)
    told = ("game", "simulated", "seats", "viewers", "players", "notes", "parts", "standings", "pictures")
    found: Kept = {name: head[name] for name in told}
    found["places"] = [place[1:] for place in head["places"]]
    found["marks"] = [mark[1:] for chunk in chunks for mark in chunk["marks"]]
    found["decisions"] = [_thought(one, chunk["texts"]) for chunk in chunks for one in chunk["decisions"].values()]
    kept: Kept = json.loads(json.dumps(found, default=str))
    return kept


def _thought(decision: Any, texts: Sequence[str]) -> Kept:
    calls = [{name: value for name, value in call.items() if name not in TIMED} for call in decision["calls"]]
    for call in calls:
        call["prompt"] = [digest(texts[at]) for at in call["prompt"]]
        call["reply"] = None if call["reply"] is None else texts[call["reply"]]
    return {**decision, "calls": calls}


def _words(log: Entries) -> Iterator[str]:
    """Yield the words of events as on the page, except plain sentences, which contain the name of a type."""
    game = game_of(log)
    spell = spell_of(game)
    for _, _, event in log:
        words = words_of(event, game)
        if not isinstance(event, AnalystEvent) and words != plain_sentence(event, spell):
            yield f"{'' if isinstance(event, PublicEvent) else f'[{event.bidder}] '}{words}"


def digest(value: Any) -> str:
    """Return a short digest of a value."""
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:12]
