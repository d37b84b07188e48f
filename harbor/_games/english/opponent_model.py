"""The built-in model profiles its rivals by Bayes' rule, and learns prices from finished sales.

It computes a rival's limit as it computes its own. It knows the texts of the catalog, the listings, its own estimates
and public events, but no true persona and no true value. It reads its learnings, episodes and dossiers as text, like
any model, and ignores all other sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from harbor._core.basics.numbers import counted
from harbor._games.english import valuation as valuation
from harbor.personas._catalog import traits
from harbor.personas._catalog.traits import Profile, fit

SHADOWS = (1.0, 1.2, 1.4, 1.6)
"""Possible shadow prices of a rival's budget in dollars per dollar, equally likely, as its planning is unknown."""

SPREAD = 0.12
"""Standard deviation of a rival's limit, as a share of the value: priorities shift limits, and bids come in steps."""

SURPRISE = 0.05
"""Probability that a rival acts oddly: then its limit lies anywhere from 0 to `ODD_REACH` times the value."""

ODD_REACH = 1.5
"""Upper end of an odd limit, as a multiple of the value."""


@dataclass(frozen=True)
class BiddingRecord:
    """A bidder's bids on an item: its highest bid, and the minimum that it declined (None: it did not), in dollars.

    `value` is the true value in dollars that was expected then.
    """

    listing: str
    value: float
    highest: float
    declined: float | None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> BiddingRecord:
        """Read a record from the facts of a prompt."""
        item, declined_at = facts["item"], facts["declined_at"]
        own = (float(bid["amount"]) for bid in facts["bids"] if bid["bidder"] == facts["bidder"])
        highest = max(own, default=0.0)
        declined = None if declined_at is None else float(declined_at)
        return cls(item["listing"], valuation.expected(facts, float(item["estimate"])), highest, declined)

    @property
    def says_something(self) -> bool:
        """True if there is evidence: a listing, a positive value, and a bid or a refusal."""
        heard = self.highest > 0 or self.declined is not None
        return heard and bool(self.listing) and self.value > 0


def update(profile: Profile, catalog: Mapping[str, str], record: BiddingRecord) -> dict[str, float]:
    """Update a rival's profile by Bayes' rule: its limit is above its highest bid and below the declined amount."""
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
    """Return the probability that a limit lies between the highest and the declined bid, averaged over `SHADOWS`."""
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
    """Return how well an item suits a rival, from 0 to 1; 0.5 without a catalog."""
    if not catalog:
        return 0.5
    listing = str(item.get("listing", ""))
    shares = traits.shares(profile, catalog)
    return sum(share * fit({catalog[persona]: 1.0}, listing) for persona, share in shares.items())


def limits(
    profile: Profile, catalog: Mapping[str, str], items: Sequence[Mapping[str, Any]], budget: float
) -> list[float]:
    """Return a rival's limit in dollars per item: worth over the shadow price of its budget, at most the budget."""
    options = [valuation.weigh(item["item"], float(item["start"]), value(profile, catalog, item)) for item in items]
    shadow = valuation.shadow_price(options, budget)
    return [min(budget, option.worth / shadow) for option in options]


def value(profile: Profile, catalog: Mapping[str, str], item: Mapping[str, Any]) -> float:
    """Return the worth of an item to a rival in dollars."""
    return valuation.worth(float(item["value"]), interest(profile, catalog, item))


def cautious(limit: float) -> float:
    """Return the dollars that a rival with this expected limit almost surely bids: one `SPREAD` below it."""
    return limit * (1 - SPREAD)


Row = Mapping[str, Any]

MOST_ITEMS = 6
"""Number of items remembered by name: those whose mean prices differ most from the usual one."""

ENOUGH = 2
"""Least number of observations for a mean to be used."""

_NUMBER = r"(\d[\d,]{,20}(?:\.\d{,20})?)"  # bounded: a memory is somebody's text
_USUAL = re.compile(rf"Over {_NUMBER} items?, to win took {_NUMBER} times the starting price\.")
_HALVES = re.compile(
    rf"In the first half of an auction it took {_NUMBER} times that price \({_NUMBER} items?\), "
    rf"in the second half {_NUMBER} times \({_NUMBER} items?\)\."
)
_ITEM = re.compile(rf"To win (.+) took {_NUMBER} times its starting price \({_NUMBER} auctions?\)\.")
_OVERBIDDER = re.compile(rf"(.+) paid {_NUMBER} times what its items were worth \({_NUMBER} items?\)\.")
_EPISODE = re.compile(rf"(.+), from \${_NUMBER}, was sold to (?:.+) for \${_NUMBER}\.")
_DOSSIER = re.compile(rf"(.+), in \d+ auctions?: .* went on average to {_NUMBER} times the starting price")


@dataclass(frozen=True)
class Ratio:
    """A mean ratio and its number of observations."""

    mean: float = 0.0
    count: int = 0

    def plus(self, values: Sequence[float]) -> Ratio:
        """Return the ratio with more observations."""
        count = self.count + len(values)
        return Ratio((self.mean * self.count + sum(values)) / count, count) if count else self


