"""How far off a bidder's own estimates were, as far as true values have been revealed."""

from __future__ import annotations

from itertools import takewhile

from harbor._games.revealed import truth_per_estimate
from harbor.memory._bidder.auction_view import AuctionView
from harbor.memory._bidder.lot_bidding import revealed


def true_per_estimate(view: AuctionView, before: str = "") -> dict[str, float]:
    """Give, as a fact, the true dollars per estimated dollar of the items whose true values a bidder knows.

    Args:
        view: what the bidder has observed.
        before: only of the items before this one; empty for all.
    """
    known = takewhile(lambda result: result.item != before, view.results)
    ratio = truth_per_estimate(view.estimates, revealed(known))
    return {} if ratio is None else {"true_per_estimate": round(float(ratio), 4)}
