"""RESULTS.md is written by `make results`: its numbers stand between markers, and nowhere else."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from support.folders import ROOT

PAGE = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
OPEN, END = "<!-- results: one -->", "<!-- end of results -->"
ALLOWED = re.compile(r"95 %|5 %|@1|top-1")
"""Numbers that are no results: levels, and names."""


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "bench")
    return __import__("results")


def test_a_block_replaces_what_stood_between_its_markers_and_nothing_else(results):
    page = f"before\n{OPEN}\nold 1\n{END}\nbetween\n<!-- results: two -->\n{END}\nafter"
    found = results.filled(page, {"two": "new 2", "one": "new 1"})
    assert found == f"before\n{OPEN}\n\nnew 1\n\n{END}\nbetween\n<!-- results: two -->\n\nnew 2\n\n{END}\nafter"
    assert results.filled(found, {"one": "new 1", "two": "new 2"}) == found


@pytest.mark.parametrize("page", [
    "no marker", f"{OPEN}\nnever ended", f"{OPEN}\n{END}\n{OPEN}\n{END}", f"{OPEN}\n<!-- results: two -->\n{END}",
    f"{OPEN}\n{END}\n<!-- results: two -->\n{END}",
])  # fmt: skip
def test_a_page_whose_markers_are_not_those_of_the_results_is_refused(results, page):
    with pytest.raises(ValueError, match="give each one pair of markers"):
        results.filled(page, {"one": "new"})


def test_the_page_has_a_place_for_each_study_and_no_number_stands_outside_of_them(results):
    results.filled(PAGE, dict.fromkeys([*results.STUDIES, "profilers"], ""))
    assert not re.findall(r"\d", ALLOWED.sub("", results.PLACE.sub("", PAGE)))
