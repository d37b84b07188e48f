"""A table of `make studies`: the share of rivals' types that are recognized, and the errors of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from harbor import Auction, Bidder, run_series
from harbor._config.auction import Series
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Profiled
from harbor.evaluation._metrics.measurement import measure
from harbor.personas._catalog.traits import foremost

SEEDS, RUNS, AUCTIONS = 200, 10, 5
TYPES = {"Over": ("overbidding", 1.3), "Shade": ("shading", 0.7), "True": ("truthful", 1.0)}
QUIET: dict[str, Any] = {"planning": "none", "believe": False}


def planted(seed: int, rules: dict[str, Any], **mind: Any) -> Auction:
    """A second-price auction of a bidder that profiles rivals, whose bids are 1.3, 0.7 and 1 times their value."""
    rivals = [Bidder(name, persona=kind, **QUIET) for name, (kind, _) in TYPES.items()]
    profiler = Bidder("Ann", theory_of_mind="inferred", **QUIET, **mind)
    return Auction(bidders=[profiler, *rivals], rules={"game": "second-price", **rules}, seed=seed)


def all_right(seed: int, draw: str) -> bool:
    """Return whether all three rivals' types are recognized after the last run."""
    log = planted(seed, {"runs": RUNS, "draw": draw}).run().log
    last = {one.rival: one.weights for one in of_type(log, Profiled)}
    return all(foremost(last[name]) == kind for name, (kind, _) in TYPES.items())


def at_best(draw: str, seeds: int = 2_000) -> float:
    """Return the share of right answers of an observer that knows all but the mean of values (normal, deviation 10)."""
    return fmean(_best(np.random.default_rng(seed), 1 if draw == "once" else RUNS) for seed in range(seeds))


def _best(chance: np.random.Generator, count: int) -> bool:
    times, means = [one for _, one in TYPES.values()], np.linspace(20, 90, 281)
    own = _log_density(chance.normal(50, 10, count), 1.0, means)
    bids = [np.minimum(one * chance.normal(50, 10, count), 100) for one in times]
    likely = [np.array([_log_density(made, one, means) for one in times]) for made in bids]
    right = True
    for me in range(len(times)):
        others = own + sum(np.logaddexp.reduce(one, axis=0) for place, one in enumerate(likely) if place != me)
        right &= int(np.argmax(np.logaddexp.reduce(others + likely[me], axis=1))) == me
    return right


def _log_density(bids: Sequence[float], times: float, means: np.ndarray) -> np.ndarray:
    off = np.asarray(bids)[:, None] / times - means[None, :]
    return -len(bids) * np.log(times) - (off**2).sum(0) / 200


@pytest.mark.parametrize(("draw", "aim"), [("each run", ">= 0.80"), ("once", "no aim")])
def test_types_told_apart(benchmark, figure, draw, aim):
    right = benchmark.pedantic(lambda: fmean(all_right(seed, draw) for seed in range(SEEDS)), rounds=1)
    what = f"second price, values drawn {draw}: three types told apart after {RUNS} runs"
    figure(what, aim, f"{right:.3f} of {SEEDS} seeds; the best possible is {at_best(draw):.3f}")


def test_predictions_over_a_series(benchmark, figure):
    def errors() -> list[float]:
        found: list[list[float]] = [[] for _ in range(AUCTIONS)]
        for seed in range(20):
            config = planted(seed, {"runs": 3}, memory="full", learning=True)
            series = run_series(config.model_copy(update={"series": Series(auctions=AUCTIONS)}))
            for place, auction in enumerate(series.auctions):
                told = measure(["prediction_error"], auction.log)
                found[place] += [one.value for one in told if one.value is not None]
        return [fmean(one) for one in found]

    by_auction = benchmark.pedantic(errors, rounds=1)
    figure("error of predictions, by auction of a series", "falls", " ".join(f"{one:.3f}" for one in by_auction))
