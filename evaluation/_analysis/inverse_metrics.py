"""The measures of profiles, taken of what inverse planning infers: a reference beside the profiles that models make.

They are measured of the same rivals in the same games. Of simulated bidders inverse planning knows how they plan; for
language models and people it is a misspecified baseline, so that a model may well be better.
"""

from __future__ import annotations

from collections.abc import Sequence

from harbor._core.events import BidderSeated, CatalogShown
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics import profiling
from harbor.evaluation._metrics.measurement import Measurement, Metric, metric
from harbor.evaluation._metrics.profiling import Judged
from harbor.evaluation._metrics.results import positions
from harbor.personas._catalog import traits


def inferred(entries: Sequence[Entry]) -> list[Judged]:
    """Set beside the truth what inverse planning infers for each bidder that is shown the catalog, after each item."""
    truths = profiling.truths(entries)
    seats = {seated.bidder for seated in of_type(entries, BidderSeated)}
    if not truths:
        return []
    from harbor.evaluation._analysis.inverse_planner import inferences

    return [
        Judged(one.bidder, one.rival, one.item, truths[one.rival], traits.profile(one.personas))
        for shown in of_type(entries, CatalogShown)
        if shown.bidder in seats  # a log may have broken off before
        for one in inferences(entries, shown.bidder)
        if one.rival in truths
    ]


@metric("divergence of an inverse planner's profile", "nats", "skewed", no_data=profiling.NO_PROFILES)
def profiling_error_inverse(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """KL(truth || profile) in nats as `profiling_error`, of what inverse planning infers in the bidder's place.

    Source: Harbor's own; the idea is Baker, Saxe and Tenenbaum 2009.
    """
    places = positions(entries)
    return [
        Measurement(name, profiling.divergence(one.truth, one.profile), one.bidder, one.rival, places.get(one.item))
        for one in inferred(entries)
    ]


def _reference(score: profiling.Score, of: Metric) -> Metric:
    """Make the measure of an inverse planner's last profiles that stands beside a metric of the bidders' own."""

    def measure(name: str, entries: Sequence[Entry]) -> list[Measurement]:
        return profiling.scored(name, profiling.last(inferred(entries)), score)

    measure.__doc__ = f"""As `{of.name}`, of what inverse planning infers in the bidder's place.

    Source: Harbor's own; the idea is Baker, Saxe and Tenenbaum 2009.
    """
    return metric(
        f"{of.description}, by inverse planning",
        of.unit,
        of.interval,
        no_data=profiling.NO_PROFILES,
        name=f"{of.name}_inverse",
    )(measure)


METRICS = (
    profiling_error_inverse,
    _reference(profiling.divergence, profiling.final_profiling_error),
    _reference(profiling.hit, profiling.final_profile_top1),
    _reference(profiling.brier, profiling.final_profile_brier),
    _reference(profiling.overconfidence, profiling.final_profile_overconfidence),
)
"""In the order in which tables list them."""
