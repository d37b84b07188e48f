"""Metrics of results in any game that trades: who won, at which price, and the worth of the items to bidders.

A metric is missing if it depends on the worth of an item and the log does not tell that worth. A worth that bidders
were told counts, unless it was only an estimate.

Source: Harbor eq. 1-3 (profit and profit ratio).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple, SupportsFloat

from harbor._core.log.events import BidderSeated, ItemLabelled, Listed, LotClosed
from harbor._core.log.log import is_public, of_type
from harbor._core.log.log_entries import Entry
from harbor._games.english.measures import revealed, standings
from harbor._games.outcomes import GETS, PAYS, Account, Outcomes, outcomes, ranks, sales
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, measured, metric

_NO_ITEM = "no item is over yet"
UNREVEALED = "true values that it needs were not made public"
UNTOLD = "nothing tells what it is worth to a bidder"
BUNDLES = "bids were for bundles, and what an item is worth in one hangs on the others"


def positions(entries: Sequence[Entry]) -> dict[str, int]:
    """Map each item to its position in the order of sale, counted from 1.

    If the log has no list of items, the order is that in which the bidding on them ended.
    """
    lots = [lot.name for opened in of_type(entries, Listed) for lot in opened.lots]
    return {item: place for place, item in enumerate(lots or _ended(entries), start=1)}


def _ended(entries: Sequence[Entry]) -> dict[str, None]:
    return dict.fromkeys(end.item for end in of_type(entries, LotClosed))


def closed(entries: Sequence[Entry]) -> dict[str, int]:
    """Map each item whose bidding is over, sold or unsold, to its position in the order of sale."""
    over = {end.item for end in of_type(entries, LotClosed)}
    return {item: place for item, place in positions(entries).items() if item in over}


def unknown_worth(entries: Sequence[Entry]) -> str:
    """Say why the worth of what bidders won is unknown."""
    told = outcomes(entries)
    if told.bundles and any(len(mine.units) > 1 for mine in told.accounts.values()):
        return BUNDLES
    return UNREVEALED if is_public(entries) else UNTOLD


def by_account(name: str, entries: Sequence[Entry], value: Callable[[Account], SupportsFloat]) -> list[Measurement]:
    """Measure a value of each bidder's account, the bidder with the highest profit first."""
    told = outcomes(entries)
    return by_bidder(name, {bidder: value(told.accounts[bidder]) for bidder in told.profits()})


