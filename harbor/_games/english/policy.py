"""The built-in model answers the prompts of the ascending auction from the facts in them alone.

It computes the worth of items to itself and their expected prices.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Any

from harbor._config.auction import Simulated
from harbor._core.log.thoughts import RAISING, StrategicAction
from harbor._games.english import opponent_model as opponent_model
from harbor._games.english import valuation as valuation
from harbor._games.english.opponent_model import BiddingRecord, Experience, expected_cost
from harbor._games.english.valuation import Option
from harbor.personas._catalog.traits import fit, foremost

Facts = Mapping[str, Any]
Values = dict[str, Any]


def coming(facts: Facts) -> list[Values]:
    """List the items to come, each with its expected true `value`; an item that is only summed up gets the means."""
    items = list(facts["items"])
    if later := facts.get("later_items"):
        mean = {"item": "", "start": later["start_mean"], "estimate": later["estimate_mean"]}
        items += [mean] * later["number"]
    return [{**item, "value": valuation.expected(facts, float(item["estimate"]))} for item in items]


def weighed(facts: Facts) -> list[Option]:
    """Return the items to come as options: worth and expected cost, the latter from experience if there is any."""
    experience = Experience.of(facts.get("memories", ()))
    finished = facts.get("items_finished", 0)
    items = coming(facts)
    total = finished + len(items)
    return [_weigh(facts, item, experience, place / total) for place, item in enumerate(items, start=finished)]


def _weigh(facts: Facts, item: Values, experience: Experience, place: float) -> Option:
    option = valuation.weigh(item["item"], float(item["start"]), worth(facts, item))
    return Option(option.name, option.worth, expected_cost(experience, item, place, option.cost))


def contested(facts: Facts) -> list[Option]:
    """Return the items as options; if rivals are profiled, the cost of an item is the highest limit of a rival."""
    options = weighed(facts)
    if "catalog" not in facts or not facts.get("rivals"):
        return options
    keenest = [max(limits) for limits in zip(*(reach(facts, rival) for rival in facts["rivals"]), strict=True)]
    return [
        Option(option.name, option.worth, max(float(item["start"]), limit))
        for option, item, limit in zip(options, coming(facts), keenest, strict=True)
    ]


def worth(facts: Facts, item: Values) -> float:
    """Return the worth to this bidder of an item of `coming`, in dollars."""
    value = float(item["value"])
    if facts["objective"] == "items":  # every item counts the same, so cheap items are the best buys
        return min(value, valuation.expected(facts, float(facts.get("mean_estimate", item["estimate"]))))
    if "persona_value" in facts:
        own = {one["text"]: one["weight"] for one in facts["personas"]}
        return valuation.preferred(value, float(facts["persona_value"]), fit(own, item.get("listing", "")))
    return valuation.worth(value, fit(_tastes(facts), item.get("listing", "")))


def _tastes(facts: Facts) -> dict[str, float]:
    own_words = [] if facts["objective"] in ("profit", "items") else [facts["objective"]]
    return {**{one["text"]: one["weight"] for one in facts.get("personas", ())}, **dict.fromkeys(own_words, 1.0)}


def wanted(facts: Facts) -> str:
    """Return the coming item that the objective names as a whole word; empty if there is none."""
    if facts["objective"] in ("profit", "items"):
        return ""
    names = [item["item"] for item in facts["items"]]
    spoken = [
        name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", facts["objective"], re.IGNORECASE)
    ]
    return max(spoken, key=len, default="")


def up_to(facts: Facts, settings: Simulated) -> tuple[float, str]:
    """Return the highest amount that the bidder itself bids, in dollars, and the reason."""
    item, budget = coming(facts)[0], float(facts["budget"])
    if settings.policy == "minimum":
        share = float(settings.limit_share)
        return share * float(item["estimate"]), f"I bid up to {share:g} times my estimate"
    target = wanted(facts)
    if target == item["item"]:
        return budget, f"This is the item that I want, so I bid up to all that I have, ${budget:,.0f}"
    if target:
        budget -= next(float(other["estimate"]) for other in facts["items"] if other["item"] == target)
    priority, shadow = item.get("priority", 2), valuation.shadow_price(weighed(facts), budget)
    value = worth(facts, item)
    most = valuation.limit(value, priority, shadow, budget)
    causes = [
        f"its priority is {priority}" if priority in (1, 2) else "",
        "my money will not do for all the items that I want" if shadow > 1 else "",
        f"I can spend no more than ${budget:,.0f} on it" if most == budget else "",
    ]
    because = f"; because {' and '.join(filter(None, causes))}, I bid" if any(causes) else ", and I bid"
    return most, f"I count the item as worth about ${value:,.0f}{because} up to ${most:,.0f}"


def reach(facts: Facts, rival: Values) -> list[float]:
    """Return the highest bid in dollars of a rival for each item: its limit, or more if it can drain my budget.

    The limit is the mean of the limit from its profile and of its habit. A rival drains only if it has a profile of me,
    and never beyond the worth of the item to it.
    """
    profile, catalog, items = rival["profile"], facts.get("catalog", {}), coming(facts)
    left = max(0.0, float(facts["initial_budget"]) - float(rival["spent"]))
    experience = Experience.of(facts.get("memories", ()))
    limits = [
        limit if habit is None else min(left, (limit + habit) / 2)
        for limit, habit in (
            (limit, experience.habit(rival["rival"], item))
            for limit, item in zip(opponent_model.limits(profile, catalog, items, left), items, strict=True)
        )
    ]
    if "profile_of_you" not in rival:
        return limits
    mine = opponent_model.limits(rival["profile_of_you"], catalog, items, float(facts["budget"]))
    return [
        max(limit, min(left, opponent_model.value(profile, catalog, item), opponent_model.cautious(seen)))
        for limit, item, seen in zip(limits, items, mine, strict=True)
    ]


# ---------------------------------------------------------------- plan, replan


def plan(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Return a priority for each item by its worth per expected price."""
    options = contested(facts)
    budget = float(facts["budget"])
    ranks = valuation.rank(options, budget)  # with the later items, as they need money too
    priorities = {item["item"]: ranks[item["item"]] for item in facts["items"]}
    if target := wanted(facts):
        priorities |= {name: 3 if name == target else min(priority, 2) for name, priority in priorities.items()}
    return {
        "reasons": _why(facts, options, budget),
        "plan": _in_words(priorities),
        "priorities": [{"item": name, "priority": priority} for name, priority in priorities.items()],
    }


