"""What holds for all tests."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterator
from secrets import token_hex

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from harbor._core.basics import redaction
from harbor._core.plugins import finding
from harbor._models.governor.local import governor

pytest_plugins = ["support.processor", "support.proof"]
TIMELESS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
"""How long an example takes says more of the machine than of Harbor."""
settings.register_profile("harbor", derandomize=True, database=None, max_examples=50, **TIMELESS)
settings.register_profile("fuzz", derandomize=False, max_examples=500, **TIMELESS)  # `make fuzz` chooses it
settings.load_profile("harbor")
_found_constants = providers._get_local_constants


def _constants() -> providers.Constants:
    """Return the constants that Hypothesis tries. Those of the modules loaded so far differ from worker to worker."""
    return providers.Constants() if settings.default.derandomize else _found_constants()


providers._get_local_constants = _constants


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
def _own_places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep replies and the key of marks apart from those of whoever runs the tests; processes they start have these."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARBOR_CACHE", str(tmp_path_factory.mktemp("replies")))
        patch.setenv("HARBOR_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def _own_accounts(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know what another has learned of a model: servers on loopback get ports that others had."""
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path_factory.getbasetemp() / f"replies-{token_hex(8)}"))
    governor.cache_clear()  # one that a server told to wait for hours would be waited for


@pytest.fixture(autouse=True, scope="module")
def _unnamed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the code that the tests of a module wrote and named, and its keys: others write modules of the same names.

    Commands would also name it in what they tell people to type, and "nobody" as a key would be hidden from then on.
    """
    keys, variables = set(redaction._KNOWN), set(redaction._VARIABLES)
    before = {kind: set(known) for kind, known in finding._FOUND.items()}
    yield
    for kind, known in finding._FOUND.items():
        for name in [name for name, one in known.items() if one.reference and name not in before[kind]]:
            del known[name]
    redaction._KNOWN.intersection_update(keys)
    redaction._VARIABLES.intersection_update(variables)
    written = str(tmp_path_factory.getbasetemp())
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(written):
            del sys.modules[name]
    sys.path[:] = [place for place in sys.path if not place.startswith(written)]
