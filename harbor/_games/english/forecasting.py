"""What items are worth to the built-in model, and what they will probably cost it, from the facts of a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harbor._config.auction import Simulated
from harbor._games.english import opponent_model as opponent_model
from harbor._games.english import valuation as valuation
from harbor._games.english.learning import Experience, expected_cost
from harbor._games.english.valuation import Option
from harbor.personas._catalog.tastes import fit

Facts = Mapping[str, Any]
Values = dict[str, Any]


def coming(facts: Facts) -> list[Values]:
    """List the items to come, each with the true `value` expected, and a mean one for each that is only summed up."""
    items = list(facts["items"])
    if later := facts.get("later_items"):
        mean = {"item": "", "start": later["start_mean"], "estimate": later["estimate_mean"]}
        items += [mean] * later["number"]
    return [{**item, "value": valuation.expected(facts, float(item["estimate"]))} for item in items]


def weighed(facts: Facts) -> list[Option]:
    """Weigh the items by what they are worth and what they will probably cost, by experience where there is some."""
    experience = Experience.of(facts.get("memories", ()))
    finished = facts.get("items_finished", 0)
    items = coming(facts)
    total = finished + len(items)
    return [_weigh(facts, item, experience, place / total) for place, item in enumerate(items, start=finished)]


def _weigh(facts: Facts, item: Values, experience: Experience, place: float) -> Option:
    option = valuation.weigh(item["item"], float(item["start"]), worth(facts, item))
    return Option(option.name, option.worth, expected_cost(experience, item, place, option.cost))


def contested(facts: Facts) -> list[Option]:
    """Weigh the items; where rivals are profiled, an item costs what the keenest of them would pay for it."""
    options = weighed(facts)
    if "catalog" not in facts or not facts.get("rivals"):
        return options
    keenest = [max(limits) for limits in zip(*(reach(facts, rival) for rival in facts["rivals"]), strict=True)]
    return [
        Option(option.name, option.worth, max(float(item["start"]), limit))
        for option, item, limit in zip(options, coming(facts), keenest, strict=True)
    ]


def worth(facts: Facts, item: Values) -> float:
    """Say how many dollars an item of `coming` is worth to oneself."""
    value = float(item["value"])
    if facts["objective"] == "items":  # every item counts the same, so the cheap ones are the best buys
        return min(value, valuation.expected(facts, float(facts.get("mean_estimate", item["estimate"]))))
    if "persona_value" in facts:
        own = {one["text"]: one["weight"] for one in facts["personas"]}
        return valuation.preferred(value, float(facts["persona_value"]), fit(own, item.get("listing", "")))
    return valuation.worth(value, fit(_tastes(facts), item.get("listing", "")))


def _tastes(facts: Facts) -> dict[str, float]:
    own_words = [] if facts["objective"] in ("profit", "items") else [facts["objective"]]
    return {**{one["text"]: one["weight"] for one in facts.get("personas", ())}, **dict.fromkeys(own_words, 1.0)}


def wanted(facts: Facts) -> str:
    """Find the item that the objective names as a whole word, if it names one that is still to come."""
    if facts["objective"] in ("profit", "items"):
        return ""
    names = [item["item"] for item in facts["items"]]
    spoken = [
        name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", facts["objective"], re.IGNORECASE)
    ]
    return max(spoken, key=len, default="")


def up_to(facts: Facts, settings: Simulated) -> tuple[float, str]:
    """Say up to how many dollars to bid, and why."""
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
    """Say up to how many dollars a rival goes for each item: to its limit, or as far as it thinks that it can drain me.

    What it did before counts as much as what its profile says. It could only drain me if it had a picture of me, and
    never beyond what the item is worth to it.
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
