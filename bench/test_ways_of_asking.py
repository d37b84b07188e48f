"""In how many ways an auctioneer may ask a bidder offline: those the reader was made with, and others, unseen."""

from __future__ import annotations

import pytest

from support.ways import is_usable, ways


@pytest.mark.parametrize("name", ["ways", "ways_unseen"])
def test_ways_of_asking_that_are_answered_usably(name, figure):
    asked = ways(name)
    figure(f"answered usably offline, of {name}", "measured", f"{sum(map(is_usable, asked))} of {len(asked)}")
