"""Winner determination: the compatible bids with the highest sum, found by HiGHS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random

import highspy


def best_bids(bids: Mapping[str, tuple[Sequence[str], Decimal]], rng: Random) -> tuple[str, ...]:
    """Choose the bids with the highest sum such that no item is sold twice. Break ties at random.

    Args:
        bids: the items and the dollars of each bidder's bid.
        rng: shuffles the bids, as the solver finds only one of several optima.

    Returns:
        the winners, in the order of the bids.
    """
    wanted = [item for items, _ in bids.values() for item in items]
    if len(set(wanted)) == len(wanted):
        return tuple(bids)  # no two bids share an item, so no tie is possible
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("mip_rel_gap", 0.0)  # only an exact optimum
    taken = {name: solver.addBinary() for name in rng.sample(list(bids), len(bids))}
    for item in sorted(set(wanted)):
        solver.addConstr(solver.qsum(taken[name] for name, (items, _) in bids.items() if item in items) <= 1)
    solver.maximize(solver.qsum(float(amount) * taken[name] for name, (_, amount) in bids.items()))
    return tuple(name for name in bids if solver.val(taken[name]) > 1 / 2)
