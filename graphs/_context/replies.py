"""What a bidder's model must reply: the shapes that a structured reply is validated against."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, create_model

from harbor._core.parsing import scrub
from harbor._core.thoughts import StrategicAction

Reply = TypeVar("Reply", bound=BaseModel)
MOST_LEARNINGS = 10
LONGEST_LEARNING = 300
LONGEST_TEXT = 4_000
"""Reasons and plans beyond this many characters are cut."""


def _plain(value: Any) -> Any:
    """Take "$1,000" for 1000 and "Bid" for "bid": models write them so."""
    return value.strip().removeprefix("$").replace(",", "").lower() if isinstance(value, str) else value


def _letter(value: Any) -> Any:
    """Take "a", " B" and "C raise" for their letters."""
    words = value.split(maxsplit=1) if isinstance(value, str) else []
    return words[0].rstrip(".:)").upper() if words else value


Learning = Annotated[str, AfterValidator(lambda text: " ".join(scrub(text).split())[:LONGEST_LEARNING])]
Name = Annotated[str, AfterValidator(scrub)]
Text = Annotated[str, AfterValidator(lambda text: scrub(text)[:LONGEST_TEXT])]
Dollars = Annotated[Decimal, BeforeValidator(_plain), Field(ge=-(10**15), le=10**15)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Priority(BaseModel):
    """How much an item matters: 1 give up if need be, 2 bid if the budget allows, 3 top."""

    item: Name
    priority: int = Field(ge=1, le=3)


class Plan(BaseModel):
    """A plan for the items still to come."""

    reasons: Text
    plan: Text
    priorities: list[Priority]


class BidReply(BaseModel):
    """A bid of an amount, or a withdrawal."""

    reasons: Text
    action: Annotated[Literal["bid", "withdraw"], BeforeValidator(_plain)]
    amount: Dollars | None = None


class ProfitBelief(BaseModel):
    """One bidder's total profit."""

    bidder: Name
    profit: Dollars


class WinBelief(BaseModel):
    """One item won, and its price."""

    bidder: Name
    item: Name
    price: Dollars


class BeliefReply(BaseModel):
    """The state of the sale."""

    budget: Dollars
    profits: list[ProfitBelief] = []
    wins: list[WinBelief] = []


class Weight(BaseModel):
    """How well a persona explains a bidder: from -1, not at all, over 0, unknown, to 1, entirely."""

    persona: Name
    weight: Finite


class ProfileReply(BaseModel):
    """A bidder's profile over the personas of the catalog."""

    reasons: Text
    weights: list[Weight]


class PictureReply(BaseModel):
    """How one rival profiles me."""

    rival: Name
    weights: list[Weight]


class MirrorReply(BaseModel):
    """How each rival probably profiles me."""

    reasons: Text
    pictures: list[PictureReply]


class RivalPrediction(BaseModel):
    """How much a rival wants the item, from 0 to 1, up to what price, and how much it expects me to want it."""

    rival: Name
    interest: float = Field(ge=0, le=1)
    limit: Annotated[Dollars, Field(ge=0)]
    expects_me: float | None = Field(None, ge=0, le=1)


class PredictReply(BaseModel):
    """What to expect of each rival on the coming item."""

    reasons: Text
    predictions: list[RivalPrediction]


class StrategyReply(BaseModel):
    """One of the six strategic actions."""

    reasons: Text
    strategy: Annotated[StrategicAction, BeforeValidator(_letter)]


class FusedReply(StrategyReply, BidReply):
    """A strategic action, and the bid or withdrawal that follows from it."""


class ContestPlan(BaseModel):
    """A plan for a game of days or runs."""

    reasons: Text
    plan: Text


class Expectation(BaseModel):
    """What a rival will bid next: dollars, or the number it picks."""

    rival: Name
    bid: Annotated[Dollars, Field(ge=0)]


class ExpectReply(BaseModel):
    """What to expect of each rival next."""

    reasons: Text
    expected: list[Expectation]


class LearnReply(BaseModel):
    """The learnings that a bidder takes from all auctions so far."""

    reasons: Text
    learnings: Annotated[list[Learning], Field(min_length=1, max_length=MOST_LEARNINGS)]


@cache
def without_reasons(kind: type[Reply]) -> type[Reply]:
    """Give the shape of the same reply with reasons that may be left out."""
    return create_model(f"{kind.__name__}WithoutReasons", __base__=kind, __doc__=kind.__doc__, reasons=(Text, ""))


def names_each(named: Iterable[str], wanted: Iterable[str]) -> str:
    """Say what is wrong with a list of names; empty if it has each wanted one once and no other."""
    return _mismatch("names", list(named), list(wanted))


def covers(plan: Plan, items: Iterable[str]) -> str:
    """Say what is wrong with the items of a plan; empty if it names each once and no other."""
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


def complete(reply: BidReply) -> str:
    """Say what is missing from a decision; empty if nothing is."""
    return "a bid needs an amount" if reply.action == "bid" and reply.amount is None else ""
