"""The rate of call starts above a given limit, for any outcome of the calls."""

from __future__ import annotations

from random import Random

from support.histories import random_history

HISTORIES = 10_000


def test_starts_above_a_given_limit(benchmark, figure):
    def measure() -> None:
        histories = (random_history(Random(seed)) for seed in range(HISTORIES))
        starts, above, spoiled = 0, 0, 0
        for driven in histories:
            excess = driven.excess()
            starts, above, spoiled = starts + len(driven.starts), above + excess, spoiled + bool(excess)
        aim = "0 in 10,000 random histories"
        figure(f"starts above a given limit, of {starts:,}", aim, f"{above:,} in {spoiled:,} of {HISTORIES:,}")

    benchmark.pedantic(measure, rounds=1)
