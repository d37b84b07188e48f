"""What is installed: the packages, and the entry points by which they bring extensions."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from harbor._core.extensions import HARBOR, KINDS, Kind, only_harbors

if TYPE_CHECKING:  # it takes long to import, and `harbor --help` looks for nothing
    from importlib.metadata import Distribution, EntryPoint

ADDED: list[str] = []
"""Places of modules that were added for references; packages that stand there are not installed."""


def packages() -> Iterable[Distribution]:
    """List what is installed; that is not what stands in places that were added for references."""
    from importlib.metadata import distributions

    return distributions(path=[place for place in sys.path if place not in ADDED])


@cache
def name_and_version(package: Distribution) -> tuple[str, str]:
    """Give both; a package itself reads them from its file each time."""
    return package.name, package.version


def entry_points(kind: Kind) -> list[tuple[EntryPoint, Distribution]]:
    """List the entry points that bring a kind, Harbor's first, and their packages; where `only_harbors`, only these."""
    points = points_of(KINDS[kind][0])
    return [one for one in points if name_and_version(one[1])[0] == HARBOR] if only_harbors.get() else points


@cache
def points_of(group: str) -> list[tuple[EntryPoint, Distribution]]:
    """List the entry points of a group; a package that is found twice counts once."""
    found: dict[tuple[str, str], tuple[EntryPoint, Distribution]] = {}
    for package in packages():
        for point in package.entry_points.select(group=group):
            found.setdefault((package.name, point.name), (point, package))
    return sorted(found.values(), key=lambda pair: (pair[1].name != HARBOR, pair[1].name))


def not_imported(module: str, name: str, error: BaseException) -> str:
    """Say what mends the reference "module:name", whose module can't be imported because of an error."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None or not f"{module}.".startswith(f"{missing}."):  # else what it imports itself is not there
        return "mend it"
    if module.endswith(".py"):
        return f"write '{module.removesuffix('.py')}:{name}', without .py"
    return "a module is looked for in the working directory, and among what is installed"