@dataclass(frozen=True)
class Experience:
    """The lessons of earlier sales: prices as multiples of the starting price, and the habits of rivals.

    `usual` is the mean over all items, `halves` the means in the first and second half of an auction, and `items` the
    means by item. `worth` is price over true value by winner. `reach` is the mean top bid over starting price by rival.
    """

    usual: Ratio = Ratio()
    halves: tuple[Ratio, Ratio] = (Ratio(), Ratio())
    items: Mapping[str, Ratio] = field(default_factory=dict)
    worth: Mapping[str, Ratio] = field(default_factory=dict)
    reach: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Experience:
        """Read the experience from sentences."""
        usual, halves, reach = Ratio(), (Ratio(), Ratio()), {}
        items: dict[str, Ratio] = {}
        worth: dict[str, Ratio] = {}
        episodes: dict[str, list[float]] = {}
        for text in texts:
            if found := _USUAL.search(text):
                usual = _ratio(found[2], found[1])
            if found := _HALVES.search(text):
                halves = (_ratio(found[1], found[2]), _ratio(found[3], found[4]))
            if found := _ITEM.fullmatch(text):
                items[found[1]] = _ratio(found[2], found[3])
            if found := _OVERBIDDER.fullmatch(text):
                worth[found[1]] = _ratio(found[2], found[3])
            if (found := _EPISODE.match(text)) and _number(found[2]):
                episodes.setdefault(found[1], []).append(_number(found[3]) / _number(found[2]))
            if found := _DOSSIER.match(text):
                reach[found[1]] = _number(found[2])
        if episodes and not usual.count:
            usual = Ratio().plus([value for values in episodes.values() for value in values])
            items = {item: Ratio().plus(values) for item, values in episodes.items()}
        return cls(usual, halves, items, worth, reach)

    def price(self, item: Row, place: float) -> float | None:
        """Return the expected price in dollars of an item at a place in the auction, from 0 to 1.

        None without experience or without a starting price.
        """
        half = self.halves[place >= 0.5]
        known = next(
            (one for one in (self.items.get(item["item"]), half, self.usual) if one and one.count >= ENOUGH), None
        )
        return known.mean * float(item["start"]) or None if known else None

    def habit(self, rival: str, item: Row) -> float | None:
        """Return the expected limit of a rival for an item in dollars; None without experience.

        That is its `reach` times the starting price; if that is unknown, its `worth` times the expected true `value`.
        """
        if rival in self.reach and float(item["start"]):
            return self.reach[rival] * float(item["start"])
        paid = self.worth.get(rival)
        return paid.mean * float(item["value"]) if paid and paid.count >= ENOUGH else None

    def after(self, results: Sequence[Row]) -> Experience:
        """Return the experience after one more auction; a starting price of 0 means that it is unknown."""
        sold = [(place / len(results), row) for place, row in enumerate(results) if row["price"] is not None]
        told = [(place, row) for place, row in sold if float(row["start"])]
        ratios = [(place, float(row["price"]) / float(row["start"]), row) for place, row in told]
        items, worth = dict(self.items), dict(self.worth)
        for _, ratio, row in ratios:
            items[row["item"]] = items.get(row["item"], Ratio()).plus([ratio])
        for _, row in sold:
            if row["true_value"]:
                paid = float(row["price"]) / float(row["true_value"])
                worth[row["winner"]] = worth.get(row["winner"], Ratio()).plus([paid])
        return Experience(
            self.usual.plus([ratio for _, ratio, _ in ratios]),
            (
                self.halves[0].plus([ratio for place, ratio, _ in ratios if place < 0.5]),
                self.halves[1].plus([ratio for place, ratio, _ in ratios if place >= 0.5]),
            ),
            items,
            worth,
        )

    def sentences(self) -> list[str]:
        """Return the experience as sentences, the most general first."""
        if not self.usual.count:
            return ["Nothing was sold whose starting price was told, so nothing was learned about prices."]
        first, second = self.halves
        told = [
            f"Over {_items(self.usual.count)}, to win took {self.usual.mean:.3f} times the starting price.",
            f"In the first half of an auction it took {first.mean:.3f} times that price ({_items(first.count)}), "
            f"in the second half {second.mean:.3f} times ({_items(second.count)}).",
        ]
        highest = sorted(self.worth.items(), key=lambda one: -one[1].mean)
        told += [
            f"{name} paid {ratio.mean:.3f} times what its items were worth ({_items(ratio.count)})."
            for name, ratio in highest[:2]
        ]
        strays = sorted(self.items.items(), key=lambda one: -abs(one[1].mean - self.usual.mean))
        told += [
            f"To win {name} took {ratio.mean:.3f} times its starting price ({counted(ratio.count, 'auction')})."
            for name, ratio in strays[:MOST_ITEMS]
        ]
        return told


def expected_cost(experience: Experience, item: Row, place: float, guess: float) -> float:
    """Return the expected price of an item in dollars: from experience if there is any, else the guess."""
    price = experience.price(item, place)
    return guess if price is None else max(float(item["start"]), price)


def _ratio(mean: str, count: str) -> Ratio:
    return Ratio(_number(mean), int(_number(count)))


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _items(count: int) -> str:
    return counted(count, "item")
