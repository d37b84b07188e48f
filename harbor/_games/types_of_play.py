"""Types of rivals for games without listings, and the built-in model's reasoning about them.

The text of a type gives its bid as a multiple of a yardstick (the worth of the item or its money), or its level of
thought. The built-in model reads that in the text, like everything else in the facts of a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, hypot, prod
from random import Random
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

from harbor._config.auction import Persona, Simulated
from harbor._core.basics.numbers import counted
from harbor._games.replies import MOST_LEARNINGS
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
"""The types of bidders in auctions where each bidder has a worth of the item."""
OF_MEANS = (
    Persona(id="sparing", name="sparing", text="It bids little of what it can spend: about 0.3 times that."),
    Persona(id="steady", name="steady", text="It bids a part of what it can spend: about 0.6 times that."),
    Persona(id="daring", name="daring", text="It bids nearly all that it can spend: about 0.9 times that."),
)
"""The types of bidders in games where bids are limited by money alone."""
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
_HABIT = re.compile(r"In (.+?), (.+) bid (\d{1,15}\.\d{2}) on average \((\d{1,6}) bids?\)\.")
ENOUGH = 2
"""Weight of a rival's type in a forecast, in number of past bids."""
_STEPS = re.compile(r"thinks (\d) steps? ahead")
SCATTER = 0.1
"""Standard deviation of a bid around the bid of its type, as a share of that bid, as types are rough."""
LEAST = 0.05
"""Least multiple for the scatter of a type, so that types with bids near 0 scatter too."""
SURPRISE = 0.02
"""Probability that a rival bids any amount, independent of its type."""


def multiple(text: str, facts: Facts) -> float | None:
    """Return a type's bid as a multiple of its yardstick; None if its text does not say so."""
    if found := _TIMES.search(text):
        return float(found[1])
    if found := _STEPS.search(text):
        return float(Fraction(facts.get("fraction", 1))) ** int(found[1])
    return None


def own_multiple(facts: Facts) -> float | None:
    """Return the weighted mean of the multiples that the player's personas tell; None if none does."""
    known = [(one["weight"], multiple(one["text"], facts)) for one in facts.get("personas", ())]
    told = [(weight, times) for weight, times in known if times is not None]
    return sum(weight * times for weight, times in told) / sum(weight for weight, _ in told) if told else None


# ---------------------------------------------------------------- profile, mirror


