"""Who won what, and what it was worth, in any game that trades; and of ascending auctions, more of it.

Source: Harbor eq. 1-3 (profit and profit ratio).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsFloat

from harbor._core.events import BidderSeated, ItemLabelled, Listed, LotClosed
from harbor._core.log import is_public, of_type
from harbor._core.log_lines import Entry
from harbor._games.english.measures import revealed, standings
from harbor._games.outcomes import GETS, PAYS, Account, outcomes, ranks, sales
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, metric

_NO_ITEM = "no item is over yet"
UNREVEALED = "true values that it needs were not made public"
UNTOLD = "nothing tells what it is worth to a bidder"
BUNDLES = "bids were for bundles, and what an item is worth in one hangs on the others"


def positions(entries: Sequence[Entry]) -> dict[str, int]:
    """Give the place of each item in the order of the sale, from 1; without a list, in the order in which they end."""
    lots = [lot.name for opened in of_type(entries, Listed) for lot in opened.lots]
    return {item: place for place, item in enumerate(lots or _ended(entries), start=1)}


def _ended(entries: Sequence[Entry]) -> dict[str, None]:
    return dict.fromkeys(end.item for end in of_type(entries, LotClosed))


def closed(entries: Sequence[Entry]) -> dict[str, int]:
    """Give the items that were sold or given up, with their places: those on which bidding came to its end."""
    over = {end.item for end in of_type(entries, LotClosed)}
    return {item: place for item, place in positions(entries).items() if item in over}


def unknown_worth(entries: Sequence[Entry]) -> str:
    """Say why what somebody got has no worth, or not one that is told."""
    told = outcomes(entries)
    if told.bundles and any(len(mine.units) > 1 for mine in told.accounts.values()):
        return BUNDLES
    return UNREVEALED if is_public(entries) else UNTOLD


def by_account(name: str, entries: Sequence[Entry], value: Callable[[Account], SupportsFloat]) -> list[Measurement]:
    """Measure each bidder's account, the highest profit first."""
    told = outcomes(entries)
    return by_bidder(name, {bidder: value(told.accounts[bidder]) for bidder in told.profits()})


@metric("profit of a bidder", "dollars", of=(*GETS, *PAYS), public=True, better="higher")
def profit(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Profit of each bidder, dollars: the sum over items won of true value minus price. Source: Harbor eq. 1.

    In any game: what it got is worth to it, plus what it received, minus what it paid, fees too.
    """
    return by_bidder(name, outcomes(entries).profits(), unknown_worth(entries))


@metric("profit over what all items could have earned", "ratio", public=True, better="higher")
def profit_ratio(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Profit of each bidder over what all items together could have earned, a share.

    That is the sum over all items of true value minus starting price. Source: Harbor eq. 1-3.
    """
    ratios = {row.bidder: row.profit_ratio for row in standings(entries)}
    unknown = is_public(entries) and not revealed(entries)
    return by_bidder(name, ratios, UNREVEALED if unknown else "all items together could have earned nothing")


@metric("items that a bidder won", "count", of=GETS, shared=True, public=True)
def items_won(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of items that each bidder won, or of which it got some. Source: Chen et al. 2023, sec. 4.3."""
    return by_account(name, entries, lambda mine: len(mine.units))


@metric("what a bidder paid", "dollars", of=PAYS, least=0, public=True)
def spent(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that each bidder paid, fees too: the sum of its winning bids. Source: Chen et al. 2023, sec. 3.1."""
    return by_account(name, entries, lambda mine: mine.spent)


@metric("what the seller got", "dollars", of=PAYS, least=0, public=True)
def revenue(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that the house got in all, as its prices and fees. Source: Chen et al. 2023, sec. 3.1."""
    return [Measurement(name, float(outcomes(entries).house.received))]


@metric("rank by profit", "rank", "skewed", of=(*GETS, *PAYS), shared=True, public=True, better="lower")
def rank(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Rank of each bidder by profit: 1 plus the number of bidders with more, so that equals share the best rank.

    Source: Chen et al. 2023, sec. 4.3 and B.3.
    """
    profits = outcomes(entries).profits()
    return by_bidder(name, ranks(profits) or dict.fromkeys(profits), unknown_worth(entries))


@metric("budget left after an item", "dollars", least=0, no_data=_NO_ITEM)
def remaining_budget(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that each bidder has left after each item (`at`): its budget minus its winning bids up to there.

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
    """Dollars that each bidder earned on the closed item at place `at`: true value minus price, 0 if it did not win it.

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
    """Dollars of each winning bid, by its winner; `about` is the winner's objective, `at` the item's place.

    Source: Chen et al. 2023, sec. 4.3 (the distribution of winning bids shows the niches of objectives).
    """
    objective = {seated.bidder: seated.objective for seated in of_type(entries, BidderSeated)}
    places = positions(entries)
    return [
        Measurement(name, float(sale.price), sale.winner, objective.get(sale.winner, ""), places[item])
        for item, sale in sales(outcomes(entries)).items()
    ]