def _why(facts: Facts, options: list[Option], budget: float) -> str:
    cost = sum(option.cost for option in options)
    enough = "enough for" if cost <= budget else "not enough for"
    taste = ", so a cheap item can come before one that suits me better" if facts.get("personas") else ""
    return (
        f"All the items will probably cost about ${cost:,.0f}, and my ${budget:,.0f} is {enough} that. "
        f"I rank items by what I count them as worth for their probable price{taste}."
    )


def _in_words(priorities: dict[str, int]) -> str:
    named = {rank: ", ".join(name for name, given in priorities.items() if given == rank) for rank in (3, 2, 1)}
    sentences = {
        3: "Go furthest for: {}.",
        2: "Go a little less far for: {}.",
        1: "Give up first: {}.",
    }
    return " ".join(sentence.format(named[rank]) for rank, sentence in sentences.items() if named[rank])


# ---------------------------------------------------------------- strategize, bid


def bid(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Bid the minimum up to one's own limit, with errors at the rates of the settings."""
    least, budget = float(facts["minimum"]), float(facts["budget"])
    most, why = up_to(facts, settings)
    bidding = least <= most
    if "strategy" in facts:
        bidding, why = facts["strategy"] in RAISING and least <= budget, f"I chose {facts['strategy']}"
    amount = facts["minimum"] if bidding else None
    if bidding and chance.random() < settings.low_bid_rate:
        amount = int(least * 90) / 100
    if bidding and chance.random() < settings.over_budget_rate:
        amount = round(budget + least, 2)
    verdict = "so I bid the minimum" if bidding else "so I withdraw"
    return {
        "reasons": f"{why}. The minimum is ${least:,.0f}, {verdict}.",
        "action": "bid" if bidding else "withdraw",
        "amount": amount,
    }


def limit(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Return the limit of `bid` on this item, which does not change while the item is sold."""
    least = float(facts["minimum"])
    most, why = up_to(facts, settings)
    return {"reasons": f"{why}.", "limit": _whole_cents(most) if least <= most else None}


def _whole_cents(most: float) -> float:
    """Return the greatest amount in whole cents that is not above this amount."""
    nearest = round(most, 2)
    return nearest if nearest <= most else round(nearest - 0.01, 2)


def strategize(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Choose a strategic action from one's own limit and the forecasts of the rivals."""
    action, why = _action(facts, settings)
    return {"reasons": why, "strategy": action}


def fused(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Choose a strategic action, and bid or withdraw accordingly."""
    action, why = _action(facts, settings)
    decided = bid({**facts, "strategy": action}, settings, chance)
    return {**decided, "reasons": why, "strategy": action}


def _action(facts: Facts, settings: Simulated) -> tuple[StrategicAction, str]:
    """Choose a strategic action from one's own limit and the forecasts of the rivals.

    A dollar that a rival spends here is missing later. So it pays to raise past one's own limit while the leading rival
    will almost surely raise again. It pays only up to the worth of the item, as the rival may stop.
    """
    item, least, budget = coming(facts)[0], float(facts["minimum"]), float(facts["budget"])
    most, why = up_to(facts, settings)
    rivals = [forecast for forecast in facts.get("forecasts", []) if forecast["rival"] not in facts["withdrawn"]]
    if least <= most:
        return ("A" if item.get("priority", 2) > 2 else "C"), f"{why}. The minimum of ${least:,.0f} is within that."
    step = least - max((float(bid["amount"]) for bid in facts["bids"]), default=least)
    leading = [
        rival
        for rival in rivals
        if rival["rival"] == facts["leader"] and opponent_model.cautious(float(rival["limit"])) >= least + step
    ]
    more_to_come = len(coming(facts)) > 1
    if leading and more_to_come and least <= min(budget, worth(facts, item)):
        return (
            "B",
            f"{leading[0]['rival']} leads and probably goes up to ${float(leading[0]['limit']):,.0f}: let it pay more.",
        )
    if any(float(rival["limit"]) > most for rival in rivals):
        return "F", f"{why}. A rival will probably go further."
    if more_to_come and least <= worth(facts, item):
        return "D", f"{why}. The money will buy more with later items."
    return "E", f"{why}. At ${least:,.0f} nothing is left to gain."


# ---------------------------------------------------------------- profile, mirror, predict


def profile(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Update the profile of a rival by Bayes' rule."""
    weights = opponent_model.update(facts["profile"], facts["catalog"], BiddingRecord.of(facts))
    return {"reasons": _impression(weights), "weights": _listed(weights)}


def mirror(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Update, by Bayes' rule, each rival's likely profile of this bidder."""
    pictures = []
    for known in facts["profiles_of_you"]:
        weights = known["profile"]
        for record in facts["items"]:
            weights = opponent_model.update(weights, facts["catalog"], BiddingRecord.of(record))
        pictures.append({"rival": known["rival"], "weights": _listed(weights)})
    return {"reasons": "They saw how I bid, as I saw how they bid.", "profiles": pictures}


def predict(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Forecast each rival's interest and limit."""
    return {
        "reasons": "I judge by what each rival seems to want and by the money it has left.",
        "forecasts": [_forecast(facts, rival) for rival in facts["rivals"]],
    }


def _forecast(facts: Facts, rival: Values) -> Values:
    first, catalog = facts["items"][0], facts.get("catalog", {})
    interest, limit = opponent_model.interest(rival["profile"], catalog, first), reach(facts, rival)[0]
    forecast = {"rival": rival["rival"], "interest": round(interest, 2), "limit": int(round(limit, 2))}
    if "profile_of_you" in rival:
        expected = opponent_model.interest(rival["profile_of_you"], catalog, first)
        forecast["expected_interest_of_yours"] = round(expected, 2)
    return forecast


def _impression(weights: dict[str, float]) -> str:
    best = foremost(weights)
    return f"It is most like {best}." if best else "I know nothing of it yet."


def _listed(weights: dict[str, float]) -> list[Values]:
    return [{"persona": persona, "weight": round(weight, 4)} for persona, weight in weights.items()]


# ---------------------------------------------------------------- believe, learn


def believe(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Update budget, profits and wins with the items that are over."""
    believed = facts["belief"]
    budget, wins, told = believed["budget"], list(believed["wins"]), []
    profits = {row["bidder"]: row["profit"] for row in believed["profits"]}
    for result in facts["results"]:
        item, winner, price = result["item"], result["winner"], result["price"]
        if winner is None:
            told.append(f"{item} was not sold.")
            continue
        told.append(f"{winner} paid ${price:,.0f} for {item}.")
        wins.append({"bidder": winner, "item": item, "price": price})
        if winner == facts["you"]:
            budget = _sum(budget, -price)
        if result["true_value"] is not None:
            profits[winner] = _sum(profits[winner], result["true_value"], -price)
    if chance.random() < settings.wrong_sum_rate:
        budget = _sum(budget, 100)
    listed = [{"bidder": bidder, "profit": profit} for bidder, profit in profits.items()]
    return {"reasons": " ".join(told), "budget": budget, "profits": listed, "wins": wins}


def learn(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Add this auction's prices to earlier ones."""
    experience = Experience.of(facts["learnings"]).after(facts["results"])
    return {"reasons": "I added this auction's prices to those before.", "learnings": experience.sentences()}


def _sum(*amounts: float) -> float:
    return round(sum(amounts), 2)