def profile(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Infer the profile of a rival by Bayes' rule, from all its observed acts."""
    weights = weighed(traits.from_percent(facts["shares_so_far"], facts["catalog"]), facts)
    best = traits.foremost(weights)
    return {"reasons": f"It is most like {best}." if best else "I know nothing of it yet.", "shares": listed(weights)}


def mirror(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Infer, by Bayes' rule, each rival's likely profile of this bidder."""
    types = facts["catalog"]
    pictures = [
        {"rival": known["rival"], "shares": listed(weighed(traits.from_percent(known["shares_so_far"], types), facts))}
        for known in facts["profiles_of_you"]
    ]
    return {"reasons": "They saw what I did, as I saw what they did.", "profiles": pictures}


def weighed(weights: Mapping[str, float], facts: Facts) -> dict[str, float]:
    """Return the weights of types by a bidder's observed bids; unchanged if nothing was observed.

    A yardstick may have the same error in all parts, and the bids of the others are evidence of it too. So each
    possible error is weighted by its likelihood given the bids of all.
    """
    multiples = {one: multiple(text, facts) for one, text in facts.get("catalog", {}).items()}
    seen = _seen(facts)
    mine = seen.pop(facts["bidder"], [])
    seen.pop(facts["you"], None)  # a bidder learns nothing from its own bids
    if not mine or None in multiples.values():
        return dict(weights)
    times = {one: value or 0.0 for one, value in multiples.items()}
    likely = dict.fromkeys(times, 0.0)
    for off, chance in _errors(mine[-1].error):
        for other in seen.values():
            chance *= fmean(_likelihood(other, value * off) for value in times.values())
        for one, value in times.items():
            likely[one] += chance * _likelihood(mine, value * off)
    total = sum(likely.values())
    return traits.profile({one: chance / total for one, chance in likely.items()}) if total else dict(weights)


def _errors(error: float) -> list[tuple[float, float]]:
    """Return the possible error factors of a yardstick with their weights."""
    if not error:
        return [(1.0, 1.0)]
    steps = [place / 10 for place in range(-30, 31)]  # up to three deviations, in tenths of one
    return [(max(LEAST, 1 + step * error), exp(-(step**2) / 2)) for step in steps]


class Compared(NamedTuple):
    """A bid divided by its yardstick, with two standard deviations: in this part alone, and common to all parts.

    `at_least` says that the bidder may have gone higher.
    """

    times: float
    deviation: float
    error: float
    at_least: bool


def _seen(facts: Facts) -> dict[str, list[Compared]]:
    """Return, by bidder, its highest bid in each part over the yardstick."""
    found: dict[str, list[Compared]] = {}
    for record in facts["records"]:
        if not (worth := record.get("compared_with")):
            continue
        mean, most = max(float(worth["mean"]), 0.01), float(worth.get("most", "inf"))
        deviation, error = float(worth["scatter"]) / mean, float(worth.get("error", 0)) / mean
        highest = {act["bidder"]: float(act["amount"]) for act in record["acts"]}
        went_on = record["winners"] if record["rounds"] > 1 else ()
        for bidder, bid in highest.items():
            one = Compared(bid / mean, deviation, error, bidder in went_on or bid >= most)
            found.setdefault(bidder, []).append(one)
    return found


def _likelihood(seen: Sequence[Compared], times: float) -> float:
    """Return the likelihood of independent bids for a type."""
    return prod(_likely(one, NormalDist(times, max(times, LEAST) * hypot(one.deviation, SCATTER))) for one in seen)


def _likely(one: Compared, planned: NormalDist) -> float:
    """Return the density of a bid, or the probability of at least this bid, mixed with `SURPRISE`."""
    likely = 1 - planned.cdf(one.times) if one.at_least else planned.pdf(one.times)
    return SURPRISE + (1 - SURPRISE) * likely


def listed(weights: Mapping[str, float]) -> list[Values]:
    """Return the shares of a profile in percent, in the form of a reply."""
    return [{"persona": one, "share": share} for one, share in traits.in_percent(weights, weights).items()]


# ---------------------------------------------------------------- predict


def predict(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Forecast the bid of each rival from its type, its yardstick and its earlier bids."""
    return {
        "reasons": "I judge by what each rival seems to be like and by what it did before.",
        "forecasts": [_forecast(facts, one) for one in facts["rivals"]],
    }


def _forecast(facts: Facts, rival: Facts) -> Values:
    catalog = facts.get("catalog", {})
    weights = traits.from_percent(facts.get("profiles", {}).get(rival["rival"], {}), catalog)
    before = [float(row["amount"]) for row in rival["bid_before"]]
    times = {one: multiple(text, facts) for one, text in catalog.items()}
    known = {one: value for one, value in times.items() if value is not None}
    guesses = [(fmean(before), len(before))] if before else []
    guesses += [told for text in facts.get("memories") or () if (told := habit(text, facts["game"], rival["rival"]))]
    if "compared_with" in rival:
        shares = traits.shares(weights, known)
        typical = sum(shares[one] * value for one, value in known.items()) if known else 1.0
        guesses.append((typical * float(rival["compared_with"]["mean"]), ENOUGH))
    total = sum(count for _, count in guesses)
    limit = sum(amount * count for amount, count in guesses) / total if total else 0.0
    forecast = {"rival": rival["rival"], "interest": 0.5, "limit": round(max(0.0, limit), 2)}
    mine = facts.get("profiles_of_you", {}).get(rival["rival"])
    if mine is not None and known:
        shares = traits.shares(traits.from_percent(mine, known), known)
        forecast["expected_interest_of_yours"] = round(min(1.0, sum(shares[one] * known[one] for one in known) / 2), 2)
    return forecast


def habit(text: str, game: str, rival: str) -> tuple[float, int] | None:
    """Read a rival's mean bid in a game and the number of bids from a memory; None if it does not tell these."""
    found = _HABIT.fullmatch(text)
    return (float(found[3]), int(found[4])) if found and (found[1], found[2]) == (game, rival) else None


def expected_bids(facts: Facts) -> dict[str, float]:
    """Return the expected bid of each rival: from `predict`, or else from the plain forecasts."""
    if predicted := facts.get("interests"):
        return {row["rival"]: float(row["limit"]) for row in predicted["rivals"]}
    return {row["rival"]: float(row["bid"]) for row in facts.get("forecasts", ())}


# ---------------------------------------------------------------- strategize, learn


def strategize(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Choose to compete (C), or to hold back (E) if a rival is expected to bid more than the item is worth."""
    expected, worth = expected_bids(facts), facts.get("value", facts.get("maximum", facts.get("bound")))
    if worth is not None and expected and max(expected.values()) > float(worth):
        return {"reasons": "A rival will probably go further than that is worth to me.", "strategy": "E"}
    return {"reasons": "I can still gain by it.", "strategy": "C"}


def learn(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Return as sentences each bidder's mean highest bid over all games, and the mean price in this one."""
    found = filter(None, map(_HABIT.fullmatch, facts["learnings"]))
    known = {one[2]: (float(one[3]), int(one[4])) for one in found if one[1] == facts["game"]}
    bids: dict[str, list[float]] = {}
    for row in facts["results"]:
        for name, bid in row["highest_bids"].items():
            bids.setdefault(name, []).append(float(bid))
    for name, made in bids.items():
        mean, count = known.get(name, (0.0, 0))
        known[name] = (mean * count + sum(made)) / (count + len(made)), count + len(made)
    told = [
        f"In {facts['game']}, {name} bid {mean:.2f} on average ({counted(count, 'bid')})."
        for name, (mean, count) in known.items()
    ]
    prices = [sum(map(float, row["payments"].values())) for row in facts["results"] if row["payments"]]
    paid = [f"In the last game, what was sold cost {fmean(prices):.2f} on average."] if prices else []
    learnings = [*told[: MOST_LEARNINGS - 1], *paid] or ["Nothing was shown, so nothing was learned."]
    return {"reasons": "I summed up what was shown.", "learnings": learnings}
