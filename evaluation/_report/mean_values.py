"""What charts of means share, whether they are rows or lines: our means, others' numbers, single games, the axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from harbor.evaluation._experiments.published import EVERYONE, PER_GAME, TRUESKILL
from harbor.evaluation._metrics.measurement import Bounds
from harbor.evaluation._report.formatting import unit_of, write, write_interval
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.own_numbers import Finding, Place
from harbor.evaluation._report.panels import GAME, values_of
from harbor.evaluation._report.published_marks import PublishedMark
from harbor.evaluation._report.scales import bounds_of
from harbor.evaluation._report.tables import label_of

AT_FIRST = 25.0
"""The rating that everybody begins with."""
RATINGS = TRUESKILL, PER_GAME


class Means:
    """The means of a metric: bidders, the ends of the axis, single games and published numbers."""

    def __init__(
        self, loaded: Loaded, metric: str, says: str, found: Sequence[Finding], published: Sequence[PublishedMark]
    ) -> None:
        self.loaded, self.metric, self.says, self.found = loaded, metric, says, found
        self.bidders = sorted({one.place.bidder for one in found}, key=lambda name: (name == EVERYONE, name))
        shown = {(one.place.arm, one.place.condition) for one in found}
        self.published = [
            one
            for one in published
            if one.place.bidder in self.bidders and (one.place.arm, one.place.condition) in shown
        ]
        self.games = _games(loaded, metric)
        means = [end for one in found for end in (one.value, one.low, one.high) if end is not None]
        printed = [end for one in self.published for end in (one.value, one.low, one.high) if end is not None]
        ends = [*means, *printed, *self.games["value"], *([AT_FIRST] if metric in RATINGS else [])]
        self.ends = min(ends), max(ends)
        self.bounds: Bounds = bounds_of(metric, len({*self.bidders} - {EVERYONE, ""}))

    def games_of(self, place: Place) -> pd.DataFrame:
        """Give the single games of a mean."""
        games = self.games
        return games[
            (games["arm"] == place.arm) & (games["condition"] == place.condition) & (games["bidder"] == place.bidder)
        ]

    def told(self, found: Iterable[Finding]) -> str:
        """Say means in words, for those who can't see them."""
        return f"{self.says}: {'; '.join(map(self._said, found))}"

    def _said(self, one: Finding) -> str:
        kinds = ("arm", "condition") if len(self.loaded.experiment.conditions) > 1 else ("arm",)
        names = [label_of(self.loaded.experiment, kind, getattr(one.place, kind)) for kind in kinds]
        unit = unit_of(self.metric)
        return " ".join(
            filter(None, (*names, one.place.bidder, write(one.value, unit), write_interval(one.low, one.high, unit)))
        )


def _games(loaded: Loaded, metric: str) -> pd.DataFrame:
    """Give one value per game and bidder, of a metric that has one; none where it has several, at places or about."""
    rows = values_of(loaded, metric)
    if rows.empty or rows["at"].notna().any() or (rows["about"] != "").any():
        return rows[[*GAME, "bidder", "value"]][:0]
    return rows[[*GAME, "bidder", "value"]]
