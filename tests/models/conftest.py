"""What several tests of models play with: the game offline, and a provider."""

from __future__ import annotations

import pytest

from support.formats import SEED, auction
from support.providers import provider


@pytest.fixture(scope="module")
def offline():
    return auction({}).run()


@pytest.fixture
def server():
    with provider(seed=SEED) as server:
        yield server
