"""Examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "module", [f"harbor._core.basics.{name}" for name in ("errors", "redaction", "numbers", "actions")]
)
def test_examples_in_docstrings_are_true(module):
    done = doctest.testmod(importlib.import_module(module))
    assert done.attempted
    assert not done.failed
