"""Third-party packages, installed into a folder as pip would leave them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from textwrap import dedent

import pytest

from harbor._core.plugins import extensions as at_hand
from harbor._core.plugins import finding


def install(
    site: Path, name: str, modules: Mapping[str, str], points: Mapping[str, Mapping[str, str]], version: str = "0.1"
) -> Path:
    """Write a package into a folder: its modules by file name, and its entry points by group."""
    for file, text in modules.items():
        path = site / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    lines = [
        line
        for group, named in points.items()
        for line in (f"[{group}]", *(f"{point} = {value}" for point, value in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return site


def parts(kind: type) -> list[str]:
    """Return the names of the parts that an extension of this kind must have."""
    return [one.name for one in fields(kind) if "part" in one.metadata]


@contextmanager
def installed(*sites: Path) -> Iterator[None]:
    """Make the packages of these folders importable, and forget them afterwards."""
    with pytest.MonkeyPatch.context() as patch, forgetting_modules():
        for site in sites:
            patch.syspath_prepend(site)
        with remembering(patch):
            yield


@contextmanager
def forgetting_modules() -> Iterator[None]:
    """Forget the modules that are added and imported while the context is open."""
    path, modules = list(sys.path), set(sys.modules)
    try:
        yield
    finally:
        added = tuple(place for place in sys.path if place not in path)
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", None)).startswith(added):
                del sys.modules[name]
        sys.path[:] = path


@contextmanager
def remembering(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore the cache of found extensions at the end. Look extensions up again until then."""
    patch.setattr(finding, "_FOUND", {kind: {} for kind in finding.KINDS})
    patch.setattr(finding, "_TRIED", {})
    at_hand.points_of.cache_clear()
    try:
        yield
    finally:
        at_hand.points_of.cache_clear()
