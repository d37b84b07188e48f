"""The types that rivals can be told apart by where no listings differ, and how the built-in model thinks by them.

A type says in its text by how much its bids differ from a yardstick: from what an item is worth to it, from what it has,
or by how many steps it thinks ahead. The built-in model reads that there, as it reads all else in the facts of a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from random import Random
from statistics import NormalDist, fmean
from typing import Any

from harbor._config.auction import Persona, Simulated
from harbor._core.thoughts import RAISING
from harbor.personas._catalog import traits

Facts = Mapping[str, Any]
Values = dict[str, Any]

OF_WORTH = (
    Persona(id="truthful", name="truthful", text="It bids just what an item is worth to it: 1 times that."),
    Persona(id="shading", name="shading", text="It bids less than an item is worth to it: about 0.7 times that."),
    Persona(
        id="overbidding", name="overbidding", text="It bids more than an item is worth to it: about 1.3 times that."
    ),
)
"""The types of bidders for an item that is worth something to each."""
OF_MEANS = (
    Persona(id="sparing", name="sparing", text="It bids little of what it can spend: about 0.3 times that."),
    Persona(id="steady", name="steady", text="It bids a part of what it can spend: about 0.6 times that."),
    Persona(id="daring", name="daring", text="It bids nearly all that it can spend: about 0.9 times that."),
)
"""The types of bidders that may spend what they have."""
OF_STEPS = tuple(
    Persona(id=f"level-{steps}", name=f"level {steps}", text=f"It thinks {count} ahead of the others{how}.")
    for steps, count, how in (
        (0, "0 steps", ", and picks anything"),
        (1, "1 step", ": it answers best to players that think 0 steps ahead"),
        (2, "2 steps", ": it answers best to players that think 1 step ahead"),
        (3, "3 steps", ": it answers best to players that think 2 steps ahead"),
    )
)
"""The levels of thought. Source: Nagel 1995; Stahl & Wilson 1995."""

_TIMES = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) times that")
_STEPS = re.compile(r"thinks (\d) steps? ahead")
SCATTER = 0.1
"""How far a bid scatters around what its type would bid, as a share of it: types are rough."""
UNSURE = 0.2
"""The deviation of a worth, as a share of it, where nobody tells one."""
SURPRISE = 0.02
"""How often a rival does anything at all, whatever its type."""


def multiple(text: str, facts: Facts) -> float | None:
    """Return how many times its yardstick a type bids; None: its text does not say so."""
    if found := _TIMES.search(text):
        return float(found[1])
    if found := _STEPS.search(text):
        return float(Fraction(facts.get("fraction", 1))) ** int(found[1])
    return None


def own_multiple(facts: Facts) -> float | None:
    """Return how many times its yardstick the player itself bids, by its personas; None: they do not say so."""
    known = [(one["weight"], multiple(one["text"], facts)) for one in facts.get("personas", ())]
    told = [(weight, times) for weight, times in known if times is not None]
    return sum(weight * times for weight, times in told) / sum(weight for weight, _ in told) if told else None


# ---------------------------------------------------------------- profile, mirror


def profile(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Update the profile of a rival by Bayes' rule."""
    weights = updated(facts["weights_so_far"], facts["catalog"], facts)
    best = traits.foremost(weights)
    return {"reasons": f"It is most like {best}." if best else "I know nothing of it yet.", "weights": listed(weights)}


