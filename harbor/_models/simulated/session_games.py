"""How the built-in model plays the games of days and runs, from the facts of a prompt alone.

Truthful where that is dominant; reasoning `level` steps deep in the beauty contest; in the water game it spreads its
money over the days on which it must not go dry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from statistics import fmean

from harbor._config.auction import Simulated
from harbor._models.simulated.forecasting import Facts, Values

MARGIN = 1.1
"""How much above the least bid that would do a resident bids: the others may bid more than expected."""

# ---------------------------------------------------------------- private values


def _truthful(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    value, most = float(facts["value"]), float(facts["maximum"])
    amount = "exactly that" if value <= most else f"all that I may, ${most:,.2f}"
    return _bid(min(value, most), f"It is worth ${value:,.2f} to me, and the others decide what I pay: I bid {amount}")


def _shaded(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    count, value = len(facts["players"]), float(facts["value"])
    amount = min(value * (count - 1) / count, float(facts["maximum"]))
    why = f"It is worth ${value:,.2f} to me; with {count} bidders I bid {count - 1}/{count} of that, as far as I may"
    return _bid(amount, why)


def _stay_in(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    price, value = float(facts["minimum"]), float(facts["value"])
    if price <= value:
        return _bid(price, f"${price:,.2f} is not above the ${value:,.2f} that it is worth to me")
    return {"reasons": f"${price:,.2f} is above what it is worth to me.", "action": "withdraw"}


# ---------------------------------------------------------------- the beauty contest


def _pick(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Answer best to what the others are expected to pick, or reason some steps from the middle of the range."""
    if facts.get("rivals_are_rational") and float(facts["fraction"]) < 1:
        return _bid(0.0, "Rational players all pick 0, so 0 is best")
    count, fraction = len(facts["players"]), float(facts["fraction"])
    if facts.get("forecasts"):
        number, steps = fmean(float(forecast["bid"]) for forecast in facts["forecasts"]), 1
    else:
        number, steps = float(facts["bound"]) / 2, settings.level
    for _ in range(steps):
        number = answer_best(number, count, fraction)
    steps_said = "1 step" if steps == 1 else f"{steps} steps"
    reasons = f"Thinking {steps_said} ahead of what the others will pick, {number:.4f} is my best answer."
    return {"reasons": reasons, "action": "bid", "amount": round(number, 4)}


def answer_best(others: float, count: int, fraction: float) -> float:
    """Give the number that hits the target among `count` players when the others pick `others` on average."""
    return fraction * (count - 1) * others / (count - fraction) if count > fraction else 0.0


# ---------------------------------------------------------------- the water game


def _seal(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Pay what the day will probably cost, as far as a fair part of the balance goes; everything if it must drink."""
    me = next(one for one in facts["residents"] if one["name"] == facts["you"])
    balance = float(facts["maximum"])
    slack = dry_days(me["health"], me["health_lost_if_dry"])
    if slack >= facts["days_left"]:
        return _bid(0.0, "I will be alive at the end even without any more water")
    if slack == 0:
        return _bid(balance, "Without water today I would be eliminated, so I bid all that I have")
    share = balance / slack  # with a day in hand: on the last one it would meet others who must drink
    rivals = {one["name"]: one["need"] for one in facts["residents"] if one["name"] != facts["you"]}
    forecasts = {one["rival"]: float(one["bid"]) for one in facts.get("forecasts", ())}
    expected = {name: bid for name, bid in forecasts.items() if name in rivals}
    if len(expected) < len(rivals):
        return _bid(share, f"My ${balance:,.2f} must last {slack} days, until I must have water: ${share:,.2f} per day")
    price = least_bid(me["need"], facts["supply_today"], {name: (bid, rivals[name]) for name, bid in expected.items()})
    cost = f"cost about ${price:,.2f} today" if price < float("inf") else "not be enough for me today"
    why = f"Water will {cost}, and I can spend ${share:,.2f} per day until I must have it"
    return _bid(min(share, price * MARGIN), why)


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


# ---------------------------------------------------------------- plans and forecasts


def plan(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Make a plan in a sentence."""
    return {"reasons": "This is what serves best in this game.", "plan": PLANS[facts["game"]]}


PLANS = {
    "water": "Never risk a day without water that would eliminate me. On other days, bid what the water will cost, "
    "but no more than an equal share of my money for each day until then.",
    "second-price": "Bid what the item is worth to me.",
    "first-price": "Bid less than the item is worth to me: the fewer bidders there are, the less.",
    "english-private": "Stay in up to what the item is worth to me.",
    "beauty": "Think one step further than the others seem to.",
}


def forecast(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Forecast that each rival does what it did before, as far as that was shown, or what its situation forces."""
    forecasts = [{"rival": rival, "bid": round(_next_of(rival, facts, settings), 2)} for rival in facts["rivals"]]
    return {"reasons": "Most will do what they did before, unless their situation forces them.", "forecasts": forecasts}


def _next_of(rival: str, facts: Facts, settings: Simulated) -> float:
    if facts["game"] == "water":
        return _next_bid(rival, facts)
    past = [run["actions"].get(rival) for run in facts["past"] if run["actions"].get(rival) is not None]
    if facts["game"] == "beauty":
        last = float(past[-1]) if past else float(facts["bound"]) / 2
        return float(last * facts["fraction"] ** (settings.level - 1))
    return fmean(map(float, past)) if past else float(facts["assets"]) / 2


def _next_bid(rival: str, facts: Facts) -> float:
    who = next(one for one in facts["residents"] if one["name"] == rival)
    if dry_days(who["health"], who["health_lost_if_dry"]) == 0:
        return float(who["balance_before_salary"]) + float(who["salary"])
    past = [
        float(day["bids"][rival])
        for day in facts["past"]
        if day["bids"].get(rival) is not None and rival not in day["above_balance"]
    ]
    return fmean(past) if past else float(who["salary"])


def _bid(amount: float, reasons: str) -> Values:
    return {"reasons": f"{reasons}.", "action": "bid", "amount": int(round(amount * 100, 6)) / 100}


CONTESTS: dict[str, Callable[[Facts, Simulated, Random], Values]] = {
    "contest_plan": plan,
    "contest_replan": plan,
    "contest_believe": forecast,
    "water": _seal,
    "second_price": _truthful,
    "first_price": _shaded,
    "english_private": _stay_in,
    "beauty": _pick,
}
"""The tasks of these games."""
