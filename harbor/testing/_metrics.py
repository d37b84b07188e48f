"""The conformance suite for metrics: call it in a test of one that you write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from harbor._core.events import SeriesOpened
from harbor._core.finding import find
from harbor._core.log_lines import Entry
from harbor._games.purity import require
from harbor._runs.auction import Auction
from harbor._runs.series import run_series
from harbor.evaluation._metrics.measurement import Measurement, Metric
from harbor.evaluation._metrics.registry import measure
from harbor.testing._playing import ITEMS, cuts, held, promised, thinkers, unplayed, whole

FAILED = "the metric failed"
"""How a missing value begins whose metric broke."""


def check_metric(metric: Metric, log: Sequence[Entry] = ()) -> None:
    """Check that a metric keeps its promises.

    It measures a log, and what there is of one that broke off anywhere, without an error and twice alike; its values
    are within the bounds of its unit; it has one in a whole game, and where it has none it says why; of another game it
    says so; its docstring says what it computes.

    Args:
        metric: the metric.
        log: of a game that it measures; by default, of each installed game that opens with what it is of.

    Raises:
        AssertionError: it names the broken promise and the evidence.
    """
    whole(metric, "metric")
    what = f"the metric {metric.name!r}"
    require((metric.measure.__doc__ or "").strip(), f"{what} has no docstring that gives its formula")
    with promised(what):
        valued = [_measured(metric, one, what) for one in ([log] if log else (one for _, one in fitting(metric)))]
        nowhere = unplayed(metric.kinds) or f"no installed game opens with {metric.wanted}"
        require(valued, f"{nowhere}; give check_metric a log of one that does")
        require(any(valued), f"{what} has no value in a whole game")
        other = measure([metric.name], ())
        require(all(one.value is None and one.missing for one in other), f"{what} of another game does not say so")


def fitting(metric: Metric) -> Iterator[tuple[Auction, Sequence[Entry]]]:
    """Give games that open with what a metric is of, each with its log: of each installed game, and of a series."""
    if metric.of is SeriesOpened:
        yield _series()
    for auction, log in (*held(), _in_own_form()):
        if any(isinstance(entry.event, metric.of) for entry in log):
            yield auction, log


@cache
def _series() -> tuple[Auction, Sequence[Entry]]:
    """Run a series of auctions in which bidders learn; give its log too."""
    seats = thinkers(find("game", "english"), memory="list", learning=True)
    auction = Auction(items=ITEMS, bidders=seats, series={"auctions": 2})
    return auction, run_series(auction).log


@cache
def _in_own_form() -> tuple[Auction, Sequence[Entry]]:
    """Run a game whose bidders answer in a protocol's own form; give its log too."""
    seats = thinkers(find("game", "second-price"), protocol="econarena")
    auction = Auction(bidders=seats, rules={"game": "second-price", "runs": 2})
    return auction, auction.run().log


def _measured(metric: Metric, log: Sequence[Entry], what: str) -> bool:
    """Measure a log here and there; says whether the whole of it has a value."""
    found: list[Measurement] = []
    for cut in cuts(log):
        found = measure([metric.name], cut)
        require(found == measure([metric.name], cut), f"{what} measures twice otherwise", found)
        broken = [one.missing for one in found if one.missing.startswith(FAILED)]
        require(not broken, f"{what} fails where the log breaks off after {type(cut[-1].event).__name__}", broken)
    return any(one.value is not None for one in found)
