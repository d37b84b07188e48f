"""A statistical profiler: a baseline for the profiles that models make.

It sees what a bidder sees: listings, catalog texts, public bids. A logistic regression learns from logs of other sales
how bidding shows a persona. Trained on some personas and houses, it can judge others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from harbor._core.events import BidderLabelled, CatalogShown, Listed, Lot
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.outcomes import Sale, outcomes, sales
from harbor.evaluation._metrics.acts import MadeBid, bids
from harbor.personas._catalog.tastes import fit

FEATURES = ("share of bids", "height over start", "height lost by", "items won")
"""What is measured of a bidder, each weighted by how well the items suit a persona."""


@dataclass(frozen=True)
class Profiler:
    """A trained profiler."""

    classifier: Pipeline

    def profile(self, entries: Sequence[Entry], bidder: str, catalog: Mapping[str, str]) -> dict[str, float]:
        """Give a bidder's probable share of each persona of a catalog, from the public part of a log.

        Args:
            entries: a log.
            bidder: one of its bidders; of one that never bid there is nothing to tell, so all shares are equal.
            catalog: texts by id.

        Raises:
            ValueError: the log has no such bidder, or the catalog is empty.
        """
        bidders = [name for opened in of_type(entries, Listed) for name in opened.bidders]
        if bidder not in bidders or not catalog:
            what = f"bidder {bidder!r}" if catalog else "persona in the catalog"
            raise ValueError(f"there is no {what}; give one of {bidders} and a catalog of texts by id")
        if not any(bid.bidder == bidder for bid in bids(entries)):
            return dict.fromkeys(catalog, 1 / len(catalog))
        rows = features(entries, bidder, catalog)
        chances = self.classifier.predict_proba(list(rows.values()))[:, 1]
        total = float(sum(chances))
        return {persona: float(chance) / total for persona, chance in zip(rows, chances, strict=True)}


def train(logs: Iterable[Sequence[Entry]], catalog: Mapping[str, str] | None = None) -> Profiler:
    """Train on logs whose bidders' personas are known.

    Args:
        logs: of sales with bidders that have personas.
        catalog: texts by id; the catalog that each log shows by default.

    Raises:
        ValueError: a log shows no catalog and none is given; or no bidder of the logs has a persona of it, or every
            one has all of it, so that there is nothing to tell apart.
    """
    rows: list[list[float]] = []
    labels: list[bool] = []
    for entries in logs:
        texts = catalog or _shown(entries)
        for label in of_type(entries, BidderLabelled):
            if not any(persona in texts for persona in label.personas):
                continue
            measured = features(entries, label.bidder, texts)
            rows += measured.values()
            labels += [persona in label.personas for persona in measured]
    if len(set(labels)) < 2:
        raise ValueError("no bidder of these logs has one persona of the catalog and lacks another; give other logs")
    return Profiler(make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels))


def _shown(entries: Sequence[Entry]) -> Mapping[str, str]:
    shown = of_type(entries, CatalogShown)
    if not shown:
        raise ValueError("a log shows no catalog, as no bidder of it has a theory of mind; give train(catalog=...)")
    return shown[0].personas


def features(entries: Sequence[Entry], bidder: str, catalog: Mapping[str, str]) -> dict[str, list[float]]:
    """Measure what a bidder did on items that suit each persona, against what it did on average."""
    lots = [lot for opened in of_type(entries, Listed) for lot in opened.lots]
    own = [bid for bid in bids(entries) if bid.bidder == bidder]
    sold = sales(outcomes(entries))
    measures = [_measure(lot, own, sold.get(lot.name), bidder) for lot in lots]
    return {
        persona: _weighted(measures, [fit({text: 1.0}, lot.listing) for lot in lots])
        for persona, text in catalog.items()
    }


def _measure(lot: Lot, bids: Sequence[MadeBid], sale: Sale | None, bidder: str) -> list[float]:
    """Measure one item; the order is that of `FEATURES`."""
    own = [float(bid.amount) for bid in bids if bid.item == lot.name]
    start, highest = float(lot.start), max(own, default=0.0)
    won = sale is not None and sale.winner == bidder
    lost_by = 0.0 if sale is None or won else (float(sale.price) - highest) / start
    return [len(own) / max(1, len(bids)), highest / start, lost_by, float(won)]


def _weighted(measures: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    """Give the mean of each measure weighted by fit, less its plain mean."""
    total = sum(weights) or 1.0
    return [
        sum(weight * value for weight, value in zip(weights, column, strict=True)) / total - fmean(column)
        for column in zip(*measures, strict=True)
    ]
