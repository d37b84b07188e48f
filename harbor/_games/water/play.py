"""How the water game is played: by the built-in model, from the facts of a prompt alone, and by a rational policy.

The model spreads its money over the days on which it must not go dry.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from statistics import fmean

from harbor._config.auction import Simulated
from harbor._core.asks import Ask, Bid
from harbor._games.game import Facts, Seen, Values
from harbor._games.reply import bid_of
from harbor._games.types_of_play import expected_bids, own_multiple
from harbor._games.water.rules import DayClosed, Status, WaterOpened

MARGIN = 1.1
"""How much above the least bid that would do a resident bids: the others may bid more than expected."""

PLAN = (
    "Never risk a day without water that would eliminate me. On other days, bid what the water will cost, but no more "
    "than an equal share of my money for each day until then."
)


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Pay what the day will probably cost, as far as a fair part of the balance goes; everything if it must drink."""
    me = next(one for one in facts["residents"] if one["name"] == facts["you"])
    balance = float(facts["maximum"])
    if times := own_multiple(facts):
        return bid_of(min(1.0, times) * balance, f"I bid {times:g} times what I have")
    slack = dry_days(me["health"], me["health_lost_if_dry"])
    if slack >= facts["days_left"]:
        return bid_of(0.0, "I will be alive at the end even without any more water")
    if slack == 0:
        return bid_of(balance, "Without water today I would be eliminated, so I bid all that I have")
    share = balance / slack  # with a day in hand: on the last one it would meet others who must drink
    rivals = {one["name"]: one["need"] for one in facts["residents"] if one["name"] != facts["you"]}
    expected = {name: bid for name, bid in expected_bids(facts).items() if name in rivals}
    if len(expected) < len(rivals):
        why = f"My ${balance:,.2f} must last {slack} days, until I must have water: ${share:,.2f} per day"
        return bid_of(share, why)
    offers = {name: (bid, rivals[name]) for name, bid in expected.items()}
    price = least_bid(me["need"], facts["supply_today"], offers)
    cost = f"cost about ${price:,.2f} today" if price < float("inf") else "not be enough for me today"
    why = f"Water will {cost}, and I can spend ${share:,.2f} per day until I must have it"
    return bid_of(min(share, price * MARGIN), why)


def dry_days(health: int, cost: int) -> int:
    """Count the days without water that a resident lives through, the next one costing `cost` health."""
    days = 0
    while health > cost:
        health, cost, days = health - cost, cost + 1, days + 1
    return days


def least_bid(need: int, supply: int, rivals: Mapping[str, tuple[float, int]]) -> float:
    """Give the least bid in dollars that is served when rivals bid this for these needs; infinite if none is."""
    offers = sorted(rivals.values(), key=lambda offer: (-offer[0], offer[1]))
    for price in sorted({0.0, *(bid + 0.01 for bid, _ in offers)}):
        left = supply
        for bid, units in offers:
            if (bid, -units) > (price, -need) and units <= left:
                left -= units
        if need <= left:
            return price
    return float("inf")


def forecast(rival: str, facts: Facts, settings: Simulated) -> float:  # noqa: ARG001
    """Expect that a rival bids what it did before, in the mean, and all that it has if it must drink."""
    who = next(one for one in facts["residents"] if one["name"] == rival)
    if dry_days(who["health"], who["health_lost_if_dry"]) == 0:
        return float(who["balance_before_salary"]) + float(who["salary"])
    past = [
        float(day["bids"][rival])
        for day in facts["past"]
        if day["bids"].get(rival) is not None and rival not in day["above_balance"]
    ]
    return fmean(past) if past else float(who["salary"])


def rational(ask: Ask, seen: Seen) -> Bid:
    """Bid one day's salary, and the whole balance on a day that would be the last; no equilibrium is known."""
    salary = next(event.salaries[ask.bidder] for event in seen if isinstance(event, WaterOpened))
    statuses: list[Status] = [event.statuses[ask.bidder] for event in seen if isinstance(event, DayClosed)]
    dying = bool(statuses) and statuses[-1].dry >= statuses[-1].health
    return Bid(ask.maximum if dying else min(salary, ask.maximum))
