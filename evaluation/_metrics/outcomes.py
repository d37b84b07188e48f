"""What came of any game that trades, in units and money: who got how much, what all of it was worth, to whom it went.

A worth that nothing tells makes what hangs on it missing. What bidders are told of their worth counts as it, unless it
is an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from harbor._core.log_lines import Entry
from harbor._games.outcomes import GETS, PAYS, Outcomes, outcomes
from harbor.evaluation._metrics.measurement import Measurement, measured, metric
from harbor.evaluation._metrics.results import BUNDLES, by_account, unknown_worth

TRADES = (*GETS, *PAYS)
COMMON = "the items are worth the same to everybody, so that it does not matter who gets them"
BUDGETS = "bidders have budgets, under which an item can't always go to whom it is worth most"
UNITS = "there are several units of an item, or it was divided"
UNTOLD = "nothing tells what the item is worth to each bidder"
WORTHLESS = "it is worth nothing to anybody"
NO_ITEM = "no item is over yet"


@metric("units that a bidder got", "number", of=GETS, least=0, public=True)
def units_won(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Units that each bidder got, of all items together. Source: Harbor's own."""
    return by_account(name, entries, lambda mine: sum(mine.units.values()))


# ---------------------------------------------------------------- what all of it was worth


@metric("what the house earned", "dollars", of=PAYS, public=True)
def seller_surplus(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that the house received minus those that it paid; what it sells is worth nothing to it.

    Source: Harbor's own.
    """
    house = outcomes(entries).house
    return [measured(name, house.received - house.spent)]


@metric("what all bidders earned", "dollars", of=TRADES)
def consumer_surplus(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Sum of the profits of all bidders, dollars. Source: Harbor's own."""
    return [measured(name, _sum(outcomes(entries).profits().values()), missing=unknown_worth(entries))]


@metric("what was won is worth", "dollars", of=GETS)
def total_surplus(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """What all that was won is worth to whoever got it, dollars: the surplus of the seller plus that of all bidders.

    Source: Harbor's own.
    """
    told = outcomes(entries)
    return [measured(name, _sum(map(told.worth, told.accounts)), missing=unknown_worth(entries))]


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    known = list(amounts)
    return None if None in known else sum((one for one in known if one is not None), Decimal(0))


# ---------------------------------------------------------------- whether it went to whom it is worth most


class _Share(NamedTuple):
    """What an item is worth to who got it (0: nobody did), and the most that it is worth to any bidder; or why not."""

    got: Decimal = Decimal(0)
    most: Decimal = Decimal(0)
    missing: str = ""


@metric("worth of what was won over the most possible", "share", of=GETS, no_data=NO_ITEM)
def efficiency(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Worth of the items that are over to who got them, over the sum of the most that each is worth to any bidder.

    It goes item by item, so what it needs is that the worth of one hangs on no other: it is missing where bids are for
    bundles, where bidders have budgets, where there are several units, and where worths are common. An item that nobody
    got is worth 0 then. What caps bids alike in each run is no budget. Source: Harbor's own.
    """
    shares = _shares(outcomes(entries))
    if not shares:
        return []
    most = sum((one.most for one in shares), Decimal(0))
    why = next((one.missing for one in shares if one.missing), "" if most else WORTHLESS)
    return [measured(name, None if why else sum((one.got for one in shares), Decimal(0)) / most, missing=why)]


@metric("worth to who got an item over the most that it is worth", "share", "skewed", of=GETS, no_data=NO_ITEM)
def efficiency_by_item(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """As `efficiency`, of each item (`at`) alone. Source: Harbor's own."""
    found = []
    for place, one in enumerate(_shares(outcomes(entries)), start=1):
        why = one.missing or ("" if one.most else WORTHLESS)
        found.append(measured(name, None if why else one.got / one.most, at=place, missing=why))
    return found


def _shares(told: Outcomes) -> list[_Share]:
    """Compare, of each item that is over, who got it with whom it is worth most."""
    worths, holders = told.worths.of_all(told.accounts), told.holders()
    goods = [item for item, who in holders.items() if who or item in worths]  # a lot of several closes by its own name
    return [_share(told, item, holders[item], worths.get(item, [])) for item in goods]


def _share(told: Outcomes, item: str, holders: Sequence[str], worths: Sequence[Decimal]) -> _Share:
    units = sum((told.accounts[bidder].units[item] for bidder in holders), Decimal(0))
    reasons = {
        BUNDLES: told.bundles,
        COMMON: told.worths.is_common(item),
        BUDGETS: told.budgets,
        UNITS: len(holders) > 1 or units not in (0, 1),
        UNTOLD: len(worths) < len(told.accounts),
    }
    if missing := next((why for why, holds in reasons.items() if holds), ""):
        return _Share(missing=missing)
    got = [told.worths.of(bidder, item) or Decimal(0) for bidder in holders]
    return _Share(sum(got, Decimal(0)), max(Decimal(0), *worths))
