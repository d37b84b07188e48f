"""How the beauty contest is played: by the built-in model, from the facts of a prompt alone, and by a rational policy.

The model reasons `level` steps ahead of what the others will pick, and so do the policies of a level.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import dropwhile, takewhile
from random import Random
from statistics import fmean

from harbor._config.auction import Simulated
from harbor._core.acts import Acted
from harbor._core.amounts import NUMBER_STEP
from harbor._core.asks import Ask, Bid
from harbor._core.money import CENT
from harbor._games.beauty.rules import BeautyOpened, PrizeAwarded
from harbor._games.game import Facts, Seen, Values
from harbor._games.reply import bid_of
from harbor._games.sessions import facts as session
from harbor._games.sessions.session import RunOpened
from harbor._games.types_of_play import expected_bids, own_multiple

PLAN = "Think one step further than the others seem to."


def standing(name: str, seen: Seen) -> Facts:
    """Tell how the session stands, with the range of numbers and the fraction of their mean."""
    opened = next(event for event in seen if isinstance(event, BeautyOpened))
    return {**session.standing(name, seen), "bound": opened.bound, "fraction": str(opened.fraction)}


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Answer best to what the others are expected to pick, or reason some steps from the middle of the range."""
    fraction = float(Fraction(facts["fraction"]))
    if facts.get("rivals_are_rational") and fraction < 1:
        return bid_of(0.0, "Rational players all pick 0, so 0 is best")
    count = len(facts["players"])
    if (times := own_multiple(facts)) is not None:
        return bid_of(times * reference_in(facts), f"{times:.4f} times where the contest stands is my number")
    if expected := expected_bids(facts):
        number, steps = fmean(expected.values()), 1
    else:
        number, steps = float(facts["bound"]) / 2, settings.level
    for _ in range(steps):
        number = answer_best(number, count, fraction)
    steps_said = "1 step" if steps == 1 else f"{steps} steps"
    reasons = f"Thinking {steps_said} ahead of what the others will pick, {number:.4f} is my best answer."
    return {"reasons": reasons, "action": "bid", "amount": round(number, 4)}


def reference_in(facts: Facts) -> float:
    """Return the number from which players think ahead, as a prompt tells it."""
    shown = [picked for run in facts["past"][-1:] for picked in run["actions"].values() if picked is not None]
    return fmean(map(float, shown)) if shown else float(facts["bound"]) / 2


def answer_best(others: float, count: int, fraction: float) -> float:
    """Give the number that hits the target among `count` players when the others pick `others` on average."""
    return fraction * (count - 1) * others / (count - fraction) if count > fraction else 0.0


def forecast(rival: str, facts: Facts, settings: Simulated) -> float:
    """Expect that a rival thinks some steps ahead of what it picked last, or of the middle of the range.

    A rational one picks 0.
    """
    if facts.get("rivals_are_rational") and Fraction(facts["fraction"]) < 1:
        return 0.0
    past = [run["actions"].get(rival) for run in facts["past"] if run["actions"].get(rival) is not None]
    last = float(past[-1]) if past else float(facts["bound"]) / 2
    return float(last * float(Fraction(facts["fraction"])) ** (settings.level - 1))


def reference(name: str, seen: Seen, item: str, bidder: str) -> Facts:  # noqa: ARG001
    """Tell from which number players think ahead in a run: the mean of the run before, or the middle of the range."""
    opened = next(event for event in seen if isinstance(event, BeautyOpened))
    before = list(takewhile(lambda event: getattr(event, "item", "") != item, seen))
    mean = _reference(before, opened)
    return {"mean": round(mean, 4), "scatter": round(mean / 5, 4)}


def rational(ask: Ask, seen: Seen) -> Bid:  # noqa: ARG001
    """Pick 0, the equilibrium."""
    return Bid(ask.minimum)


def level(steps: int, ask: Ask, seen: Seen, chance: Random) -> Bid:
    """Pick at random around where the contest stands, or answer best to players who think one step less.

    It stands at the mean of the last run that was shown, and at the middle of the range before.
    Source: Nagel 1995 (steps from the mean of the period before); Stahl & Wilson 1995 (level 0 is uniform).
    """
    opened = next(event for event in seen if isinstance(event, BeautyOpened))
    number, bound = _reference(seen, opened), float(opened.bound)
    if not steps:
        reach = min(number, bound - number)
        number = chance.uniform(number - reach, number + reach)
    for _ in range(steps):
        number = answer_best(number, len(opened.bidders), float(opened.fraction))
    return Bid(min(Decimal(number).quantize(CENT if bound >= 1 else NUMBER_STEP), ask.maximum))


def _reference(seen: Seen, opened: BeautyOpened) -> float:
    """Return the number from which players think ahead."""
    shown = dropwhile(lambda event: not isinstance(event, PrizeAwarded), reversed(seen))
    acts = takewhile(lambda event: not isinstance(event, RunOpened), shown)
    picked = [float(event.act.amount) for event in acts if isinstance(event, Acted) and isinstance(event.act, Bid)]
    return fmean(picked) if picked else float(opened.bound) / 2
