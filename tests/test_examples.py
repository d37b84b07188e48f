"""Property tests draw the same examples in every run, machine and worker, unless `make fuzz` draws new ones."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

steady = pytest.mark.skipif(not settings.default.derandomize, reason="make fuzz draws at random")


def drawn() -> list[int]:
    """Return the examples of a property."""
    found = []

    @given(some.integers())
    def law(number):
        found.append(number)

    law()
    return found


@steady
def test_examples_are_the_same_whatever_is_loaded(tmp_path):
    before = drawn()
    module = Path(tmp_path, "numbers_of_a_module.py")
    module.write_text("\n".join(f"number_{number} = {7**20 + number}" for number in range(50)))
    spec = importlib.util.spec_from_file_location(module.stem, module)
    loaded = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.stem, loaded)
        spec.loader.exec_module(loaded)
        assert drawn() == before
