"""How reliable predictions are: what was predicted beside what came to be, in bins of what was predicted.

A source is calibrated if of all that it gives a share of 0.7, as much as 0.7 comes true. Bins are centred at 0, 0.1 and
so on to 1, so those at the ends are one-sided. Source: Murphy 1973 (reliability).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import floor
from statistics import fmean
from typing import NamedTuple

from harbor._core.events import BidPlaced, LotClosed
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.thoughts import Predicted
from harbor.evaluation._metrics.measurement import Measurement, metric
from harbor.evaluation._metrics.profiling import NO_PROFILES, judged, last
from harbor.personas._catalog import traits

PREDICTED, OBSERVED = "predicted", "observed"
BINS = 10
"""Bins in all but one: both ends are centres."""

_metric = partial(metric, unit="share", place="bin")


class Pair(NamedTuple):
    """What a bidder gave as a share, and what was so: 0, 1, or a share itself."""

    bidder: str
    predicted: float
    observed: float


def bin_of(share: float) -> int:
    """Give the bin of a share, from 1 to 11: that of the nearest tenth, and of two the greater.

    >>> bin_of(0.04), bin_of(0.05), bin_of(1)
    (1, 2, 11)
    """
    return floor(share * BINS + 0.5) + 1


def binned(name: str, pairs: Iterable[Pair]) -> list[Measurement]:
    """Measure pairs: in each bidder's bins (`at`) the means of what was predicted and of what was observed."""
    found: dict[tuple[str, int], list[Pair]] = {}
    for one in pairs:
        found.setdefault((one.bidder, bin_of(one.predicted)), []).append(one)
    return [
        Measurement(name, fmean(values), bidder, about, at, counted=len(own))
        for (bidder, at), own in sorted(found.items())
        for about, values in zip((PREDICTED, OBSERVED), list(zip(*own, strict=True))[1:], strict=True)
    ]


@_metric("predicted interest beside bids", no_data="nobody has predicted how interested rivals are in an item")
def interest_reliability(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean interest that a bidder predicted (`about` "predicted"), and share of the rivals who bid ("observed").

    A pair is the last prediction of a rival for an item that is over; it came true if the rival bid on the item. `at`
    is the bin of the predicted interest, as in `bin_of`. Source: Murphy 1973.
    """
    over = {end.item for end in of_type(entries, LotClosed)}
    bids = {(bid.bidder, bid.item) for bid in of_type(entries, BidPlaced)}
    said = {
        (event.bidder, one.rival, event.item): one.interest
        for event in of_type(entries, Predicted)
        for one in event.predictions
        if event.item in over
    }
    pairs = (Pair(bidder, share, (rival, item) in bids) for (bidder, rival, item), share in said.items())
    return binned(name, pairs)


@_metric("shares of last profiles beside personas", no_data=NO_PROFILES)
def profile_reliability(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean share that last profiles gave to personas (`about` "predicted"), and share that was true ("observed").

    A pair is one persona in the last profile of a rival: its share there, and in the truth 1, 0, or the rival's own
    share if it mixes two. `at` is the bin of the share in the profile, as in `bin_of`. Source: Murphy 1973.
    """
    pairs = (
        Pair(one.bidder, share, one.truth[persona])
        for one in last(judged(entries))
        for persona, share in traits.shares(one.profile, one.truth).items()
    )
    return binned(name, pairs)
