"""A Bayesian inverse planner infers profiles of rivals from their bids, as a reference for the profiles of bidders.

The planner needs no training. For each persona it computes up to which price a bidder with that persona would have bid
on each item, given its money. It weighs the personas by how well these limits fit the bids of a rival. The planner
assumes that rivals judge and plan as the built-in model does, so it is a strong reference for simulated bidders. For
language models and people that assumption is wrong; there it is only a baseline, and a model may well do better.

Source: the idea is Baker, Saxe and Tenenbaum 2009 (action understanding as inverse planning); the model of a bidder and
the likelihood are Harbor's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

from harbor._core.log.events import BidderSeated, CatalogShown, Lot
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, is_seen_by
from harbor._games.bidder_view import Part, View
from harbor._games.english import valuation
from harbor._games.english.facts import bidding_on
from harbor._games.english.valuation import Option
from harbor._games.outcomes import revealed, truth_per_estimate
from harbor.evaluation._metrics import profiling
from harbor.evaluation._metrics.measurement import Measurement, Metric, metric
from harbor.evaluation._metrics.profiling import Judged
from harbor.evaluation._metrics.results import positions
from harbor.personas._catalog import traits
from harbor.personas._catalog.traits import fit

PRUDENCES = (0.8, 0.9, 1.0, 1.1)
"""Possible worth to a rival of an item that suits it by half, as a share of its expected true value; equally likely."""

BUDGETS = (0.75, 1.0, 1.5)
"""Possible initial budgets of a rival, as multiples of the profiling bidder's own; equally likely."""

SPREADS = (0.03, 0.06, 0.12)
"""Possible standard deviations of a limit around the planned one, as shares of the value; equally likely."""

SURPRISE = 0.05
"""Probability that a rival acts oddly: then its limit is uniform up to `ODD_REACH` times the value."""

ODD_REACH = 1.5
"""Largest odd limit, as a multiple of the expected true value."""

RARE = 1e-9
"""Least likelihood, so that one bid that fits no hypothesis does not end the inference."""


class Rival(NamedTuple):
    """One hypothesis about a rival: its persona, prudence, initial budget over the profiling bidder's, and spread."""

    persona: str
    prudence: float
    budget: float
    spread: float


Posterior = Mapping[Rival, float]


@dataclass(frozen=True, slots=True)
class Inference:
    """The planner's beliefs about a rival after an item, from the view of the profiling bidder.

    `personas` are the shares of the personas. `prudence` is the worth to the rival of an item that suits it by half, as
    a share of the true value that the bidder expects: the bidder's estimate, corrected by the true values revealed so
    far. `budget` is the rival's initial budget as a multiple of the bidder's own. Both are expected values.
    """

    bidder: str
    rival: str
    item: str
    personas: dict[str, float]
    prudence: float
    budget: float


def inferences(entries: Sequence[Entry], bidder: str, catalog: Mapping[str, str] | None = None) -> list[Inference]:
    """Infer each rival's persona, prudence and initial budget after each item, from events that a bidder may see.

    Prudence is the worth to the rival of an item that suits it by half, as a share of the true value that the bidder
    expects. The planner knows only the bidder's own budget and estimates, the catalogue of personas that the bidder is
    shown, and public events. It knows neither a true persona nor a private event of a rival.

    Args:
        entries: the log of an ascending auction.
        bidder: the name of the bidder from whose view rivals are profiled.
        catalog: the texts of the personas by id; by default, the catalogue that the bidder is shown.

    Raises:
        ValueError: the log has no such bidder, or no catalogue is passed and the bidder is shown none.
    """
    view = View().after(entry.event for entry in entries if is_seen_by(bidder, entry.event))
    texts = view.catalog if catalog is None else catalog
    if view.name != bidder or not texts:
        what = "persona to infer" if view.name == bidder else f"bidder {bidder!r}"
        raise ValueError(f"there is no {what}; give a bidder of the log, and a catalog of texts by id")
    return [inference for rival in view.rivals for inference in _sequence(view, rival, texts)]


def _sequence(view: View, rival: str, catalog: Mapping[str, str]) -> list[Inference]:
    """Update by Bayes' rule, item by item."""
    everyone = [Rival(*one) for one in product(catalog, PRUDENCES, BUDGETS, SPREADS)]
    posterior: Posterior = dict.fromkeys(everyone, 1 / len(everyone))
    found, spent = [], 0.0
    for place, result in enumerate(view.results):
        values = _expected_values(view, view.results[:place])
        evidence = Evidence.of(result, rival, values[result.item])
        if evidence.says_something:
            coming = view.lots[place:]
            options = {one: _options(coming, values, catalog[one[0]], one[1]) for one in product(catalog, PRUDENCES)}
            limits = {
                (*buyer, budget): _limit(weighed, budget * float(view.initial_budget) - spent)
                for (buyer, weighed), budget in product(options.items(), BUDGETS)
            }
            posterior = _updated(posterior, evidence, limits)
        if result.winner == rival and result.price is not None:
            spent += float(result.price)
        found.append(_inference(view.name, rival, result.item, posterior, catalog))
    return found


