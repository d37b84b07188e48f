"""How well bidders keep track of the sale: wrong fields of the beliefs that they update after each item.

A belief has these fields: the bidder's own budget, everyone's profit, and every item won with its price. The first
answer is compared with the truth, before any correction. Where the model corrects its belief itself, every later answer
is compared as well, as in the paper's code. Source: Chen et al. 2023, sec. 3.2 and 4.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.thoughts import Believed
from harbor.evaluation._metrics.measurement import Measurement, metric, shares_by_bidder

_NO_BELIEFS = "no bidder has written down beliefs"


@metric("corrected failure rate of beliefs about oneself", "share", "skewed", no_data=_NO_BELIEFS, better="lower")
def belief_error_rate_self(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Corrected failure rate of each bidder's beliefs about itself, a share: F / (C + F).

    F is the number of wrong fields over all updates. C is the number of all fields: the auctioneer corrects each wrong
    one, so in the end all are correct. Where a config leaves beliefs uncorrected C is the same, so that rates are
    comparable. If all fields are wrong once the rate is 1/2.
    Source: Chen et al. 2023, sec. 4.1, Fig. 2.
    """
    updates = of_type(entries, Believed)
    return _rates(name, [(one.bidder, one.errors_self + one.errors_self_again, one.fields_self) for one in updates])


@metric("corrected failure rate of beliefs about others", "share", "skewed", no_data=_NO_BELIEFS, better="lower")
def belief_error_rate_others(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Corrected failure rate of each bidder's beliefs about the others, a share: as `belief_error_rate_self`.

    Source: Chen et al. 2023, sec. 4.1, Fig. 2.
    """
    updates = of_type(entries, Believed)
    return _rates(
        name, [(one.bidder, one.errors_others + one.errors_others_again, one.fields_others) for one in updates]
    )


def _rates(name: str, updates: Sequence[tuple[str, int, int]]) -> list[Measurement]:
    wrong, answers = Counter[str](), Counter[str]()
    for bidder, errors, compared in updates:
        wrong[bidder] += errors
        answers[bidder] += compared + errors
    return shares_by_bidder(name, wrong, answers, "there was nothing to believe about others")