@metric("profit of a bidder", "dollars", of=(*GETS, *PAYS), public=True, better="higher")
def profit(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the profit of each bidder, in dollars: the sum over items won of true value minus price.

    In other games than the ascending auction: the worth of the items that the bidder got, plus the money that it
    received, minus the money that it paid, fees included. The profit is missing if that worth is unknown.

    Source: Harbor eq. 1.
    """
    return by_bidder(name, outcomes(entries).profits(), unknown_worth(entries))


@metric("profit over what all items could have earned", "ratio", public=True, better="higher")
def profit_ratio(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the profit of each bidder divided by the possible profit from all items, a ratio.

    The possible profit is the sum over all items of true value minus starting price. The ratio is missing if that sum
    is not positive.

    Source: Harbor eq. 1-3.
    """
    ratios = {row.bidder: row.profit_ratio for row in standings(entries)}
    unknown = is_public(entries) and not revealed(entries)
    return by_bidder(name, ratios, UNREVEALED if unknown else "all items together could have earned nothing")


@metric("items that a bidder won", "count", of=GETS, shared=True, public=True)
def items_won(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the different items that each bidder won; several units of one item count once.

    Source: Chen et al. 2023, sec. 4.3.
    """
    return by_account(name, entries, lambda mine: len(mine.units))


@metric("what a bidder paid", "dollars", of=PAYS, least=0, public=True)
def spent(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the dollars that each bidder paid, fees included; in an ascending auction, the sum of its winning bids.

    Source: Chen et al. 2023, sec. 3.1.
    """
    return by_account(name, entries, lambda mine: mine.spent)


@metric("what the seller got", "dollars", of=PAYS, least=0, public=True)
def revenue(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the dollars that the house received in all, as prices and fees. Source: Chen et al. 2023, sec. 3.1."""
    return [Measurement(name, float(outcomes(entries).house.received))]


@metric("rank by profit", "rank", "skewed", of=(*GETS, *PAYS), shared=True, public=True, better="lower")
def rank(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the rank of each bidder by profit: 1 plus the number of bidders with a higher profit.

    So rank 1 is the best, and bidders with equal profits share a rank.

    Source: Chen et al. 2023, sec. 4.3 and B.3.
    """
    profits = outcomes(entries).profits()
    return by_bidder(name, ranks(profits) or dict.fromkeys(profits), unknown_worth(entries))


@metric("budget left after an item", "dollars", least=0, no_data=_NO_ITEM)
def remaining_budget(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the dollars that each bidder has left after each item: its budget minus its winning bids so far.

    `at` is the position of the item.

    Source: Chen et al. 2023, B.2.
    """
    left = {seated.bidder: seated.budget for seated in of_type(entries, BidderSeated)}
    sold = sales(outcomes(entries))
    found = []
    for item, place in closed(entries).items():
        if item in sold:
            left[sold[item].winner] -= sold[item].price
        found += [Measurement(name, float(dollars), bidder, at=place) for bidder, dollars in left.items()]
    return found


@metric("profit on an item, by its place", "dollars", "skewed", no_data=_NO_ITEM)
def profit_by_item(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's profit on each item, in dollars: true value minus price if the bidder won it, else 0.

    `at` is the position of the item. Only items whose bidding is over count.

    Source: Chen et al. 2023, later version, B.3.
    """
    sold = sales(outcomes(entries))
    values = {label.item: label.true_value for label in of_type(entries, ItemLabelled)}
    earned = {(sale.winner, item): values[item] - sale.price for item, sale in sold.items()}
    return [
        Measurement(name, float(earned.get((seated.bidder, item), 0)), seated.bidder, at=place)
        for seated in of_type(entries, BidderSeated)
        for item, place in closed(entries).items()
    ]


@metric("winning bids", "dollars", "skewed", least=0, no_data="nothing was sold")
def winning_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each winning bid in dollars, as a value of the winner.

    `about` is the objective of the winner, and `at` the position of the item.

    Source: Chen et al. 2023, sec. 4.3 (the distribution of winning bids shows the niches of objectives).
    """
    objective = {seated.bidder: seated.objective for seated in of_type(entries, BidderSeated)}
    places = positions(entries)
    return [
        Measurement(name, float(sale.price), sale.winner, objective.get(sale.winner, ""), places[item])
        for item, sale in sales(outcomes(entries)).items()
    ]


TRADES = (*GETS, *PAYS)
COMMON = "the items are worth the same to everybody, so that it does not matter who gets them"
BUDGETS = "bidders have budgets, under which an item can't always go to whom it is worth most"
UNITS = "there are several units of an item, or it was divided"
UNTOLD_TO_ALL = "nothing tells what the item is worth to each bidder"
WORTHLESS = "it is worth nothing to anybody"
NO_ITEM = "no item is over yet"


@metric("units that a bidder got", "number", of=GETS, least=0, public=True)
def units_won(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the number of units that each bidder got, added up over all items. Source: Harbor's own."""
    return by_account(name, entries, lambda mine: sum(mine.units.values()))


# ---------------------------------------------------------------- surplus


@metric("what the house earned", "dollars", of=PAYS, public=True)
def seller_surplus(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the dollars that the house received minus those that it paid.

    The items count as worth nothing to the house.

    Source: Harbor's own.
    """
    house = outcomes(entries).house
    return [measured(name, house.received - house.spent)]


@metric("what all bidders earned", "dollars", of=TRADES)
def consumer_surplus(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the sum of the profits of all bidders, in dollars; it is missing if any profit is unknown.

    Source: Harbor's own.
    """
    return [measured(name, _sum(outcomes(entries).profits().values()), missing=unknown_worth(entries))]


@metric("what was won is worth", "dollars", of=GETS)
def total_surplus(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the worth of all items to their winners, in dollars.

    This is the surplus of the seller plus that of all bidders. It is missing if any worth is unknown.

    Source: Harbor's own.
    """
    told = outcomes(entries)
    return [measured(name, _sum(map(told.worth, told.accounts)), missing=unknown_worth(entries))]


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    known = list(amounts)
    return None if None in known else sum((one for one in known if one is not None), Decimal(0))


# ---------------------------------------------------------------- efficiency


class _Share(NamedTuple):
    """The worth of an item to its winner, and the highest worth that it has to any bidder.

    `got` is 0 if nobody won the item. If the worths can't be compared, `missing` is the reason.
    """

    got: Decimal = Decimal(0)
    most: Decimal = Decimal(0)
    missing: str = ""


@metric("worth of what was won over the most possible", "share", of=GETS, no_data=NO_ITEM)
def efficiency(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the worth of the items to their winners, divided by the most that the items could be worth, a share.

    The most is the sum over items of the highest worth that the item has to any bidder. An unsold item has a worth of 0
    to its winner. Only items whose bidding is over count. The share is missing if bids are for bundles, if bidders have
    budgets, if an item has several units, if items are worth the same to everybody, or if a worth is unknown. A cap on
    the bids of a run that is equal for all bidders is not a budget.

    Source: Harbor's own.
    """
    shares = _shares(outcomes(entries))
    if not shares:
        return []
    most = sum((one.most for one in shares), Decimal(0))
    why = next((one.missing for one in shares if one.missing), "" if most else WORTHLESS)
    return [measured(name, None if why else sum((one.got for one in shares), Decimal(0)) / most, missing=why)]


@metric("worth to who got an item over the most that it is worth", "share", "skewed", of=GETS, no_data=NO_ITEM)
def efficiency_by_item(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the worth of each item to its winner, divided by the highest worth that the item has to any bidder.

    `at` is the position of the item. The share is missing under the conditions that `efficiency` names.

    Source: Harbor's own.
    """
    found = []
    for place, one in enumerate(_shares(outcomes(entries)), start=1):
        why = one.missing or ("" if one.most else WORTHLESS)
        found.append(measured(name, None if why else one.got / one.most, at=place, missing=why))
    return found


def _shares(told: Outcomes) -> list[_Share]:
    """Return, for each item whose bidding is over, its worth to the winner and its highest worth to any bidder."""
    worths, holders = told.worths.of_all(told.accounts), told.holders()
    goods = [item for item, who in holders.items() if who or item in worths]  # a lot of several has its own name
    return [_share(told, item, holders[item], worths.get(item, [])) for item in goods]


def _share(told: Outcomes, item: str, holders: Sequence[str], worths: Sequence[Decimal]) -> _Share:
    units = sum((told.accounts[bidder].units[item] for bidder in holders), Decimal(0))
    reasons = {
        BUNDLES: told.bundles,
        COMMON: told.worths.is_common(item),
        BUDGETS: told.budgets,
        UNITS: len(holders) > 1 or units not in (0, 1),
        UNTOLD_TO_ALL: len(worths) < len(told.accounts),
    }
    if missing := next((why for why, holds in reasons.items() if holds), ""):
        return _Share(missing=missing)
    got = [told.worths.of(bidder, item) or Decimal(0) for bidder in holders]
    return _Share(sum(got, Decimal(0)), max(Decimal(0), *worths))