def mirror(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Update by Bayes' rule what each rival may think of oneself."""
    pictures = []
    for known in facts["profiles_of_you"]:
        weights = known["weights_so_far"]
        for record in facts["records"]:
            weights = updated(weights, facts["catalog"], {**facts, **record})
        pictures.append({"rival": known["rival"], "weights": listed(weights)})
    return {"reasons": "They saw what I did, as I saw what they did.", "profiles": pictures}


def updated(weights: Mapping[str, float], catalog: Mapping[str, str], record: Facts) -> dict[str, float]:
    """Update weights by what was seen of a bidder in a part; unchanged where nothing was shown."""
    bids = [float(act["amount"]) for act in record["acts"]]
    multiples = {one: multiple(text, record) for one, text in catalog.items()}
    if not bids or "worth" not in record or None in multiples.values():
        return dict(weights)
    prior = traits.shares(weights, catalog)
    likely = {one: prior[one] * _likelihood(max(bids), times or 0.0, record) for one, times in multiples.items()}
    total = sum(likely.values())
    return traits.profile({one: chance / total for one, chance in likely.items()}) if total else dict(weights)


def _likelihood(bid: float, times: float, record: Facts) -> float:
    """Return the density of a bid, or the chance of one as high where the bidder won and may have gone further."""
    worth = record["worth"]
    mean, deviation = times * float(worth["mean"]), times * float(worth["deviation"])
    spread = max(sqrt(deviation**2 + (SCATTER * mean) ** 2), 0.01)
    if worth.get("anything"):
        return 1 / float(worth["anything"])
    most = float(worth.get("most", "inf"))
    planned = NormalDist(mean, spread)
    odd = SURPRISE / max(float(worth["mean"]), 0.01)
    if bid >= most or record.get("at_least"):
        return SURPRISE + (1 - SURPRISE) * (1 - planned.cdf(bid))
    return odd + (1 - SURPRISE) * planned.pdf(bid)


def listed(weights: Mapping[str, float]) -> list[Values]:
    """List weights as a reply does."""
    return [{"persona": one, "weight": round(weight, 4)} for one, weight in weights.items()]


# ---------------------------------------------------------------- predict


def predict(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Forecast what each rival bids: by its type and what the item may be worth to it, and by what it bid before."""
    return {
        "reasons": "I judge by what each rival seems to be like and by what it did before.",
        "forecasts": [_forecast(facts, one) for one in facts["rivals"]],
    }


def _forecast(facts: Facts, rival: Facts) -> Values:
    weights, catalog = facts.get("profile", {}).get(rival["rival"], {}), facts.get("catalog", {})
    before = [float(row["amount"]) for row in rival["bid_before"]]
    times = {one: multiple(text, facts) for one, text in catalog.items()}
    known = {one: value for one, value in times.items() if value is not None}
    limit = fmean(before) if before else 0.0
    if "worth" in rival and known:
        shares = traits.shares(weights, known)
        limit = float(rival["worth"]["mean"]) * sum(shares[one] * value for one, value in known.items())
    forecast = {"rival": rival["rival"], "interest": 0.5, "limit": round(max(0.0, limit), 2)}
    mine = facts.get("mirror", {}).get(rival["rival"])
    if mine is not None and known:
        shares = traits.shares(mine, known)
        forecast["expected_interest_of_yours"] = round(min(1.0, sum(shares[one] * known[one] for one in known) / 2), 2)
    return forecast


def expected_bids(facts: Facts) -> dict[str, float]:
    """Return what each rival is expected to bid: as predicted by a theory of mind, or as forecast without one."""
    if predicted := facts.get("predict"):
        return {row["rival"]: float(row["limit"]) for row in predicted["rivals"]}
    return {row["rival"]: float(row["bid"]) for row in facts.get("forecasts", ())}


# ---------------------------------------------------------------- strategize, learn


def strategize(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Choose to compete, or to hold back where the rivals are expected to go further than one can gain by."""
    expected, worth = expected_bids(facts), facts.get("value", facts.get("maximum", facts.get("bound")))
    if worth is not None and expected and max(expected.values()) > float(worth):
        return {"reasons": "A rival will probably go further than that is worth to me.", "strategy": "E"}
    return {"reasons": "I can still gain by it.", "strategy": "C"}


def holds_back(facts: Facts) -> bool:
    """Say whether the strategic action that was chosen is to hold back."""
    return bool(facts.get("strategize")) and facts["strategize"]["action"] not in RAISING


def learn(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Say what the highest bids and the prices were, and what each rival bid in the mean."""
    highest = [max(map(float, row["highest_bids"].values())) for row in facts["results"] if row["highest_bids"]]
    prices = [sum(map(float, row["paid"].values())) for row in facts["results"] if row["paid"]]
    told = [f"Over {len(highest)} parts, the highest bid was {fmean(highest):.2f} on average."] if highest else []
    told += [f"What was sold cost {fmean(prices):.2f} on average ({len(prices)} sold)."] if prices else []
    bids: dict[str, list[float]] = {}
    for row in facts["results"]:
        for name, bid in row["highest_bids"].items():
            bids.setdefault(name, []).append(float(bid))
    told += [f"{name} bid {fmean(one):.2f} on average ({len(one)} bids)." for name, one in list(bids.items())[:8]]
    return {
        "reasons": "I summed up what was shown.",
        "learnings": told or ["Nothing was shown, so nothing was learned."],
    }
