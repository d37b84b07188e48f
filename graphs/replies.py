"""What a bidder's model must reply: the shapes that a structured reply is validated against."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from harbor.words import scrub

LONGEST_TEXT = 4_000
"""Reasons and plans beyond this many characters are cut."""


def _plain(value: Any) -> Any:
    """Take "$1,000" for 1000 and "Bid" for "bid": models write them so."""
    return value.strip().removeprefix("$").replace(",", "").lower() if isinstance(value, str) else value


Name = Annotated[str, AfterValidator(scrub)]
Text = Annotated[str, AfterValidator(lambda text: scrub(text)[:LONGEST_TEXT])]
Dollars = Annotated[Decimal, BeforeValidator(_plain), Field(ge=-(10**15), le=10**15)]


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


def covers(plan: Plan, items: Iterable[str]) -> str:
    """Say what is wrong with the items of a plan; empty if it names each once and no other."""
    named, wanted = [priority.item for priority in plan.priorities], list(items)
    missing = [item for item in wanted if item not in named]
    strange = [item for item in named if item not in wanted]
    twice = sorted({item for item in named if named.count(item) > 1})
    complaints = [
        f"{word}: {', '.join(map(repr, names))}"
        for word, names in (("missing items", missing), ("unknown items", strange), ("items named twice", twice))
        if names
    ]
    return "; ".join(complaints)


def complete(reply: BidReply) -> str:
    """Say what is missing from a decision; empty if nothing is."""
    return "a bid needs an amount" if reply.action == "bid" and reply.amount is None else ""
