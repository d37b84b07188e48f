"""How the built-in model learns: from a finished sale to general sentences, and from such sentences back to prices.

It reads its learnings, episodes and dossiers as text, like any model; sentences in other words tell it nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harbor._core.counting import counted

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
