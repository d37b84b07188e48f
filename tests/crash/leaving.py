"""The data that a run has left in its folder, and its differences from another run's data."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from crash.inside.journal import prompt_id

CLOCK_FIELDS = {"at", "began", "seconds", "run", "token", "digest"}
"""The fields that tell the clock. The lab lists them itself, because it tests Harbor's list."""
OF_THE_CLOCK = {"time", "created", "updated", "created_at", "updated_at"}
TOKEN = re.compile(r"\brun-(\d+)-[0-9a-f]{8}\b")
"""The name of a series' auction in memories. It ends with a token that is new in each run."""
Called = tuple[str, str, str, int, float]


@dataclass(frozen=True)
class Left:
    """The events of each log, the calls, the memories and the results, without the parts that differ between runs."""

    events: list[str]
    calls: list[str]
    memories: list[str]
    results: list[str]


def left_in(run: Path, memories: str = "") -> Left:
    """Read the folder of a run. `memories` is the output of `harbor memory export`."""
    return Left(
        [line for path in sorted(run.rglob("events.jsonl")) for line in _events(path, run)],
        sorted(_call(path, run, call) for path, call in _calls(run)),
        sorted(_memory(line) for line in memories.splitlines()),
        [path.read_text() for path in run.glob("results.json")],
    )


def difference(whole: Left, found: Left) -> str:
    """Describe the first difference, or return "" if there is none."""
    for field in fields(Left):
        expected, there = getattr(whole, field.name), getattr(found, field.name)
        if (at := _differ(there, expected)) < min(len(there), len(expected)):
            return f"{field.name}: number {at + 1} is {_short(there[at], expected[at])}"
        if len(there) != len(expected):
            return f"{field.name}: {len(there)} instead of {len(expected)}"
    return ""


def _differ(there: Sequence[str], expected: Sequence[str]) -> int:
    """Return the first place where two sequences differ; the length of the shorter one if they don't up to there."""
    pairs = enumerate(zip(there, expected, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(there), len(expected)))


def prompts(run: Path) -> Counter[str]:
    """Count the prompts whose replies are recorded in whole lines."""
    return Counter(prompt_id(call["prompt"]) for _, call in _calls(run))


def told_of(run: Path) -> Counter[str]:
    """Count the prompts of recorded calls that the logs mention."""
    logged = {key for path in run.rglob("events.jsonl") for key in _logged(path)}
    return Counter(prompt_id(call["prompt"]) for path, call in _calls(run) if _key(path, call) in logged)


def is_begun(run: Path) -> bool:
    """Return whether the disk holds data of a run that a new start would lose."""
    return any(b"\n" in path.read_bytes() for name in ("events", "calls") for path in run.rglob(f"{name}.jsonl"))


def _events(path: Path, run: Path) -> Iterator[str]:
    where = str(path.parent.relative_to(run))
    for event in _lines(path):
        kept = {key: value for key, value in event.items() if key not in CLOCK_FIELDS}
        yield TOKEN.sub(r"run-\1", json.dumps([where, kept]))


def _calls(run: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in run.rglob("calls.jsonl"):
        for call in _lines(path):
            if call["outcome"] != "failed":
                yield path.parent, call


def _call(folder: Path, run: Path, call: dict[str, Any]) -> str:
    told = (call[key] for key in ("bidder", "purpose", "attempt", "prompt", "reply"))
    return TOKEN.sub(r"run-\1", json.dumps([str(folder.relative_to(run)), *told]))


def _key(folder: Path, call: dict[str, Any]) -> Called:
    return str(folder), call["bidder"], call["purpose"], call["attempt"], call["began"]


def _logged(path: Path) -> Iterator[Called]:
    for event in _lines(path):
        if event["type"] == "model_called":
            yield _key(path.parent, event)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read the whole lines of a file. Skip a line that is no JSON, which a fault has left."""
    for line in path.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _memory(line: str) -> str:
    return TOKEN.sub(r"run-\1", json.dumps(_timeless(json.loads(line))))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key not in OF_THE_CLOCK}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


def _short(there: str, expected: str) -> str:
    start = max(0, _differ(there, expected) - 60)
    return f"...{there[start : start + 120]}... instead of ...{expected[start : start + 120]}..."
