"""How the built-in model reads its rivals: profiles by Bayes' rule, limits by putting itself in their place.

It knows the texts of the catalog, the listings, its own estimates and what everyone saw; no label, no truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from harbor._games.english import valuation as valuation
from harbor.personas._catalog import traits
from harbor.personas._catalog.tastes import fit
from harbor.personas._catalog.traits import Profile

SHADOWS = (1.0, 1.2, 1.4, 1.6)
"""What a kept dollar may be worth to a rival, each as likely: how tightly it plans is not known."""

SPREAD = 0.12
"""How far a rival's limit scatters, as a share of the value: its priorities move it, and bids come in steps."""

SURPRISE = 0.05
"""How often a rival acts oddly: then its limit may lie anywhere, up to `ODD_REACH` times the value."""

ODD_REACH = 1.5


@dataclass(frozen=True)
class BiddingRecord:
    """How a bidder bid on an item: its highest bid, and the least bid it declined (None: it did not), in dollars.

    `value` is the true value that was to be expected then.
    """

    listing: str
    value: float
    highest: float
    declined: float | None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> BiddingRecord:
        """Read it from the facts of a prompt."""
        item, declined_at = facts["item"], facts["declined_at"]
        own = (float(bid["amount"]) for bid in facts["bids"] if bid["bidder"] == facts["bidder"])
        highest = max(own, default=0.0)
        declined = None if declined_at is None else float(declined_at)
        return cls(item["listing"], valuation.expected(facts, float(item["estimate"])), highest, declined)

    @property
    def says_something(self) -> bool:
        """Whether there is anything to learn from: a listing, and a bid or a refusal."""
        heard = self.highest > 0 or self.declined is not None
        return heard and bool(self.listing) and self.value > 0


def update(profile: Profile, catalog: Mapping[str, str], record: BiddingRecord) -> dict[str, float]:
    """Update a profile by Bayes' rule: whose limit would lie between the highest bid and the one declined?"""
    if not record.says_something:
        return dict(profile)
    prior = traits.shares(profile, catalog)
    posterior = {
        persona: prior[persona] * _likelihood(fit({text: 1.0}, record.listing), record)
        for persona, text in catalog.items()
    }
    total = sum(posterior.values())
    return traits.profile({persona: share / total for persona, share in posterior.items()}) if total else dict(profile)


def _likelihood(fit: float, record: BiddingRecord) -> float:
    value, spread = valuation.worth(record.value, fit), SPREAD * record.value
    chances = []
    for shadow in SHADOWS:
        limit = NormalDist(value / shadow, spread)
        above = 1.0 if record.declined is None else limit.cdf(record.declined)
        chances.append(max(0.0, above - limit.cdf(record.highest)))
    reach = ODD_REACH * record.value
    top = reach if record.declined is None else min(reach, record.declined)
    odd = max(0.0, top - record.highest) / reach
    return SURPRISE * odd + (1 - SURPRISE) * sum(chances) / len(chances)


def interest(profile: Profile, catalog: Mapping[str, str], item: Mapping[str, Any]) -> float:
    """Say how much a rival wants an item, from 0 to 1."""
    if not catalog:
        return 0.5
    listing = str(item.get("listing", ""))
    shares = traits.shares(profile, catalog)
    return sum(share * fit({catalog[persona]: 1.0}, listing) for persona, share in shares.items())


def limits(
    profile: Profile, catalog: Mapping[str, str], items: Sequence[Mapping[str, Any]], budget: float
) -> list[float]:
    """Say up to how many dollars a rival would go for each item, by judging in its place."""
    options = [valuation.weigh(item["item"], float(item["start"]), value(profile, catalog, item)) for item in items]
    shadow = valuation.shadow_price(options, budget)
    return [min(budget, option.worth / shadow) for option in options]


def value(profile: Profile, catalog: Mapping[str, str], item: Mapping[str, Any]) -> float:
    """Say how many dollars an item is worth to a rival."""
    return valuation.worth(float(item["value"]), interest(profile, catalog, item))


def cautious(limit: float) -> float:
    """Say up to how many dollars a rival of this expected limit will go almost surely: one spread below it."""
    return limit * (1 - SPREAD)
