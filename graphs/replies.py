"""What a bidder's model must reply: the shapes that a structured reply is validated against."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from harbor.words import scrub

Name = Annotated[str, AfterValidator(scrub)]
Text = Annotated[str, Field(max_length=4_000), AfterValidator(scrub)]
Dollars = Annotated[Decimal, Field(ge=-(10**15), le=10**15)]


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
    action: Literal["bid", "withdraw"]
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