def _expected_values(view: View, results: Sequence[Part]) -> dict[str, float]:
    """Return expected true values in dollars: estimates, corrected by the values that these results revealed."""
    share = truth_per_estimate(view.estimates, revealed(results)) or 1
    return {item: float(estimate * share) for item, estimate in view.estimates.items()}


class Evidence(NamedTuple):
    """A rival's bids on an item, in dollars: its limit is at least its `highest` and less than its `declined` bid."""

    value: float
    highest: float
    declined: float

    @classmethod
    def of(cls, result: Part, rival: str, value: float) -> Evidence:
        """Read the evidence from public events; a rival without money for a bid declined it too."""
        bidding = bidding_on(result)
        withdrawal = bidding.withdrawn.get(rival) if bidding else None
        declined = float("inf") if withdrawal is None else float(withdrawal.minimum)
        return cls(value, float(result.highest_bid(rival) or 0), declined)

    @property
    def says_something(self) -> bool:
        """Say whether the rival bid or declined, on an item of known value."""
        return self.value > 0 and (self.highest > 0 or self.declined < float("inf"))

    def likelihood(self, limit: float, spread: float) -> float:
        """Return the probability of this evidence at a planned limit in dollars; `spread` is a share of the value."""
        planned = NormalDist(limit, spread * self.value)
        reach = ODD_REACH * self.value
        odd = max(0.0, min(self.declined, reach) - self.highest) / reach
        return max(RARE, SURPRISE * odd + (1 - SURPRISE) * (planned.cdf(self.declined) - planned.cdf(self.highest)))


def _updated(prior: Posterior, evidence: Evidence, limits: Mapping[tuple[str, float, float], float]) -> Posterior:
    """Return the posterior: the prior times the likelihood of the evidence at each hypothesis's limit."""
    likely = {one: chance * evidence.likelihood(limits[one[:3]], one.spread) for one, chance in prior.items()}
    total = sum(likely.values())
    return {one: chance / total for one, chance in likely.items()}


def _options(coming: Sequence[Lot], values: Mapping[str, float], text: str, prudence: float) -> list[Option]:
    """Weigh the items to come as a rival of this persona and prudence would."""
    worths = (valuation.worth(values[lot.name], fit({text: 1.0}, lot.listing)) for lot in coming)
    return [
        valuation.weigh(lot.name, float(lot.start), prudence * worth) for lot, worth in zip(coming, worths, strict=True)
    ]


def _limit(options: Sequence[Option], left: float) -> float:
    """Return how far a rival goes for the first of these items, by its own priorities and shadow price of money."""
    first = options[0]
    priority = valuation.rank(options, left)[first.name]
    return valuation.limit(first.worth, priority, valuation.shadow_price(options, left), left)


def _inference(bidder: str, rival: str, item: str, posterior: Posterior, catalog: Mapping[str, str]) -> Inference:
    shares = dict.fromkeys(catalog, 0.0)
    for one, chance in posterior.items():
        shares[one.persona] += chance
    prudence = sum(chance * one.prudence for one, chance in posterior.items())
    budget = sum(chance * one.budget for one, chance in posterior.items())
    return Inference(bidder, rival, item, shares, prudence, budget)


def inferred(entries: Sequence[Entry]) -> list[Judged]:
    """Pair the inferences for each bidder that is shown the catalog with the truth, after each item."""
    truths = profiling.truths(entries)
    seats = {seated.bidder for seated in of_type(entries, BidderSeated)}
    if not truths:
        return []
    return [
        Judged(one.bidder, one.rival, one.item, truths[one.rival], traits.profile(one.personas))
        for shown in of_type(entries, CatalogShown)
        if shown.bidder in seats  # the log may end before a bidder is seated
        for one in inferences(entries, shown.bidder)
        if one.rival in truths
    ]


@metric("divergence of an inverse planner's profile", "nats", "skewed", no_data=profiling.NO_PROFILES)
def profiling_error_inverse(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the divergence KL(truth || profile) in nats, as `profiling_error` does, of an inverse planner's profiles.

    The planner profiles rivals from the view of each bidder that is shown the catalogue of personas.

    Source: Harbor's own; the idea is Baker, Saxe and Tenenbaum 2009.
    """
    places = positions(entries)
    return [
        Measurement(name, profiling.divergence(one.truth, one.profile), one.bidder, one.rival, places.get(one.item))
        for one in inferred(entries)
    ]


def _reference(score: profiling.Score, of: Metric) -> Metric:
    """Return the metric of an inverse planner's last profiles that stands beside one of the bidders' own profiles."""

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
"""Metrics in the order of tables."""
