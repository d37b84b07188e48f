"""What bidders expected of each other and recalled of the game, beside what was so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from statistics import fmean
from typing import NamedTuple

from harbor._core.acts import Acted, ActedSealed
from harbor._core.asks import Bid
from harbor._core.events import LotClosed
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.thoughts import Expected, Stated
from harbor._games.sessions.session import SessionOpened
from harbor._games.water.rules import WaterOpened
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, metric, shares_by_bidder


class Forecast(NamedTuple):
    """What a bidder expected of a rival in a run or day, and what the rival did: dollars, or numbers that it picked."""

    bidder: str
    rival: str
    expected: Decimal
    came: Decimal


def forecasts(entries: Sequence[Entry]) -> Iterator[Forecast]:
    """Compare what was expected last in a run or day with the last bid in it, of all rivals that bid at all."""
    expected: dict[str, Expected] = {}
    did: dict[str, Decimal] = {}
    for entry in entries:
        match entry.event:
            case Expected(bidder=bidder) as one:
                expected[bidder] = one
            case Acted(bidder=bidder, act=Bid(amount=amount)) | ActedSealed(bidder=bidder, act=Bid(amount=amount)):
                did[bidder] = amount
            case LotClosed():
                for one in expected.values():
                    known = ((rival, bid) for rival, bid in one.bids.items() if rival in did)
                    yield from (Forecast(one.bidder, rival, bid, did[rival]) for rival, bid in known)
                expected, did = {}, {}


@metric(
    "distance of what rivals did from what was expected",
    "number",
    "skewed",
    of=(SessionOpened, WaterOpened),
    no_data="nobody has forecast what a rival does that then bid",
    least=0,
    better="lower",
)
def forecast_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """How far each bidder's forecasts of rivals are off: mean |expected - last bid| over rivals and runs or days.

    It is in dollars, and in a beauty contest in the numbers that are picked. A rival that did not bid is left out. Who
    is asked for the most popular answer expects it of each rival; where rivals differ, no such answer is off by 0.
    Source: Harbor's own.
    """
    errors: dict[str, list[float]] = {}
    for one in forecasts(entries):
        errors.setdefault(one.bidder, []).append(float(abs(one.expected - one.came)))
    return by_bidder(name, {bidder: fmean(off) for bidder, off in errors.items()})


@metric(
    "wrong answers on what came of the run before",
    "share",
    "skewed",
    of=SessionOpened,
    no_data="nobody was asked what came of a run",
    better="lower",
)
def recall_error_rate(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of wrong ones among each bidder's answers on its own bid, number or payoff of the run before.

    Only forms of answer that ask for it are counted, and an answer that is left out is wrong. To the cent is right.
    Source: EconArena, App. B.4 and B.8 ("previous answer", "previous bid", "previous payoff").
    """
    asked = [one for one in of_type(entries, Stated) if one.recalled]
    wrong, of = Counter[str](), Counter[str]()
    for one in asked:
        wrong[one.bidder] += sum(not right for right in one.recalled.values())
        of[one.bidder] += len(one.recalled)
    return shares_by_bidder(name, wrong, of, "")
