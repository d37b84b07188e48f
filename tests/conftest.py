"""What holds for all tests."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("harbor", deadline=None)  # how long an example takes says more of the machine than of Harbor
settings.load_profile("harbor")


@pytest.fixture(autouse=True, scope="session")
def _frozen() -> None:
    """Keep what is loaded out of garbage collection, as Harbor's commands do: it is large, and it is here to stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _attentive() -> None:
    """Let what the tests start hear Ctrl-C, also where they run in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep replies apart from those of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARBOR_CACHE", str(tmp_path_factory.mktemp("replies")))
        yield
