"""Runs for pages: one in which bidders have every kind of thought, and shortened presets."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from harbor import Auction, run_series
from harbor._cli.shared.files import presets
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import Entry, encode
from harbor._view.shapes import Chunk, WholeBoard
from harbor.events import LogOpened

CANARY = "canary-of-another"
CANARY_MONEY = Decimal("731937.29")
SHORT = {"runs": 2, "days": 3}
_FIXED = ("Literal", "StrategicAction", "MemoryKind", "Part")


def think_much(folder: Path, names: Sequence[str] = ("Ann", "Ben", "Cho"), **changes: Any) -> Path:
    """Hold an auction whose bidders plan, believe, profile, mirror, predict and choose actions, and sometimes err."""
    personas = ("urban-dwellers", "rural-home-seekers", "eco-conscious-buyers")
    seats = [
        {"name": name, "persona": persona, "theory_of_mind": "second", "strategy": "on"}
        for name, persona in zip(names, personas, strict=True)
    ]
    given = {"items": {"count": 3}, "bidders": seats, "seed": 4, **changes}
    Auction(**given).run(out=folder)
    return folder


def hold_preset(name: str, folder: Path) -> Path:
    """Hold a preset auction of few items, days or runs; from a series, hold its first auction."""
    values = tomllib.loads(presets()[name].read_text(encoding="utf-8"))
    values.pop("series", None)
    rules = values.get("rules", {})
    if rules.get("game", "english") == "english":
        values["items"] = values["items"][:2] if isinstance(values.get("items"), list) else {"count": 2}
    values["rules"] = rules | {key: least for key, least in SHORT.items() if key in rules}
    for bidder in values["bidders"]:
        bidder.pop("memory", None), bidder.pop("learning", None)
    Auction(**values).run(out=folder)
    return folder


def remembered_series(folder: Path) -> Path:
    """Hold a series of two auctions whose bidders learn and remember."""
    bidders = [{"name": name, "memory": "list", "learning": True} for name in ("Zoe", "Ann")]
    run_series(Auction(items={"count": 2}, bidders=bidders, series={"auctions": 2}), folder)
    return folder


def boards_of(chunks: Sequence[Chunk], viewer: str) -> list[tuple[int, WholeBoard]]:
    """Return the boards of a viewer in full, each with its first entry."""
    shown: list[tuple[int, WholeBoard]] = []
    for chunk in chunks:
        for place, (seq, frame) in enumerate(chunk["boards"][viewer]):
            if len(frame) == 3:
                assert place, "the first board of a chunk is whole"
                headline, state, changed = frame
                _, _, columns, rows = shown[-1][1]
                told = [changed.get(str(at), row) for at, row in enumerate(rows)]
                assert all(told[int(at)] != rows[int(at)] for at in changed), "a row is told again that has not changed"
                frame = headline, state, columns, told
            else:
                assert not place or (frame[2], len(frame[3])) != (shown[-1][1][2], len(shown[-1][1][3])), "told whole"
            shown.append((seq, frame))
    return shown


def with_canaries(run: Path, to: Path, seat: str) -> Path:
    """Copy a run with a canary in all data that a seat may not see: texts, amounts, and words of calls."""
    to.mkdir()
    digest = ""
    with (to / "events.jsonl").open("wb") as log:
        for entry in read_log(run / "events.jsonl").entries:
            may_see = entry.event.audience in ("everyone", f"bidder:{seat}")
            event = entry.event if may_see else _marked(entry.event)
            line, digest = encode(Entry(entry.seq, entry.at, event), digest)
            log.write(line)
    calls = (run / "calls.jsonl").read_text().splitlines()
    (to / "calls.jsonl").write_text("".join(f'{{"reply": "{CANARY}", "line": {len(one)}}}\n' for one in calls))
    return to


def _marked(event: Any) -> Any:
    kept = {"bidder"} if not isinstance(event, LogOpened) else {"parts", "harbor"}
    changes = {
        one.name: _canary(getattr(event, one.name))
        for one in fields(event)
        if one.name not in kept and not any(word in str(one.type) for word in _FIXED)
    }
    return replace(event, **changes)


def _canary(value: Any) -> Any:
    match value:
        case str():
            return CANARY
        case Decimal():
            return CANARY_MONEY
        case dict():
            return {f"{CANARY}-{place}": _canary(one) for place, one in enumerate(value.values())}
        case tuple():
            return tuple(map(_canary, value))
        case _ if is_dataclass(value):
            return _marked(value)
        case _:
            return value
