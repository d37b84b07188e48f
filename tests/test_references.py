"""The pages that are made of the code say what the code says."""

from __future__ import annotations

import pytest

from harbor._core.plugins.extensions import KINDS
from harbor.testing import __all__ as suites
from support.references.pages import PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_that_is_made_of_the_code_is_what_the_code_says(page):
    assert page.read_text(encoding="utf-8") == PAGES[page](), "write it anew: make references"


def test_every_kind_of_extension_has_the_suite_that_its_page_names():
    assert {f"check_{kind}" for kind in KINDS} <= set(suites)
