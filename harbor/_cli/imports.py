"""Keeps matplotlib, when a command imports it, from reading a `matplotlibrc` of the current folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_FILE = "matplotlibrc"


class _Apart(MetaPathFinder):
    """Finds matplotlib, to run it while its file in the current folder can't be found."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find matplotlib and nothing else."""
        spec = PathFinder.find_spec(name, path, target) if name == "matplotlib" else None
        loader: Any = spec and spec.loader
        if loader:
            run = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                with _unfound():
                    run(module)

            loader.exec_module = exec_module
        return spec


@contextmanager
def _unfound() -> Iterator[None]:
    usual = os.path.exists
    os.path.exists = lambda path: path != _FILE and usual(path)
    try:
        yield
    finally:
        os.path.exists = usual


def read_nothing_here() -> None:
    """Let this process read no settings that a package would take from the current folder while it is imported."""
    if not any(isinstance(one, _Apart) for one in sys.meta_path):
        sys.meta_path.insert(0, _Apart())
