"""The folders of a trial, and the length of a run in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crash.kinds import OUT


class Place:
    """The folders of a trial: the command runs in `folder`, and only `folder/disk` is damaged.

    It writes to `disk`, and its run is in `out`. `journal` has the notes of the trial's processes, and `attic` the
    files that they replaced.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.disk, self.out = folder, folder / "disk", folder / OUT
        self.journal, self.attic = folder / "journal.jsonl", folder / "attic"

    def written(self) -> int:
        """Count the bytes of logs and calls."""
        runs = ("games/*/*/*/",) if (self.out / "games").exists() else ("", "[0-9]*/")
        names = [f"{run}{name}.jsonl" for run in runs for name in ("events", "calls")]
        return sum(_size(path) for name in names for path in self.out.glob(name))


@dataclass(frozen=True)
class Lengths:
    """The length of an undisturbed session: in seconds, in bytes of its logs, and in steps."""

    seconds: float
    written: int
    steps: int


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
