"""What the built-in model answers to the prompts of the ascending auction, from the facts in them alone."""

from __future__ import annotations

from random import Random

from harbor._config.auction import Simulated
from harbor._core.thoughts import RAISING, StrategicAction
from harbor._games.english import opponent_model as opponent_model
from harbor._games.english import valuation as valuation
from harbor._games.english.forecasting import Facts, Values, coming, contested, reach, up_to, wanted, worth
from harbor._games.english.learning import Experience
from harbor._games.english.opponent_model import BiddingRecord
from harbor._games.english.valuation import Option
from harbor.personas._catalog.traits import foremost

# ---------------------------------------------------------------- plan, replan


def plan(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Give each item a priority by its worth per probable price."""
    options = contested(facts)
    budget = float(facts["budget"])
    ranks = valuation.rank(options, budget)  # of the later items too, as they need money
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
    """Bid the minimum up to one's own limit, and err as often as the settings say."""
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
    """Say how far `bid` would go on this item: it takes nothing into account that changes while the item is sold."""
    least = float(facts["minimum"])
    most, why = up_to(facts, settings)
    return {"reasons": f"{why}.", "limit": _whole_cents(most) if least <= most else None}


def _whole_cents(most: float) -> float:
    """Give the greatest number of dollars and cents that is not above this."""
    nearest = round(most, 2)
    return nearest if nearest <= most else round(nearest - 0.01, 2)


def strategize(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Choose a strategic action from one's own limit and what is expected of the rivals."""
    action, why = _action(facts, settings)
    return {"reasons": why, "strategy": action}


def fused(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Choose a strategic action, and act on it."""
    action, why = _action(facts, settings)
    decided = bid({**facts, "strategy": action}, settings, chance)
    return {**decided, "reasons": why, "strategy": action}


def _action(facts: Facts, settings: Simulated) -> tuple[StrategicAction, str]:
    """Choose a strategic action from one's own limit and what is expected of the rivals.

    A dollar that a rival spends here is missing later, so it pays to raise past one's own limit while the rival that
    leads is expected, with some certainty, to raise again; but only up to what the item is worth, for it may stop.
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
    """Update by Bayes' rule what each rival may think of oneself."""
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
    """Do the sums of the items that are over."""
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
    """Add this auction's prices to those before."""
    experience = Experience.of(facts["learnings"]).after(facts["results"])
    return {"reasons": "I added this auction's prices to those before.", "learnings": experience.sentences()}


def _sum(*amounts: float) -> float:
    return round(sum(amounts), 2)
