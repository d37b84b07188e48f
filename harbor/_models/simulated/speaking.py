"""What the built-in model works out where it is not told, and how it speaks where it is asked for words."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from statistics import fmean

from harbor._config.auction import Simulated
from harbor._config.own_replies import OwnReply
from harbor._config.protocol import BUNDLES
from harbor._core.decisions import BidReply, BundleReply, ChoiceReply, Decision, PriceReply, UnitsReply, WordsReply
from harbor._core.money import as_number, to_cents
from harbor._games.game import Facts, Game, Values
from harbor._games.types_of_play import expected_bids


def worked_out(facts: Facts) -> Facts:
    """Give the facts with the bounds of a bid, where they follow from others."""
    if "your_wins" in facts and "budget" not in facts:
        paid = sum(float(win["price"]) for win in facts["your_wins"])
        facts = {**facts, "budget": _dollars(float(facts["initial_budget"]) - paid)}
    if "minimum" in facts:
        return facts
    if "increment" in facts:
        highest = facts["highest_bid"]
        least = facts["starting_price"] if highest is None else _dollars(float(highest) + float(facts["increment"]))
        return {**facts, "minimum": least}
    if "residents" in facts:
        me = next((one for one in facts["residents"] if one["name"] == facts["you"]), None)
        most = float(me["balance_before_salary"]) + float(me["salary"]) if me else 0.0
        return {**facts, "minimum": 0, "maximum": most}
    most = facts.get("bound", facts.get("assets"))
    return facts if most is None else {**facts, "minimum": 0, "maximum": most}


def _dollars(amount: float) -> int | float:
    """Give dollars as JSON writes them."""
    return as_number(to_cents(Decimal(amount)))


def spoken(values: Values, how: str) -> str:
    """Say a reply in words: the reasons, and then the sentence that answers."""
    answer = _kind(values).model_validate({"reasons": "", **values}).taken().words
    if "I choose" in how:
        answer = answer.replace("I bid $", "I choose ")
    return "\n".join(filter(None, (str(values.get("reasons", "")), answer)))


def in_own_form(decided: Values, facts: Facts, game: Game, settings: Simulated) -> Values:
    """Give a decision in the protocol's own form that the facts ask for; without a key for reasons, they come first.

    Raises:
        ValueError: no protocol has such a form.
    """
    form = _form_of(tuple(facts["answer_keys"]), game)
    filled = form.filled(decided, facts, partial(_expected, facts, game, settings))
    return filled if "reason" in filled else {"reasons": decided["reasons"], **filled}


def _form_of(keys: tuple[str, ...], game: Game) -> type[OwnReply]:
    of_game = (bundle.replies[game.name] for bundle in BUNDLES.values() if game.name in bundle.replies)
    found = next((form for forms in of_game for form in forms.all if form.all_keys() == keys), None)
    if found is None:
        raise ValueError(f"the simulated model knows no form of answer in {game.name!r} with the keys {keys}")
    return found


def _expected(facts: Facts, game: Game, settings: Simulated) -> float | None:
    """Return what rivals are expected to do in the mean: as was forecast before, or else as the game forecasts it."""
    forecast, bids = game.played.forecast, [*expected_bids(facts).values()]
    if forecast and not bids:
        bids = [forecast(rival, facts, settings) for rival in facts["players"] if rival != facts["you"]]
    return round(fmean(bids), 4) if bids else None


def _kind(values: Values) -> type[Decision]:
    kinds: dict[str, type[Decision]] = {
        "items": BundleReply,
        "option": ChoiceReply,
        "units": UnitsReply,
        "words": WordsReply,
    }
    found = next((kind for name, kind in kinds.items() if name in values), None)
    return found or (PriceReply if values["action"] in ("accept", "wait") else BidReply)
