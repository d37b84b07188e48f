"""How the built-in model reads an auctioneer's English: who is asked, at which price, and what was told.

It goes by the plain words of any auction, and by where they stand: a figure is what the nearest such word says it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from random import Random
from typing import NamedTuple

from harbor._config.auction import Simulated
from harbor._models.simulated.amounts_said import Figure, figures_in
from harbor._models.simulated.auction_words import (
    ANY_AMOUNT,
    ASKING,
    CLOSED,
    CUES,
    EVERYBODY,
    NAME,
    ONE_PRICE,
    ORDINARY,
    OUT,
    SOLD,
    UNSOLD,
    WAITING,
)
from harbor._models.simulated.forecasting import Facts, Values

_NOISE = re.compile(r"[*_`#>{}\[\]\"|]+")
_BREAK = re.compile(r"[(,;:]|\band (?!(?:up|over)\b)")
_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_TITLE = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)+")
"""Two words or more that may be the name of an item."""
BEFORE, AFTER, NEAR = 60, 20, 45
"""How many characters before and after a figure its word may stand, and how far off the name of who bid it."""
ALIKE = 0.84
"""From which likeness on words are a misspelt name."""


def listen(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Write down what an auctioneer said."""
    text = "\n".join(_NOISE.sub(" ", line) for line in facts["words"].replace("\u2019", "'").splitlines())
    heard = _Heard(text, str(facts["you"]), facts["known_items"], facts["item_now"])
    asked = heard.asked()
    item = heard.item if asked else heard.put_up()
    reading: Values = {"asked": asked, "item": item, "least": None, "exact": None, "any_amount": False}
    priced = heard.price() | {"any_amount": heard.any_amount()} if asked else {}
    return reading | priced | {"news": list(heard.news())}


class _Said(NamedTuple):
    """A sentence: the item that it is about, and its figures with their roles."""

    text: str
    item: str | None
    figures: list[tuple[str, Figure]]


class _Heard:
    """What was said, sentence by sentence."""

    def __init__(self, text: str, you: str, items: Sequence[str], now: str | None) -> None:
        self._you = you
        self._sentences: list[_Said] = []
        self._named: set[str] = {name for _, name in _places(text, items)}
        item = now
        for sentence in filter(str.strip, _END.split(text)):
            named = [name for _, name in sorted(_places(sentence, items))]
            item = named[-1] if named else item
            self._sentences.append(_Said(sentence, item, list(_roles(sentence))))
        open_ones = [said.item for said in self._sentences if said.item and not _is_over(said.text)]
        self.item = open_ones[-1] if open_ones else item
        if not self._named:
            self.item = self._strange_item() or self.item

    def _strange_item(self) -> str | None:
        """Find what may be the name of an item that nobody told the bidder of."""
        titles: list[str] = [title for said in self._sentences for title in _TITLE.findall(said.text)]
        for title in titles:
            if not {word.casefold() for word in title.split()} & {*ORDINARY, self._you.casefold()}:
                return title
        return None

    def put_up(self) -> str | None:
        """Give the item that is put up for sale: the only one that is named, unless it is announced for later."""
        only_one = len(self._named) == 1 and self.item in self._named
        return self.item if only_one and not self._is_closed() else None

    # ------------------------------------------------------------ who is asked

    def asked(self) -> bool:
        """Say whether the bidder is asked; who is spoken to stays so until somebody else is."""
        mine, asked = self._nobody_is_called(), False
        if self._is_closed():
            return False
        for said in self._sentences:
            called = self._called(said.text)
            mine = mine if called is None else called
            if mine and ASKING.search(said.text):
                asked = not WAITING.search(said.text)
            asked = asked or (called is True and self._is_turn(said.text))
        return asked

    def _is_closed(self) -> bool:
        return any(CLOSED.search(said.text) for said in self._sentences)

    def _nobody_is_called(self) -> bool:
        return all(self._called(said.text) is None for said in self._sentences)

    def _called(self, text: str) -> bool | None:
        """Say whether a sentence speaks to the bidder, to somebody else, or to nobody by name."""
        names, you = _vocatives(text), re.escape(self._you)
        if any(name.casefold() == self._you.casefold() for name in names) or self._is_turn(text):
            return True
        if re.search(rf"\b(?:will|would|can|could|might|perhaps|maybe) {you}\b", text, re.IGNORECASE):
            return True
        return False if names else True if EVERYBODY.search(text) else None

    def _is_turn(self, text: str) -> bool:
        you = re.escape(self._you)
        return bool(re.search(rf"\b(?:act|turn|next|up)\b\s*[:=]\s*@?{you}\b|\b{you}(?:'s turn| to act)\b", text, re.I))

    # ------------------------------------------------------------ at which price

    def price(self) -> Values:
        """Give the one price, or the least that may be bid."""
        told = self._of_item()
        figures = [(role, figure.amount) for said in told for role, figure in said.figures]
        if any(ONE_PRICE.search(said.text) for said in told):
            named = [amount for role, amount in figures if role in ("price", "", "high")]
            prices = [amount for role, amount in figures if role == "price"] or named
            if prices:
                return {"exact": prices[-1]}
        least = [amount for role, amount in figures if role == "least"]
        highest = [amount for role, amount in figures if role == "high"]
        steps = [amount for role, amount in figures if role == "step"]
        if least or not figures:
            return {"least": max(least, default=None)}
        unclear = [amount for role, amount in figures if role in ("", "price")]
        standing = highest or unclear
        if standing and steps:
            return {"least": max(standing) + max(steps)}
        return {"least": max(unclear, default=None)}

    def any_amount(self) -> bool:
        """Say whether the bidder is to name an amount of its own."""
        return any(ANY_AMOUNT.search(said.text) for said in self._of_item())

    def _of_item(self) -> list[_Said]:
        return [said for said in self._sentences if said.item in (self.item, None) and not _is_over(said.text)]

    # ------------------------------------------------------------ what was told

    def news(self) -> Iterator[Values]:
        """Tell who bid, won and left."""
        for said in self._sentences:
            if said.item is None:
                continue
            sold, amounts = SOLD.search(said.text), [figure.amount for _, figure in said.figures]
            if sold and amounts:
                yield _one("sold", said.item, sold["who"], amounts[-1])
            elif UNSOLD.search(said.text):
                yield _one("unsold", said.item)
            for out in OUT.finditer(said.text):
                yield _one("out", said.item, out["who"])
            for role, figure in said.figures if not sold else ():
                who = _who_bid(said, figure) if role == "high" else None
                if who:
                    yield _one("bid", said.item, who, figure.amount)


