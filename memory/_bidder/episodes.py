"""The values that a bidder stores after an auction: one episode per item, one dossier per rival, each with a text.

They come from the bidder's own view of the auction, so they contain nothing hidden from the bidder.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from itertools import takewhile
from typing import Any

from harbor._core.basics.numbers import as_number, dollars
from harbor._core.log.acts import Acted
from harbor._core.log.events import LotClosed, LotOpened
from harbor._core.log.log_entries import name_in_log, number
from harbor._core.log.thoughts import Decided, DecidedInWords, LimitSet
from harbor._games.bidder_view import Part, View
from harbor.personas._catalog.traits import foremost

Value = dict[str, Any]
"""A memory as stored: JSON. Its field "text" is embedded and shown."""


@dataclass(frozen=True, slots=True)
class RivalStats:
    """Bids of a rival, summed over auctions: counts, and sums of ratios to the starting price and to the true value.

    `started` and `valued` count the items whose starting price and whose true value the bidder knew.
    """

    auctions: int = 0
    offered: int = 0
    engaged: int = 0
    won: int = 0
    reached: float = 0.0
    paid: float = 0.0
    valued: int = 0
    started: int = 0

    @classmethod
    def of(cls, view: View, rival: str, before: RivalStats) -> RivalStats:
        """Return `before` plus a rival's bids in this auction."""
        engaged, won, valued, started, reached, paid = 0, 0, 0, 0, 0.0, 0.0
        for result in view.results:
            highest = result.highest_bid(rival)
            if highest is not None:
                engaged += 1
                if start := view.lot(result.item).start:
                    started += 1
                    reached += float(highest / start)
            if result.winner == rival:
                won += 1
                if result.price is not None and result.true_value:
                    valued += 1
                    paid += float(result.price / result.true_value)
        return cls(
            before.auctions + 1,
            before.offered + sum(bool(view.lots or result.bids) for result in view.results),
            before.engaged + engaged,
            before.won + won,
            round(before.reached + reached, 6),
            round(before.paid + paid, 6),
            before.valued + valued,
            before.started + started,
        )

    def text(self, rival: str) -> str:
        """Describe the rival's bids in one or two sentences."""
        auctions = "1 auction" if self.auctions == 1 else f"{self.auctions} auctions"
        said = f"{rival}, in {auctions}: bid on {self.engaged} of {self.offered} items, won {self.won}"
        if self.started:
            said += f", and went on average to {self.reached / self.started:.2f} times the starting price"
        if self.valued:
            said += f". It paid {self.paid / self.valued:.2f} times what its items were worth"
        return f"{said}."


def episode(view: View, result: Part) -> Value:
    """Return the record of one item: outcome, prices, rivals and reasons."""
    me, start = view.name, view.lot(result.item).start
    rivals = [rival for rival in view.rivals if result.highest_bid(rival) is not None]
    mine = result.highest_bid(me)
    outcome = "won" if me in result.got else "lost" if result.got or not _unsold(view, result) else "unsold"
    since = takewhile(lambda one: not isinstance(one, LotOpened), reversed(result.events))
    reasons = next((one.reasons for one in since if isinstance(one, Decided | DecidedInWords | LimitSet)), "")
    closed = next((one for one in reversed(result.events) if isinstance(one, LotClosed)), None)
    return {
        "item": result.item,
        "start": as_number(start) if start else None,
        "price": None if result.price is None else as_number(result.price),
        "winner": result.winner,
        "rivals": rivals,
        "outcome": outcome,
        "source": f"{name_in_log(closed) if closed else 'lot_closed'}: {result.item}",
        "reason": reasons,
        "text": " ".join(_sentences(view, result, mine, [name for name in rivals if name not in result.got], reasons)),
    }


def _unsold(view: View, result: Part) -> bool:
    """Return whether a listed item went to nobody. False if the item was not listed: its buyer may be unknown."""
    return not result.got and any(lot.name == result.item for lot in view.lots)


def _went(view: View, result: Part) -> str:
    """Say which bidder got an item, and for how much, as far as this bidder knows."""
    if _unsold(view, result):
        return "was not sold"
    if result.winner is None:
        return f"went to {' and '.join(result.got)}" if result.got else "is over"
    price = result.paid.get(result.winner)
    return f"was sold to {result.winner}" + (f" for {dollars(price)}" if price is not None else "")


def _sentences(view: View, result: Part, mine: Decimal | None, others: list[str], reasons: str) -> list[str]:
    start, went = view.lot(result.item).start, _went(view, result)
    told = [f"{result.item}, from {dollars(start)}, {went}." if start else f"{result.item} {went}."]
    if result.true_value is not None:
        told.append(f"It was worth {dollars(result.true_value)}.")
    if others:
        told.append(f"{' and '.join(others)} bid too.")
    spell = number if any(isinstance(one, Acted) and one.unit == "number" for one in result.events) else dollars
    told.append("I did not bid." if mine is None else f"I went to {spell(mine)}.")
    return [*told, f"My reasons: {reasons}"] if reasons else told


def dossier(view: View, rival: str, before: Value | None) -> Value:
    """Return the record of how a rival bids and which persona fits it best, on top of its earlier dossier."""
    known = before["habits"] if before else {}
    # Older dossiers have no `started`: every starting price was known then.
    habits = RivalStats.of(view, rival, RivalStats(**{"started": known.get("engaged", 0), **known}))
    profile = dict(view.profiles.get(rival, {})) or (before or {}).get("profile", {})
    seems = foremost(profile)
    text = habits.text(rival)
    return {
        "rival": rival,
        "habits": asdict(habits),
        "profile": profile,
        "text": f"{text} It seems to be most like {seems}." if seems else text,
    }
