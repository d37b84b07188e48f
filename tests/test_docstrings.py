"""Examples in docstrings are true, and at least half of the public names have one."""

from __future__ import annotations

import doctest
import inspect
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


def test_at_least_half_of_the_public_functions_and_classes_have_an_example():
    named = {name: one for name, one in PUBLIC.items() if inspect.isclass(one) or inspect.isfunction(one)}
    without = sorted(name for name, one in named.items() if not has_example(one))
    assert len(without) <= len(named) / 2, without


def has_example(one: object) -> bool:
    """Whether it or a method has one: where a class's docstring is sent as part of a schema, a method has it."""
    methods = vars(one).values() if inspect.isclass(one) else ()
    return any(">>>" in (getattr(it, "__doc__", None) or "") for it in (one, *methods))
