"""Winner determination: the compatible bids that bring most together, found by HiGHS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random

import highspy


def best_bids(bids: Mapping[str, tuple[Sequence[str], Decimal]], rng: Random) -> tuple[str, ...]:
    """Choose the bids with the highest sum such that no item is sold twice; of equal sums, the lot decides.

    Args:
        bids: the items and the dollars of each bidder's bid.
        rng: shuffles the bids, as the solver finds one optimum of several.

    Returns:
        the winners, in the order of the bids.
    """
    wanted = [item for items, _ in bids.values() for item in items]
    if len(set(wanted)) == len(wanted):
        return tuple(bids)  # each leaves the others their items: no lot is drawn
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("mip_rel_gap", 0.0)  # the best bids, and none that are only nearly as good
    taken = {name: solver.addBinary() for name in rng.sample(list(bids), len(bids))}
    for item in sorted(set(wanted)):
        solver.addConstr(solver.qsum(taken[name] for name, (items, _) in bids.items() if item in items) <= 1)
    solver.maximize(solver.qsum(float(amount) * taken[name] for name, (_, amount) in bids.items()))
    return tuple(name for name in bids if solver.val(taken[name]) > 1 / 2)
