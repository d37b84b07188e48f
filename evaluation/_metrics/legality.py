"""How often what bidders tried was legal, in any game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harbor._core.acts import Tried
from harbor._core.asks import Withdraw
from harbor._core.events import BidderLabelled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.acts import acts
from harbor.evaluation._metrics.measurement import Measurement, metric, shares_by_bidder


@metric("attempts that were legal", "share", "skewed", of=BidderLabelled, better="higher")
def legality(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of each bidder's attempts to answer that were legal, a withdrawal too. Source: Harbor's own."""
    # The house's own are left out: it enters a withdrawal for who gave no answer.
    stood = (one for one in acts(entries) if not isinstance(one.act, Withdraw) or one.act.reason == "declined")
    legal, failed = (Counter(one.bidder for one in tried) for tried in (stood, of_type(entries, Tried)))
    tried = {label.bidder: legal[label.bidder] + failed[label.bidder] for label in of_type(entries, BidderLabelled)}
    return shares_by_bidder(name, legal, tried, "the bidder answered no call")