def _one(kind: str, item: str, bidder: str | None = None, amount: float | None = None) -> Values:
    return {"kind": kind, "item": item, "bidder": bidder, "amount": amount}


def _is_over(text: str) -> bool:
    return bool(SOLD.search(text) or UNSOLD.search(text))


_VOCATIVES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"@({NAME})",
        rf"(?:^|[:;]\s+|\b(?i:hi|hello|hey|ok|okay|thanks|thank you|dear),? )({NAME})"
        r"(?=\s*[,:!?]|\s+[-\u2013]\s|,? you)",
        rf"(?:,|\band)\s+({NAME})\s*(?=[,:.?!]|$)",
        rf"({NAME}),? you(?:'re| are|r)?\b",
    )
)
"""How a name stands where somebody is spoken to."""


def _vocatives(text: str) -> list[str]:
    """List the names that a sentence speaks to."""
    names = [name for pattern in _VOCATIVES for name in pattern.findall(text.strip())]
    return [name for name in names if name.casefold() not in ORDINARY and not EVERYBODY.fullmatch(name)]


def _roles(text: str) -> Iterator[tuple[str, Figure]]:
    """Give the figures of a sentence with what each is; "" where no word says it."""
    figures = figures_in(text)
    edges = [0, *(figure.end for figure in figures)]
    starts = [*(figure.start for figure in figures[1:]), len(text)]
    for figure, left, right in zip(figures, edges, starts, strict=False):
        before = text[max(left, figure.start - BEFORE) : figure.start]
        after = _BREAK.split(text[figure.end : min(right, figure.end + AFTER)])[0]
        distances = {role: _distance(cue, before, after) for role, cue in CUES.items()}
        nearest = min(distances, key=lambda role: distances[role])
        yield (nearest if distances[nearest] < BEFORE else ""), figure


def _distance(cue: re.Pattern[str], before: str, after: str) -> int:
    """Give how far the nearest word of a role is from its figure."""
    ends = [len(before[found.end() :].strip(" :$")) for found in cue.finditer(before)]
    starts = [len(after[: found.start()].strip()) for found in cue.finditer(after)]
    return min([*ends, *starts], default=BEFORE)


def _who_bid(said: _Said, figure: Figure) -> str | None:
    """Find the name nearest to a figure that is no word of an item and begins no sentence as an ordinary word."""
    ordinary = {word.casefold() for word in (said.item or "").split()}
    near = [
        (min(abs(found.start() - figure.end), abs(figure.start - found.end())), found[0])
        for found in re.finditer(rf"\b{NAME}", said.text)
        if found[0].casefold() not in ordinary | ORDINARY
        and (
            found.start() > 0
            or re.match(r"'s|\s(?:has|bids?|leads?|offers|offered|raised|said|is)\b", said.text[found.end() :])
        )
    ]
    far, name = min(near, default=(NEAR, ""))
    return name.removesuffix("'s") if far < NEAR else None


def _places(text: str, items: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Find where items are named, misspelt ones too."""
    words = [(found.start(), found[0].casefold()) for found in re.finditer(r"[\w'-]+", text)]
    for item in items:
        wanted = [found[0].casefold() for found in re.finditer(r"[\w'-]+", item)]
        for start in range(len(words) - len(wanted) + 1):
            window = words[start : start + len(wanted)]
            if all(_alike(word, want) for (_, word), want in zip(window, wanted, strict=True)):
                yield window[0][0], item


def _alike(word: str, wanted: str) -> bool:
    return word in (wanted, f"{wanted}'s") or (
        len(wanted) > 3 and not wanted.isdigit() and SequenceMatcher(None, word, wanted).ratio() >= ALIKE
    )
