"""The workers of an experiment, which begin as new interpreters. They note their acts as their driver does."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from crash.inside import clock, journal

MODEL = "harbor._models.simulated.chat_model"
JOURNAL, ATTIC = "CRASH_JOURNAL", "CRASH_ATTIC"


def settle_in() -> None:
    """Watch this process if the lab has started it."""
    if JOURNAL in os.environ:
        clock.install()
        journal.open_at(Path(os.environ[JOURNAL]), Path(os.environ[ATTIC]))
        journal.install()
        sys.meta_path.insert(0, _Once())


class _Once(MetaPathFinder):
    """Watches the built-in model once it is imported. Importing it here would cost every small process seconds."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name != MODEL:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        _watched(spec.loader)
        return spec


def _watched(loader: Loader) -> None:
    run = loader.exec_module

    def run_and_watch(module: ModuleType) -> None:
        run(module)
        journal.watch(module.SimulatedChat)

    loader.exec_module = run_and_watch  # type: ignore[method-assign]
