"""What happened, measured from the log alone; `load` reads the folder of an experiment as frames for pandas."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harbor.evaluation._report.loading import Loaded as Loaded
    from harbor.evaluation._report.loading import load as load

__all__ = ["Loaded", "load"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'harbor.evaluation' has no attribute {name!r}")
    return getattr(import_module("harbor.evaluation._report.loading"), name)
