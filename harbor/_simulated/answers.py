"""What the built-in model answers to each task, from the facts of the prompt alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from harbor._config.auction import Simulated
from harbor._core.thoughts import RAISING, StrategicAction
from harbor._simulated import opponent_model as opponent_model
from harbor._simulated import valuation as valuation
from harbor._simulated.forecasting import Facts, Values, contested, reach, up_to, wanted, worth
from harbor._simulated.learning import Experience
from harbor._simulated.opponent_model import BiddingRecord
from harbor._simulated.rating_answers import rate
from harbor._simulated.session_games import CONTESTS
from harbor.personas._catalog.traits import foremost

# ---------------------------------------------------------------- plan, replan


def _plan(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    options = contested(facts)
    budget = float(facts["budget"])
    priorities = valuation.rank(options, budget)
    if target := wanted(facts):
        priorities |= {name: 3 if name == target else min(priority, 2) for name, priority in priorities.items()}
    shadow = valuation.shadow_price(options, budget)
    tops = [name for name, priority in priorities.items() if priority == 3]
    cost = sum(option.cost for option in options)
    return {
        "reasons": f"I have ${budget:,.0f} and all costs about ${cost:,.0f}: a dollar kept buys ${shadow:.2f} later.",
        "plan": f"Go first for {', '.join(tops) or 'nothing in particular'}; elsewhere only while it stays cheap.",
        "priorities": [{"item": name, "priority": priority} for name, priority in priorities.items()],
    }


# ---------------------------------------------------------------- strategize, bid


def _bid(facts: Facts, settings: Simulated, chance: Random) -> Values:
    least, budget = float(facts["least"]), float(facts["budget"])
    most, why = up_to(facts, settings)
    bidding = least <= most
    if "strategy" in facts:
        bidding, why = facts["strategy"] in RAISING and least <= budget, f"I chose {facts['strategy']}"
    amount = facts["least"] if bidding else None
    if bidding and chance.random() < settings.low_bid_rate:
        amount = int(least * 90) / 100
    if bidding and chance.random() < settings.over_budget_rate:
        amount = round(budget + least, 2)
    verdict = "so I raise by the minimum" if bidding else "so I withdraw"
    return {
        "reasons": f"{why}; the least bid is ${least:,.0f}, {verdict}.",
        "action": "bid" if bidding else "withdraw",
        "amount": amount,
    }


def _strategize(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    action, why = _action(facts, settings)
    return {"reasons": why, "strategy": action}


def _fused(facts: Facts, settings: Simulated, chance: Random) -> Values:
    action, why = _action(facts, settings)
    return {**_bid({**facts, "strategy": action}, settings, chance), "reasons": why, "strategy": action}


def _action(facts: Facts, settings: Simulated) -> tuple[StrategicAction, str]:
    """Choose a strategic action from one's own limit and what is expected of the rivals.

    A dollar that a rival spends here is missing later, so it pays to raise past one's own limit while the rival that
    leads is expected, with some certainty, to raise again; but only up to what the item is worth, for it may stop.
    """
    item, least, budget = facts["items"][0], float(facts["least"]), float(facts["budget"])
    most, why = up_to(facts, settings)
    rivals = [rival for rival in facts.get("rivals", []) if not rival["out"]]
    if least <= most:
        return ("A" if item.get("priority", 2) > 2 else "C"), f"{why}; ${least:,.0f} is within that"
    step = least - max((float(bid[2]) for bid in facts["bids"]), default=least)
    leading = [
        rival for rival in rivals if rival["leads"] and opponent_model.cautious(float(rival["limit"])) >= least + step
    ]
    more_to_come = len(facts["items"]) > 1
    if leading and more_to_come and least <= min(budget, worth(facts, item)):
        return (
            "B",
            f"{leading[0]['rival']} leads and probably goes to ${float(leading[0]['limit']):,.0f}: let it pay more",
        )
    if any(float(rival["limit"]) > most for rival in rivals):
        return "F", f"{why}; a rival probably goes further"
    if more_to_come and least <= worth(facts, item):
        return "D", f"{why}; the money is worth more on later items"
    return "E", f"{why}; nothing is left to earn at ${least:,.0f}"


# ---------------------------------------------------------------- profile, mirror, predict


def _profile(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    weights = opponent_model.update(facts["profile"], facts["catalog"], BiddingRecord.of(facts))
    return {"reasons": _impression(weights), "weights": _listed(weights)}


def _mirror(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    pictures = []
    for rival, weights in facts["pictures"].items():
        for record in facts["items"]:
            weights = opponent_model.update(weights, facts["catalog"], BiddingRecord.of(record))
        pictures.append({"rival": rival, "weights": _listed(weights)})
    return {"reasons": "They saw what I bid on, as I saw what they did.", "pictures": pictures}


def _predict(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    return {
        "reasons": "From what each seems to want and has left.",
        "predictions": [_expect(facts, rival) for rival in facts["rivals"]],
    }


def _expect(facts: Facts, rival: Values) -> Values:
    first, catalog = facts["items"][0], facts["catalog"]
    interest = opponent_model.interest(rival["profile"], catalog, first)
    expected = {"rival": rival["rival"], "interest": round(interest, 3), "limit": round(reach(facts, rival)[0], 2)}
    if "sees_me_as" in rival:
        expected["expects_me"] = round(opponent_model.interest(rival["sees_me_as"], catalog, first), 3)
    return expected


def _impression(weights: dict[str, float]) -> str:
    best = foremost(weights)
    return f"Most like {best}, at {weights[best]:.2f}." if best else "Nothing to go by yet."


def _listed(weights: dict[str, float]) -> list[Values]:
    return [{"persona": persona, "weight": round(weight, 4)} for persona, weight in weights.items()]


# ---------------------------------------------------------------- believe, learn


def _believe(facts: Facts, settings: Simulated, chance: Random) -> Values:
    held = facts["held"]
    budget = held["budget"]
    profits = dict(held["profits"])
    wins = [{"bidder": bidder, "item": item, "price": price} for bidder, item, price in held["wins"]]
    for closed in facts["closed"]:
        winner, price = closed["winner"], closed["price"]
        if winner is None:
            continue
        wins.append({"bidder": winner, "item": closed["item"], "price": price})
        if winner == facts["you"]:
            budget = _sum(budget, -price)
        if closed["true_value"] is not None:
            profits[winner] = _sum(profits[winner], closed["true_value"], -price)
    if chance.random() < settings.wrong_sum_rate:
        budget = _sum(budget, 100)
    listed = [{"bidder": bidder, "profit": profit} for bidder, profit in profits.items()]
    return {"budget": budget, "profits": listed, "wins": wins}


def _learn(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    experience = Experience.of(facts["learned"]).after(facts["results"])
    return {"reasons": "I added this auction's prices to those before.", "learnings": experience.sentences()}


def _sum(*amounts: float) -> float:
    return round(sum(amounts), 2)


TASKS: dict[str, Callable[[Facts, Simulated, Random], Values]] = {
    "plan": _plan,
    "replan": _plan,
    "strategize": _strategize,
    "bid": _bid,
    "fused": _fused,
    "profile": _profile,
    "mirror": _mirror,
    "predict": _predict,
    "believe": _believe,
    "learn": _learn,
    **CONTESTS,
    "judge": rate,
}
