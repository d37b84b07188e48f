"""The places in this checkout, and the files of a run in its folder."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
TINY = DATA / "tiny.toml"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder, to check that none was changed."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def shared(folder: Path) -> Iterator[Path]:
    """Let tests share a folder. Fail at the end if a test has changed it."""
    before = contents(folder)
    yield folder
    assert contents(folder) == before, f"a test has changed {folder}, which others share: give it a copy"


def filled(name: str, folder: Path) -> set[Path]:
    """Find the folders with a non-empty file of this name, while others write there. Ignore a file that vanishes."""
    found = set()
    for place, _, names in os.walk(folder):
        with suppress(FileNotFoundError):
            if name in names and (Path(place) / name).stat().st_size:
                found.add(Path(place))
    return found


def cut(file: Path, lines: int) -> None:
    """Keep the first lines of a file; below zero: drop so many of the last."""
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:lines]))


def halve(file: Path) -> None:
    """Drop the second half of a file's lines."""
    cut(file, len(file.read_bytes().splitlines()) // 2)


def halved(run: Path) -> Path:
    """Drop the second half of a run's log and of its calls, as an end without warning would."""
    for name in ("events.jsonl", "calls.jsonl"):
        halve(run / name)
    return run


def calls(folder: Path) -> list[dict[str, Any]]:
    """Read every recorded call of a run, or of all runs of an experiment."""
    return [json.loads(line) for path in folder.rglob("calls.jsonl") for line in path.read_text().splitlines()]


def prompts(folder: Path, bidder: str = "Ann") -> list[tuple[str, str]]:
    """Read the raw prompts of a bidder in a run: (task, text), in order."""
    return [(call["purpose"], "\n".join(call["prompt"])) for call in calls(folder) if call["bidder"] == bidder]


def paid(folder: Path) -> Counter[tuple[str, ...]]:
    """Count the usable replies to each question of each run in a folder."""
    return Counter(
        (str(path.parent.relative_to(folder)), call["bidder"], call["purpose"], call["attempt"], *call["prompt"])
        for path in folder.rglob("calls.jsonl")
        for call in map(json.loads, path.read_text().splitlines())
        if call["outcome"] != "failed"
    )
