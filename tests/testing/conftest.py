"""What a stranger begins with: the folders that `harbor new` writes."""

from __future__ import annotations

import sys
from contextlib import chdir
from importlib import import_module

import pytest

from harbor._cli.keeping.inventory import What, new
from support.plugins import forgetting_modules, remembering


@pytest.fixture(scope="session")
def begun(tmp_path_factory):
    """A game, a metric and an experiment that were begun a moment ago, side by side."""
    place = tmp_path_factory.mktemp("begun")
    with chdir(place):
        for what in What:
            new(what, f"my-{what}")
    return place


@pytest.fixture
def stranger(begun, monkeypatch):
    """Import a module of what was begun; nothing of it is known to Harbor yet."""
    with forgetting_modules(), pytest.MonkeyPatch.context() as patch, remembering(patch):
        for folder in ("my-game", "my-metric"):
            sys.path.append(str(begun / folder))
        yield import_module
