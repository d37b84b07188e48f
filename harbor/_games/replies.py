"""Models of the replies of a bidder's model, and facts for its prompts about its earlier answers.

A structured reply is validated against its model. The facts are common to all games: the form of the answer, the
earlier answers, and the knowledge of rivals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, create_model

from harbor._config.thinking import MindSettings
from harbor._core.asking.asks import Ask, Bid, Space, Withdraw
from harbor._core.asking.decisions import MOST_DOLLARS, Amount, BidReply, Claimed, Name, Text, bounded
from harbor._core.basics.actions import scrub
from harbor._core.log.thoughts import Decided, DecidedInWords, StrategicAction, Strategized
from harbor._core.prompts.prompts import as_json
from harbor._games.bidder_view import View

Reply = TypeVar("Reply", bound=BaseModel)
MOST_LEARNINGS = 10
"""Greatest number of learnings in a reply."""
LONGEST_LEARNING = 300
"""Characters after which a learning is cut off."""


def _letter(value: Any) -> Any:
    """Return the letter of a choice written as "a", " B" or "C raise"."""
    words = value.split(maxsplit=1) if isinstance(value, str) else []
    return words[0].rstrip(".:)").upper() if words else value


Learning = Annotated[str, AfterValidator(lambda text: " ".join(scrub(text).split())[:LONGEST_LEARNING])]
Dollars = Annotated[Claimed, bounded(-MOST_DOLLARS, MOST_DOLLARS)]


class Priority(BaseModel):
    """The priority of one item: 3 top, 2 if the budget allows, 1 give up if need be."""

    item: Name
    priority: int = Field(ge=1, le=3)


class Plan(BaseModel):
    """A plan for the items still to come."""

    reasons: Text
    plan: Text
    priorities: list[Priority]


class ProfitBelief(BaseModel):
    """The total profit of one bidder; negative for a loss."""

    bidder: Name
    profit: Dollars


class WinBelief(BaseModel):
    """One item that was won, and its price."""

    bidder: Name
    item: Name
    price: Amount


class BeliefReply(BaseModel):
    """The state of the auction so far."""

    reasons: Text = ""
    budget: Dollars = Field(description="Your own remaining budget.")
    profits: list[ProfitBelief] = []
    wins: list[WinBelief] = []


class Weight(BaseModel):
    """How well a persona explains a bidder: from -1 (certainly not) over 0 (unknown) to 1 (certainly)."""

    persona: Name
    weight: Annotated[float, Field(allow_inf_nan=False), bounded(-1, 1)]


class ProfileReply(BaseModel):
    """The profile of one bidder: one weight per persona of the catalog."""

    reasons: Text
    weights: list[Weight]


class MirroredProfile(BaseModel):
    """How one rival probably profiles you: one weight per persona of the catalog."""

    rival: Name
    weights: list[Weight]


class Share(BaseModel):
    """How likely a persona is, in percent: from 0 (certainly not) to 100 (certainly)."""

    persona: Name
    share: Annotated[float, Field(allow_inf_nan=False), bounded(0, 100)]


class SharesReply(BaseModel):
    """The profile of one bidder: shares that add up to 100; a persona that is left out has none."""

    reasons: Text
    shares: list[Share]


class MirroredShares(BaseModel):
    """How one rival probably profiles you: shares that add up to 100; a persona that is left out has none."""

    rival: Name
    shares: list[Share]


class MirrorSharesReply(BaseModel):
    """How each rival probably profiles you."""

    reasons: Text
    profiles: list[MirroredShares]


class MirrorReply(BaseModel):
    """How each rival probably profiles you."""

    reasons: Text
    profiles: list[MirroredProfile]


class RivalForecast(BaseModel):
    """How much a rival wants the item, up to what price it goes, and how much it expects you to want the item."""

    rival: Name
    interest: float = Field(ge=0, le=1)
    limit: Annotated[Amount, Field(ge=0)]
    expected_interest_of_yours: float | None = Field(None, ge=0, le=1)


class PredictReply(BaseModel):
    """One forecast per rival for the coming item."""

    reasons: Text
    forecasts: list[RivalForecast]


class JudgedRival(BaseModel):
    """What you make of one rival: how likely each persona is, in percent, and what it will do next.

    The shares of it, and those that it gives you, add up to 100 each; a persona that is left out has none.
    """

    rival: Name
    shares: list[Share]
    shares_of_you: list[Share] | None = None
    interest: float | None = Field(None, ge=0, le=1)
    limit: Annotated[Amount, Field(ge=0)] | None = None
    expected_interest_of_yours: float | None = Field(None, ge=0, le=1)


class RivalsReply(BaseModel):
    """What you make of each rival."""

    reasons: Text
    rivals: list[JudgedRival]


OF_MIRRORS = ("shares_of_you",)
OF_FORECASTS = ("interest", "limit")


@cache
def rivals_reply(*, second: bool, predicts: bool) -> type[BaseModel]:
    """Return the Pydantic model of a reply about all rivals; it has only the fields that the bidder uses."""
    unused = {*(() if second else OF_MIRRORS), *(() if predicts else OF_FORECASTS)}
    unused |= set() if second and predicts else {"expected_interest_of_yours"}
    fields: Any = {name: (one.annotation, one) for name, one in JudgedRival.model_fields.items() if name not in unused}
    judged: Any = create_model("JudgedRival", __doc__=JudgedRival.__doc__, **fields)
    return create_model("RivalsReply", __base__=RivalsReply, __doc__=RivalsReply.__doc__, rivals=(list[judged], ...))


class StrategyReply(BaseModel):
    """One of the six strategic actions."""

    reasons: Text
    strategy: Annotated[StrategicAction, BeforeValidator(_letter)]


class FusedReply(BidReply, StrategyReply):  # in this order: pydantic puts the fields of the last base first
    """A strategic action, and the bid or withdrawal that follows from it."""


class LimitReply(BaseModel):
    """How far you go on the item."""

    reasons: Text
    limit: Annotated[Amount, Field(ge=0)] | None = Field(
        description="The highest bid in dollars that you would still make; null if you would not bid at all."
    )


class ContestPlan(BaseModel):
    """A plan for a game of days or runs."""

    reasons: Text
    plan: Text


class BidForecast(BaseModel):
    """What a rival will bid next: dollars, or the number it picks."""

    rival: Name
    bid: Annotated[Amount, Field(ge=0)]


class ForecastReply(BaseModel):
    """One forecast per rival."""

    reasons: Text
    forecasts: list[BidForecast]


class LearnReply(BaseModel):
    """The whole list of what you have learned from all auctions so far."""

    reasons: Text
    learnings: Annotated[list[Learning], Field(min_length=1, max_length=MOST_LEARNINGS)]


def names_each(named: Iterable[str], wanted: Iterable[str]) -> str:
    """Return the error in a list of names; empty if it has each wanted name once and no other."""
    return _mismatch("names", list(named), list(wanted))


def covers(plan: Plan, items: Iterable[str]) -> str:
    """Return the error in the items of a plan; empty if it names each item once and no other."""
    return _mismatch("items", [priority.item for priority in plan.priorities], list(items))


def _mismatch(kind: str, named: list[str], wanted: list[str]) -> str:
    missing = [name for name in wanted if name not in named]
    strange = [name for name in named if name not in wanted]
    twice = sorted({name for name in named if named.count(name) > 1})
    complaints = [
        f"{word}: {', '.join(map(repr, names))}"
        for word, names in (
            (f"missing {kind}", missing),
            (f"unknown {kind}", strange),
            (f"{kind} named twice", twice),
        )
        if names
    ]
    return "; ".join(complaints)


Row = dict[str, Any]


def refusal(reason: str, attempt: int) -> Row:
    """Return the reason why the last attempt failed, if it did, with the number of this one, so that prompts differ."""
    return {"refused": reason, "attempt": attempt} if reason and attempt > 1 else {}


def in_words(ask: Ask, mind: MindSettings) -> Row:
    """Return the instruction for an answer in words, if the bidder answers in words."""
    return {"in_words": ask.space.in_words} if mind.reply == "text" else {}


def chosen(strategy: Row | None) -> Row:
    """Return the strategic action for a call and its reasons, from the note of the node; empty if there is none."""
    return {"strategy": strategy["action"], "strategy_reasons": strategy["reasons"]} if strategy else {}


def strategy_note(event: Strategized) -> Row:
    """Return the note of a strategic action, with its reasons."""
    return {"action": event.action, "reasons": event.reasons}


def answered(
    space: Space, decided: Decided | DecidedInWords, mind: MindSettings, strategy: Strategized | None = None
) -> str:
    """Return a decision in the form of the bidder's reply: in words, or as JSON."""
    if isinstance(decided, DecidedInWords):
        return "\n".join(filter(None, (decided.reasons, decided.answer)))
    answer = Withdraw() if decided.amount is None else Bid(decided.amount)
    if mind.reply == "text":
        return "\n".join(filter(None, (decided.reasons, space.say(answer))))
    action: Row = {"action": "withdraw" if decided.amount is None else "bid", "amount": decided.amount}
    own = {"strategy": strategy.action} if strategy and mind.strategy == "fused" else {}
    return as_json({"reasons": decided.reasons, **own, **action})


def recalled(view: View) -> Row:
    """Return the recalled memories, if there are any."""
    memories = view.notes.get("recall")
    return {"memories": memories} if memories else {}


def forecasts(view: View) -> list[Row]:
    """Return the forecasts of each rival for the current item; empty once it is over."""
    predicted = view.notes.get("predict")
    return predicted["rivals"] if predicted and not view.place(predicted["item"]) else []


def profiles(view: View) -> Row:
    """Return the catalog and the profiles of the rivals; empty as long as there is no profile."""
    return {"catalog": view.catalog, "rivals": profiled(view)} if view.profiles else {}


def profiled(view: View) -> list[Row]:
    """Return, for each rival, its profile and its likely profile of this bidder."""
    rows, profiles, mirrors = [], view.profiles, view.mirrors
    for rival in view.rivals:
        row: Row = {"rival": rival, "profile": profiles.get(rival, {})}
        if rival in mirrors:
            row["profile_of_you"] = mirrors[rival]
        rows.append(row)
    return rows


def weights_over(catalog: Iterable[str], old: Mapping[str, float]) -> dict[str, float]:
    """Return a weight for each type of the catalog; 0 if there is none yet."""
    return {one: old.get(one, 0.0) for one in catalog}
