"""Harbor's own thought nodes: all that modules of `graphs/_nodes` have, so a further thought is one file there."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files

from harbor.graphs._context.node import ThoughtNode

FOLDER = "harbor.graphs._nodes"


def _modules() -> list[str]:
    names = (path.name for path in files(FOLDER).iterdir())
    return sorted(name.removesuffix(".py") for name in names if name.endswith(".py") and name[0] != "_")


def _nodes() -> dict[str, ThoughtNode]:
    """Find the nodes by name; one that another module imports is the same one."""
    modules = [vars(import_module(f"{FOLDER}.{name}")) for name in _modules()]
    found = [value for module in modules for value in module.values() if isinstance(value, ThoughtNode)]
    return {node.name: node for node in found}


NODES: tuple[ThoughtNode, ...] = tuple(_nodes().values())
