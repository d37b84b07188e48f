"""A log of any length from a real log: its sale is held again and again, with new items each time."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

from harbor._core.log.events import SaleClosed
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import Entry, encode
from harbor._games.english.events import ItemOpened


def lengthen(run: Path, to: Path, times: int) -> int:
    """Write a run whose sale is held `times` times. Return the number of its events."""
    entries = read_log(run / "events.jsonl").entries
    first = next(number for number, entry in enumerate(entries) if isinstance(entry.event, ItemOpened))
    *sale, closed = entries[first:]
    assert isinstance(closed.event, SaleClosed)
    to.mkdir()
    for name in ("config.json", "manifest.json"):
        (to / name).write_bytes((run / name).read_bytes())
    calls = [json.loads(line) for line in (run / "calls.jsonl").read_bytes().splitlines()]
    with (to / "calls.jsonl").open("w") as file:
        for _ in range(times):
            for call in calls:
                file.write(json.dumps({key: value for key, value in call.items() if key != "digest"}) + "\n")
    digest, seq = "", count()
    with (to / "events.jsonl").open("wb") as log:
        for entry in (*entries[:first], *(one for _ in range(times) for one in sale), closed):
            line, digest = encode(Entry(next(seq), entry.at, entry.event), digest)
            log.write(line)
    return next(seq)
