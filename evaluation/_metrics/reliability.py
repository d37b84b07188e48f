"""How reliable predictions are: what was predicted beside what came to be, in bins of what was predicted.

A source is calibrated if of all that it gives a share of 0.7, as much as 0.7 comes true. Bins are centred at 0, 0.1 and
so on to 1, so those at the ends are one-sided. Source: Murphy 1973 (reliability).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from statistics import fmean

from harbor._core.events import LotClosed
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.thoughts import Predicted
from harbor.evaluation._metrics.acts import bids
from harbor.evaluation._metrics.measurement import Measurement, metric
from harbor.evaluation._metrics.profiling import NO_PROFILES, judged, last
from harbor.personas._catalog import traits

NO_INTEREST = "nobody has predicted how interested rivals are in an item"


def bin_of(share: float) -> int:
    """Give the bin of a share, from 1 to 11: that of the nearest tenth, and of two the greater.

    >>> bin_of(0.04), bin_of(0.05), bin_of(1)
    (1, 2, 11)
    """
    return floor(share * 10 + 0.5) + 1


def binned(name: str, pairs: Iterable[tuple[str, float, float]]) -> list[Measurement]:
    """Measure pairs of a bidder: in each of its bins (`at`) the means of what was predicted and observed."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for bidder, predicted, observed in pairs:
        found.setdefault((bidder, bin_of(predicted)), []).append((predicted, observed))
    return [
        Measurement(name, fmean(values), bidder, about, at, counted=len(own))
        for (bidder, at), own in sorted(found.items())
        for about, values in zip(("predicted", "observed"), zip(*own, strict=True), strict=True)
    ]


@metric("predicted interest beside bids", "share", no_data=NO_INTEREST, place="bin")
def interest_reliability(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean interest that a bidder predicted (`about` "predicted"), and share of the rivals who bid ("observed").

    A pair is the last prediction of a rival for an item that is over; it came true if the rival bid on the item. `at`
    is the bin of the predicted interest, as in `bin_of`. Source: Murphy 1973.
    """
    over = {end.item for end in of_type(entries, LotClosed)}
    bid_on = {(bid.bidder, bid.item) for bid in bids(entries)}
    told = ((event, one) for event in of_type(entries, Predicted) for one in event.predictions if event.item in over)
    said = {(event.bidder, one.rival, event.item): one.interest for event, one in told}
    return binned(name, ((bidder, share, (rival, item) in bid_on) for (bidder, rival, item), share in said.items()))


@metric("shares of last profiles beside personas", "share", of=LotClosed, no_data=NO_PROFILES, place="bin")
def profile_reliability(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean share that last profiles gave to personas (`about` "predicted"), and share that was true ("observed").

    A pair is one persona in the last profile of a rival: its share there, and in the truth 1, 0, or the rival's own
    share if it mixes two. `at` is the bin of the share in the profile, as in `bin_of`. Source: Murphy 1973.
    """
    shares = ((one, traits.shares(one.profile, one.truth).items()) for one in last(judged(entries)))
    return binned(name, ((one.bidder, share, one.truth[persona]) for one, given in shares for persona, share in given))
