"""Where a trial is, and how long a run there is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crash.kinds import OUT


@dataclass(frozen=True)
class Place:
    """Where a trial is: the command runs in `folder`, and only `folder/disk` is harmed."""

    folder: Path

    @property
    def disk(self) -> Path:
        """What the command writes to."""
        return self.folder / "disk"

    @property
    def out(self) -> Path:
        """The folder of the run or the experiment."""
        return self.folder / OUT

    @property
    def journal(self) -> Path:
        """What the processes of the trial have noted."""
        return self.folder / "journal.jsonl"

    @property
    def attic(self) -> Path:
        """What was replaced."""
        return self.folder / "attic"

    def written(self) -> int:
        """Count the bytes of logs and calls."""
        return sum(_size(path) for name in ("events", "calls") for path in _found(self.out, f"{name}.jsonl"))


@dataclass(frozen=True)
class Lengths:
    """How long a session is that nothing happens to: in seconds, in bytes of its logs, and in steps."""

    seconds: float
    written: int
    steps: int


def _found(folder: Path, name: str) -> list[Path]:
    if (folder / "games").exists():
        return list(folder.glob(f"games/*/*/*/{name}"))
    return [folder / name, *folder.glob(f"[0-9]*/{name}")]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
