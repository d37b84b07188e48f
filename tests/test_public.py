"""The public names."""

from __future__ import annotations

from importlib import import_module

import pytest

from support.api import FACES


@pytest.mark.parametrize("module", [*FACES, "harbor.events"])
def test_every_public_name_can_be_imported_and_says_what_it_is(module):
    face = import_module(module)
    assert all(getattr(face, name) is not None for name in face.__all__)


def test_a_checkout_contains_no_second_copy_of_itself():
    for name in ("harbor.harbor", "harbor.tests"):
        with pytest.raises(ModuleNotFoundError):
            import_module(name)
