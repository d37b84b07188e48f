"""The names of the public modules, loaded on first use, and the version of Harbor.

Each public module lists its names once, as imports for type checkers. Everything else is in a folder or module whose
name begins with an underscore, and may change at any time. A name is loaded when it is first used, so that importing a
public module loads no framework. Besides these modules, `harbor.events` also contains every event.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def face(module: str, file: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return `__getattr__` and `__all__` for a public module, from its imports of the form `from home import X as X`.

    Args:
        module: its `__name__`.
        file: its `__file__`.
    """
    blocks = (node.body for node in ast.parse(Path(file).read_bytes()).body if isinstance(node, ast.If))
    imports = [node for block in blocks for node in block if isinstance(node, ast.ImportFrom)]
    homes = {one.asname: str(node.module) for node in imports for one in node.names if one.asname}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load, sorted(homes)


__version__ = "0.1.0"
