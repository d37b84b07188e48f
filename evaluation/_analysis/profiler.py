"""A statistical profiler, as a baseline for the profiles that models make of rivals; and measures of calibration.

The profiler sees the same as a bidder: listings, the catalogue's texts and public bids. It is a logistic regression,
which learns from logs of other sales how bids show a persona. Once it is trained on some personas and houses, it can
judge others. Calibration compares the confidence of profiles with the truth; it can only be measured over many games.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from harbor._core.log.events import BidderLabelled, CatalogShown, Listed, Lot
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games.outcomes import Sale, outcomes, sales
from harbor.evaluation._metrics.behaviour import MadeBid, bids
from harbor.evaluation._metrics.profiling import Judged, divergence, overconfidence
from harbor.personas._catalog import traits
from harbor.personas._catalog.traits import fit

FEATURES = ("share of bids", "height over start", "height lost by", "items won")
"""The measures of a bidder's acts on an item, which are averaged with weights: how well the item suits a persona."""


@dataclass(frozen=True)
class Profiler:
    """A trained profiler: a scaler of the measures of a bidder's acts, and a logistic regression on them."""

    classifier: Pipeline

    def profile(self, entries: Sequence[Entry], bidder: str, catalog: Mapping[str, str]) -> dict[str, float]:
        """Estimate a bidder's share of each persona in a catalogue from the public events of a log.

        Args:
            entries: the log.
            bidder: the name of a bidder in the log; if the bidder never bid, all shares are equal.
            catalog: the texts of the personas by id.

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
    """Train a profiler on logs in which the personas of the bidders are known.

    Args:
        logs: the logs of sales whose bidders have personas.
        catalog: the texts of the personas by id; by default, the catalogue that each log shows to its bidders.

    Raises:
        ValueError: no catalogue is passed and a log shows none; or the logs allow no distinction between personas,
            because no bidder has a persona of the catalogue, or every bidder has all of them.
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
    """Measure a bidder's acts on the items that suit each persona, less the bidder's average over all items."""
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
    """Return the mean of each measure weighted by fit, less its plain mean."""
    total = sum(weights) or 1.0
    return [
        sum(weight * value for weight, value in zip(weights, column, strict=True)) / total - fmean(column)
        for column in zip(*measures, strict=True)
    ]


BINS = 10
"""Number of bins for the largest share."""
TEMPERATURES = (0.05, 20.0)
"""Range of the search for the best temperature."""


def calibration_error(profiles: Sequence[Judged]) -> float:
    """Return the expected calibration error of profiles of rivals, from 0 (as sure as they are right) to 1.

    Profiles are put into bins of equal width by their largest share. The gap of a bin is the distance between two means
    over its profiles: the mean largest share, and the mean true share of the personas that have the largest share. The
    error is the mean of the gaps, weighted by the number of profiles in each bin. If bins have few profiles, the error
    comes out too large.

    Source: Naeini, Cooper and Hauskrecht 2015.

    >>> sure = Judged("Ann", "Ben", "Vase", {"rural": 1.0, "urban": 0.0}, {"rural": 1.0, "urban": -1.0})
    >>> calibration_error([sure])
    0.0

    Raises:
        ValueError: there is no profile.
    """
    if not profiles:
        raise ValueError("there is no profile to calibrate; give profiles of rivals whose persona is known")
    gaps: dict[int, list[float]] = {}
    for one in profiles:
        largest = max(traits.shares(one.profile, one.truth).values())
        gaps.setdefault(min(BINS - 1, int(largest * BINS)), []).append(overconfidence(one.truth, one.profile))
    return sum(len(group) * abs(fmean(group)) for group in gaps.values()) / len(profiles)


class Tempered(NamedTuple):
    """The temperature with the smallest mean divergence of profiles from the truth, and that divergence in nats."""

    temperature: float
    divergence: float


def best_temperature(profiles: Sequence[Judged]) -> Tempered:
    """Find the temperature with which the mean divergence of these profiles from the truth is smallest.

    To apply a temperature to a profile, each share is raised to the power of 1 / temperature, and the shares are
    normalised; a temperature below 1 makes the profile more confident. The result has the `temperature`, and the mean
    `divergence` in nats that remains with it; no other temperature for all profiles makes it smaller. Because the
    temperature is chosen and tested on the same profiles, the divergence for other profiles is likely to be larger.

    Source: Guo et al. 2017 (temperature scaling).

    >>> unsure = Judged("Ann", "Ben", "Vase", {"rural": 1.0, "urban": 0.0}, {"rural": 0.2, "urban": -0.2})
    >>> best_temperature([unsure]).temperature < 1
    True
    """

    def error(cold: float) -> float:
        return fmean(divergence(one.truth, tempered(one, 1 / cold)) for one in profiles)

    low, high = (1 / bound for bound in reversed(TEMPERATURES))
    found = minimize_scalar(error, bounds=(low, high), method="bounded")
    return Tempered(1 / float(found.x), float(found.fun))


def tempered(one: Judged, temperature: float) -> Mapping[str, float]:
    """Return the shares of a profile after a temperature is applied to them, as a new profile."""
    shares = traits.shares(one.profile, one.truth)
    largest = max(shares.values())
    raised = {persona: (share / largest) ** (1 / temperature) for persona, share in shares.items()}
    total = sum(raised.values())
    return traits.profile({persona: share / total for persona, share in raised.items()})
