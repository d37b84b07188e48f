"""Thirty ways in which an auctioneer may speak, which the reader of the built-in model was made with."""

from __future__ import annotations

import pytest

from support.ways import is_usable, ways


@pytest.mark.parametrize("way", ways("ways"), ids=lambda way: str(way["id"]))
def test_ann_answers_usably_whichever_way_she_is_asked(way):
    assert is_usable(way)
