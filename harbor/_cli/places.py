"""Where commands write pages, figures and tables: under names that say what is in them, never over a log."""

from __future__ import annotations

import os
from pathlib import Path

from harbor._core.errors import ConfigError
from harbor._core.marks import is_in_own


def check_ending(out: Path | None, *endings: str) -> None:
    """Refuse a file for something whose name doesn't say so: what is there is replaced, and it may be a log.

    Raises:
        ConfigError: it has none of these endings, such as ``.html``.
    """
    if out is not None and out.suffix not in endings:
        raise ConfigError(f"--out {str(out)!r} doesn't end in {' or '.join(endings)}; name it so")


def default_place(folder: Path, name: str) -> Path:
    """Give where something is written about a folder: into it if it is the user's, else into the working directory."""
    if is_in_own(folder) and os.access(folder, os.W_OK):
        return folder / name
    return Path(f"{folder.resolve().name or 'harbor'}-{name}")
