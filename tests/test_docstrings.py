"""Examples in docstrings are true."""

from __future__ import annotations

import doctest
from decimal import Decimal
from importlib import import_module

import pytest

from support.api import FACES
from support.folders import ROOT

PUBLIC = {
    name: getattr(face, name)
    for face in map(import_module, (*FACES, "harbor.events"))
    for name in face.__all__
    if not name.startswith("__")
}
SCOPE = {**PUBLIC, "Decimal": Decimal}
"""What an example may use without importing it."""
MODULES = [
    ".".join(("harbor",) * (path.parts[0] != "harbor") + path.with_suffix("").parts).removesuffix(".__init__")
    for folder in ("harbor", "graphs", "personas", "memory", "evaluation")
    for path in (one.relative_to(ROOT) for one in sorted((ROOT / folder).rglob("*.py")))
    if ">>>" in (ROOT / path).read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_are_true(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = import_module(module)
    done = doctest.testmod(
        found, globs={**SCOPE, **vars(found)}, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert done.attempted
    assert not done.failed
    assert list(tmp_path.iterdir()) == []
