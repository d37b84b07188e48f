"""The pages that are generated from the code, with their generators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support import api
from support.folders import ROOT
from support.references import commands, events, extensions, metrics, presets, settings

FOLDER = ROOT / "docs" / "reference"
PAGES: dict[Path, Callable[[], str]] = {
    api.PAGE: api.page,
    FOLDER / "settings.md": settings.page,
    FOLDER / "commands.md": commands.page,
    FOLDER / "metrics.md": metrics.page,
    FOLDER / "presets.md": presets.page,
    FOLDER / "events.md": events.page,
    FOLDER / "extensions.md": extensions.page,
}
