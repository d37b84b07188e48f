"""The built-in model reads its rivals by Bayes' rule, and learns from finished sales what it takes to win.

It judges limits by putting itself in its rivals' place. It knows the texts of the catalog, the listings, its own
estimates and what everyone saw; no label, no truth. It reads its learnings, episodes and dossiers as text, like any
model; sentences in other words tell it nothing.
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


Row = Mapping[str, Any]

MOST_ITEMS = 6
"""How many items are remembered by name: those whose prices strayed most from the usual."""

ENOUGH = 2
"""From how many observations on a price is taken for usual."""

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
    """A mean ratio and how many observations stand behind it."""

    mean: float = 0.0
    count: int = 0

    def plus(self, values: Sequence[float]) -> Ratio:
        """Take more observations in."""
        count = self.count + len(values)
        return Ratio((self.mean * self.count + sum(values)) / count, count) if count else self


@dataclass(frozen=True)
class Experience:
    """What earlier sales taught: what it took to win, as multiples of the starting price, and what rivals do.

    `halves` are the first and the second half of an auction; `worth` is what winners paid of what items were worth;
    `reach` how far rivals went.
    """

    usual: Ratio = Ratio()
    halves: tuple[Ratio, Ratio] = (Ratio(), Ratio())
    items: Mapping[str, Ratio] = field(default_factory=dict)
    worth: Mapping[str, Ratio] = field(default_factory=dict)
    reach: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Experience:
        """Read it from sentences."""
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
        """Expect a price in dollars for an item at a place in the auction, from 0 to 1.

        None without experience, and without a starting price that it could be a multiple of.
        """
        half = self.halves[place >= 0.5]
        known = next(
            (one for one in (self.items.get(item["item"]), half, self.usual) if one and one.count >= ENOUGH), None
        )
        return known.mean * float(item["start"]) or None if known else None

    def habit(self, rival: str, item: Row) -> float | None:
        """Expect how far a rival goes for an item in dollars; None without experience.

        That is as far as it went before; or, where only that is known, what it paid of what items were worth, here of
        the true `value` that is expected.
        """
        if rival in self.reach and float(item["start"]):
            return self.reach[rival] * float(item["start"])
        paid = self.worth.get(rival)
        return paid.mean * float(item["value"]) if paid and paid.count >= ENOUGH else None

    def after(self, results: Sequence[Row]) -> Experience:
        """Take a finished auction in; a starting price of 0 is one that nobody told."""
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
        """Put it in general sentences, the most general first."""
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
    """Say what an item will probably cost in dollars: by experience where there is some, else the guess."""
    price = experience.price(item, place)
    return guess if price is None else max(float(item["start"]), price)


def _ratio(mean: str, count: str) -> Ratio:
    return Ratio(_number(mean), int(_number(count)))


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _items(count: int) -> str:
    return counted(count, "item")
